/** After the run: compares each channel with its expected content, group by group (delivery §3, §5, §11). */
import { commonmark } from '../../actors/messages/formats/markdown.ts';
import type { Post } from '../../runtime/cli/bridge-reference/messenger.ts';
import type { Api, Json } from '../harness/api.ts';
import type { LifecycleEvent } from '../harness/consistency.ts';
import type { Channel } from './channel.ts';

/** The first button of each status; a resolved message has none. */
const FIRST_BUTTON: Readonly<Record<string, string | undefined>> = {
  firing: 'Ack',
  acknowledged: 'Unack',
  snoozed: 'Ack',
  resolved: undefined,
};
/** Lines that a preview does not know (delivery §9). */
const NOTE = /^(Posted again|Late message)/;

export interface Group {
  readonly group: Json;
  readonly timeline: readonly Json[];
  readonly deliveries: readonly Json[];
}

/** How a channel may treat a group. */
export interface Leniency {
  /** Messages are deleted, refused and dropped there: replies may be missing, and a message may be the second one. */
  readonly isRough: boolean;
}

export async function readGroup(api: Api, id: string): Promise<Group> {
  const [group, timeline, deliveries] = await Promise.all([
    api.get(`/alert-groups/${id}`),
    api.all(`/alert-groups/${id}/timeline?order=asc`),
    api.get(`/alert-groups/${id}/deliveries`),
  ]);
  return { group, timeline, deliveries: deliveries.items };
}

export function eventsOf({ group, timeline }: Group): LifecycleEvent[] {
  return timeline
    .filter(({ sequence }) => typeof sequence === 'number')
    .map(({ sequence, event }) => ({ group: group.id, sequence, event }));
}

/** Null: it stands as it should. Else what is wrong, in a sentence. */
export function channelFault(channel: Channel, read: Group, { isRough }: Leniency): string | null {
  const { group, deliveries } = read;
  const delivery = deliveries.find(({ destination }) => destination.id === channel.destinationId);
  if (!delivery) return 'there is no delivery';
  const { live, ever } = channel.rootsOf(group.id);
  if (isRough && delivery.state === 'deleted_in_messenger' && live.length === 0) return null;
  if (isRough && delivery.state === 'withheld' && ever === 0 && group.status === 'resolved') return null;
  if (isRough && delivery.state === 'not_delivered' && !hasChangedSince(read, channel)) return null;
  if (delivery.state !== 'delivered')
    return `${group.status}, ${live.length} of ${ever} there, its delivery is ${delivery.state}: ${delivery.error}`;
  if (delivery.possible_duplicate) return 'it may stand there twice, it says';
  if (live.length !== 1 || (!isRough && ever !== 1)) return `${live.length} messages stand there, of ${ever}`;
  const [root] = live;
  if (!root) return 'there is no message';
  return rootFault(root, group) ?? repliesFault(channel.repliesUnder(root.message_id), read, isRough);
}

/** Whether something happened after the last refusal: only that starts afresh what was refused for good (delivery §7.2). */
function hasChangedSince({ timeline }: Group, { destinationId }: Channel): boolean {
  const refused = timeline.findLastIndex(
    ({ delivery_event: event, destination }) =>
      event === 'not_delivered' && destination?.id === destinationId,
  );
  return refused === -1 || timeline.slice(refused).some(({ sequence }) => typeof sequence === 'number');
}

function rootFault({ heading, buttons, body }: Post, group: Json): string | null {
  if (heading?.status !== group.status) return `it shows ${heading?.status}, and is ${group.status}`;
  if (heading?.title !== `#${group.number} ${group.title}`) return `its title is ${heading?.title}`;
  const [first] = buttons;
  if (first?.text !== FIRST_BUTTON[group.status]) return `its first button is ${first?.text}`;
  const { firing_alert_count: firing, resolved_alert_count: resolved } = group;
  if (firing + resolved > 1 && !body.includes(`Alerts: ${firing} firing, ${resolved} resolved`))
    return `it does not show ${firing} firing and ${resolved} resolved Alerts: ${body}`;
  return null;
}

/** What a preview of the group shows, and the message does not, or the other way round. */
export async function previewFault(
  api: Api,
  channel: Channel,
  { group, deliveries }: Group,
): Promise<string | null> {
  const [root] = channel.rootsOf(group.id).live;
  const delivery = deliveries.find(({ destination }) => destination.id === channel.destinationId);
  if (!root || delivery?.state !== 'delivered') return null;
  const source = { kind: 'alert_group', alert_group_id: group.id };
  const { items } = await api.post(`/destinations/${channel.destinationId}/previews`, { source });
  const buttons = root.buttons.map(({ text }) => `[${text}]`).join(' ');
  const parts = root.body
    .split('\n\n')
    .map(withoutNotes)
    .filter((part) => part !== '');
  const title = `${root.heading?.emoji} ${commonmark.bold(commonmark.anchor(root.heading?.title ?? '', root.heading?.link?.url ?? ''))}`;
  const shown = [title, ...parts, ...(buttons === '' ? [] : [buttons])].join('\n\n');
  return shown === items[0].text ? null : `it shows\n${shown}\nand should show\n${items[0].text}`;
}

/** Lines of a part end with a backslash. */
function withoutNotes(part: string): string {
  const lines = part.split('\\\n');
  return lines.filter((line) => !NOTE.test(line)).join('\\\n');
}

/** Every event that is told in a Thread, in order and once. */
function repliesFault(said: readonly number[], read: Group, isRough: boolean): string | null {
  const told = toldIn(read);
  for (const [place, sequence] of said.entries()) {
    if (!told.may.has(sequence)) return `event ${sequence} is no reply`;
    if (sequence <= (said[place - 1] ?? 0)) return `replies stand as ${said.join(', ')}`;
  }
  const missing = [...told.must].filter((sequence) => !said.includes(sequence));
  if (isRough || missing.length === 0) return null;
  return `events ${missing.join(', ')} were not told; ${said.join(', ')} were`;
}

/** `must`: not those about Alerts that may have ended before they were told, which are left out when they are Quiet. */
function toldIn({ timeline }: Group) {
  const may = new Set<number>();
  const must = new Set<number>();
  let status = 'firing';
  for (const { event, sequence, loudness, to_status: to, actor } of timeline) {
    if (typeof sequence !== 'number') continue;
    status = to ?? status;
    const isTold =
      (event === 'alerts_added' && status !== 'snoozed') ||
      (event === 'reopened' && status !== 'snoozed') ||
      ((event === 'resolved' || event === 'unacknowledged') && actor.kind === 'system') ||
      event === 'takeover';
    if (!isTold) continue;
    may.add(sequence);
    if (event !== 'alerts_added' || loudness === 'loud') must.add(sequence);
  }
  return { may, must };
}
