/** Lists of one Alert Group: Alerts, Timeline, Notes, related groups, deliveries (api §12). */
import * as v from 'valibot';
import type { KeyedPage } from '../../../actors/alert-group/reading/readers.ts';
import type { GroupDelivery } from '../../../actors/destination/delivery/ports.ts';
import { formatInstant, formatInstantOrNull } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { DestinationRef, itemsOf, pageOf } from '../../schema/shapes.ts';
import { AlertState, DeliveryState, EntryKind } from '../../schema/words.ts';
import { alertBody, entryBody, noteBody, relatedBody } from './bodies.ts';
import { askGroup, blank } from './commands.ts';
import { AlertShape, NoteShape, RelatedShape, TimelineEntryShape } from './shapes.ts';
import { type AlertGroupOperationsDeps, GROUP_IDS, groupIdOf, isBlank, noteText, TAG } from './shared.ts';

export function pageOperations(deps: AlertGroupOperationsDeps): readonly Operation[] {
  const { reader } = deps;
  return [
    operation({
      id: 'listAlertGroupAlerts',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/alerts',
      tag: TAG,
      summary: 'List the Alerts of an Alert Group, firing ones first',
      description: 'Firing ones first, then by begin, the newest first. Empty after retention.',
      needs: 'alerts:read',
      ids: GROUP_IDS,
      query: v.object({
        ...pageQuery,
        state: d.described(v.optional(AlertState), 'Only Alerts in this state.'),
      }),
      answers: { 200: { description: 'A page of Alerts', schema: pageOf(AlertShape) } },
      handle: (call) =>
        pageAnswer(deps, call, {
          list: 'alert-group-alerts',
          filters: { state: call.query.state ?? null },
          read: (asked) => reader.alerts({ ...asked, state: call.query.state ?? null }),
          body: (alert) => alertBody(alert, call.directory),
        }),
    }),

    operation({
      id: 'listTimeline',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/timeline',
      tag: TAG,
      summary: 'Read the Timeline of an Alert Group, newest first by default',
      description: 'Status changes, Alerts, Notes, notices and deliveries in one list.',
      needs: 'alert-groups:read',
      ids: GROUP_IDS,
      query: v.object({
        ...pageQuery,
        kind: d.described(v.optional(v.array(EntryKind), []), 'Only entries of this kind.'),
        order: d.described(
          v.optional(v.picklist(['asc', 'desc']), 'desc'),
          '`asc`: the oldest first; `desc`: the newest first.',
        ),
      }),
      answers: { 200: { description: 'A page of Timeline entries', schema: pageOf(TimelineEntryShape) } },
      handle: (call) => {
        const { kind: kinds, order } = call.query;
        return pageAnswer(deps, call, {
          list: 'timeline',
          filters: { kinds, order },
          read: (asked) => reader.timeline({ ...asked, kinds, descending: order === 'desc' }),
          body: (entry) => entryBody(entry, call.directory),
        });
      },
    }),

    operation({
      id: 'listRelatedAlertGroups',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/related',
      tag: TAG,
      summary: 'List earlier Alert Groups of the same Route and key, newest first',
      description: 'What happened before with the same Route and Group key.',
      needs: 'alert-groups:read',
      ids: GROUP_IDS,
      query: v.object(pageQuery),
      answers: { 200: { description: 'A page of earlier Alert Groups', schema: pageOf(RelatedShape) } },
      handle: (call) =>
        pageAnswer(deps, call, {
          list: 'related',
          filters: {},
          read: (asked) => reader.related(asked),
          body: (group) => relatedBody(group, call.directory),
        }),
    }),
  ];
}

interface Asked {
  readonly groupId: PublicId;
  readonly after: readonly (string | number | null)[] | null;
  readonly limit: number;
}

interface PageReading<Item> {
  /** Name of the list, part of its cursors. */
  readonly list: string;
  readonly filters: Readonly<Record<string, unknown>>;
  read(asked: Asked): Promise<KeyedPage<Item>>;
  body(item: Item): unknown;
}

/** One page of something that belongs to an Alert Group; 404 without the group. */
async function pageAnswer<Item>(
  { reader }: Pick<AlertGroupOperationsDeps, 'reader'>,
  call: Call<{ readonly cursor?: string | undefined; readonly limit?: number | undefined }>,
  { list, filters, read, body }: PageReading<Item>,
): Promise<Answer> {
  const groupId = groupIdOf(call);
  const { cursor, limit = DEFAULT_LIMIT } = call.query;
  const bound = { groupId, ...filters };
  const after = cursor === undefined ? null : decodeCursor(list, bound, cursor);
  if (cursor !== undefined && after === null) return INVALID_CURSOR;
  if (!(await reader.read(groupId))) return notFound();
  const page = await read({ groupId, after, limit });
  const next = page.next && encodeCursor(list, bound, page.next);
  return { status: 200, body: { items: page.items.map(body), next_cursor: next } };
}

/** Notes on an Alert Group (alert-groups §6.5, api §12). */
export function noteOperations(deps: AlertGroupOperationsDeps): readonly Operation[] {
  const { reader } = deps;
  return [
    operation({
      id: 'listNotes',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/notes',
      tag: TAG,
      summary: 'List the Notes of an Alert Group, newest first',
      description: 'Notes stay when retention removes Alerts and Timeline.',
      needs: 'alert-groups:read',
      ids: GROUP_IDS,
      query: v.object(pageQuery),
      answers: { 200: { description: 'A page of Notes', schema: pageOf(NoteShape) } },
      handle: (call) =>
        pageAnswer(deps, call, {
          list: 'notes',
          filters: {},
          read: (asked) => reader.notes(asked),
          body: (note) => noteBody(note, call.directory),
        }),
    }),

    operation({
      id: 'addNote',
      method: 'POST',
      path: '/alert-groups/{alert_group_id}/notes',
      tag: TAG,
      summary: 'Add a Note to an Alert Group',
      description: 'Notes cannot be changed or removed. White space at both ends is cut.',
      needs: 'alert-groups:note',
      ids: GROUP_IDS,
      body: d.named(
        'NoteInput',
        v.object({ body: d.described(noteText, 'The text, 1 to 4,000 characters.') }),
        'A Note to add.',
      ),
      validatesFirst: true,
      command: 'add_note',
      answers: { 201: { description: 'The Note', schema: NoteShape } },
      async handle(call) {
        const id = groupIdOf(call);
        const { body } = call.body;
        if (isBlank(body)) return (await reader.read(id)) ? blank('/body') : notFound();
        const outcome = await askGroup(deps, call, id, { name: 'add_note', body });
        if (outcome.outcome !== 'done' || !outcome.noteId) return notFound();
        const note = await reader.note(id, outcome.noteId);
        return note ? { status: 201, body: noteBody(note, call.directory) } : notFound();
      },
    }),
  ];
}

/** Where an Alert Group was delivered (delivery §11, api §12). */
export interface DeliveryOperationsDeps {
  /** One item a Destination, by name; null when there is no such Alert Group. */
  deliveries(groupId: PublicId): Promise<readonly GroupDelivery[] | null>;
}

const DeliveryShape = d.named(
  'Delivery',
  v.object({
    destination: DestinationRef,
    state: DeliveryState,
    machine: d.described(
      v.object({
        root: d.described(v.string(), 'State of the Root message, or of the events of a webhook.'),
        thread: d.described(v.string(), 'State of the Thread.'),
      }),
      'Where the statechart `delivery` stands.',
    ),
    thread_not_attached: d.flag('Whether the Thread could not be attached.'),
    possible_duplicate: d.flag('Whether the message may be there twice: an answer was lost.'),
    message_url: v.nullable(d.url('The message in the messenger; null without one.')),
    error: d.textOrNull('What was answered last, masked; null without an error.'),
    updated_at: d.time('When this last changed.'),
    posted_at: v.nullable(d.time('When the present message was posted; null without one.')),
    edited_at: v.nullable(d.time('When it was edited last; null before the first edit.')),
    next: d.described(
      v.nullable(
        v.object({
          kind: d.described(
            v.picklist(['publish', 'edit', 'reply']),
            '`publish`: the message; `edit`: a change of it; `reply`: one in its Thread.',
          ),
          at: d.time('When it is due; one that is overdue waits for its turn.'),
        }),
      ),
      'What is sent next; null when nothing is, while it is being sent, and while the Destination is Broken.',
    ),
  }),
  'How an Alert Group is delivered to one Destination.',
);

export function deliveryOperations({ deliveries }: DeliveryOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'listAlertGroupDeliveries',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/deliveries',
      tag: 'Alert Groups',
      summary: 'List where an Alert Group was delivered, by Destination name',
      description: 'For each Destination, how far the newest state is, and what is in its way.',
      needs: 'alert-groups:read',
      ids: { alert_group_id: 'AG' },
      answers: { 200: { description: 'One item a Destination', schema: itemsOf(DeliveryShape) } },
      async handle(call) {
        const found = await deliveries(call.params.alert_group_id as PublicId);
        return found ? { status: 200, body: { items: found.map(deliveryBody) } } : notFound();
      },
    }),
  ];
}

function deliveryBody(item: GroupDelivery) {
  const { destination, state, error, updatedAt, next } = item;
  const { id, name, type, brokenSince, brokenReason } = destination;
  return {
    destination: {
      id,
      name,
      type,
      health: {
        state: brokenSince === null ? 'healthy' : 'broken',
        since: formatInstantOrNull(brokenSince),
        reason: brokenReason,
      },
    },
    state,
    machine: item.machine,
    thread_not_attached: item.threadNotAttached,
    possible_duplicate: item.possibleDuplicate,
    message_url: item.messageUrl,
    error,
    updated_at: formatInstant(updatedAt),
    posted_at: formatInstantOrNull(item.postedAt),
    edited_at: formatInstantOrNull(item.editedAt),
    next: next && { kind: next.kind, at: formatInstant(next.at) },
  };
}
