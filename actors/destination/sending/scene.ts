/** What a message about an Alert Group is laid out from, read at the moment of its call (delivery §3, messages §1). */
import { setImmediate } from 'node:timers/promises';
import type { Clock, Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { GroupReader, StoredGroup } from '../../alert-group/reading/readers.ts';
import type {
  BridgeSettings,
  ChannelBotSettings,
  ChannelPlace,
  ChatServerSettings,
} from '../../connection/ports.ts';
import type { Directory, DirectorySource, RoutePolicy } from '../../directory.ts';
import { cellOf, type LinkSource } from '../../links/configuration.ts';
import { evaluating, type GroupLink, type LinkFailures } from '../../links/evaluate.ts';
import type { GroupMessage, MessageAlert, MessageSettings, MessengerAccount } from '../../messages/index.ts';
import { messageAlert, sampleMessage } from '../../previews/messages.ts';
import { defaultRoute, type TemplateAlerts, templateGroup } from '../../previews/samples.ts';
import type { TemplateGroup } from '../../templates/data.ts';
import { parseTemplate, type RenderTimer, type Template, type TemplateKind } from '../../templates/index.ts';
import { type People, peopleOf } from './people.ts';

export interface GroupScene {
  readonly group: GroupMessage;
  /** The same as templates read it. */
  readonly data: TemplateGroup;
  readonly settings: MessageSettings;
  /** The Alert Group's; what a failing template of it is told to. */
  readonly routeId: PublicId;
  readonly resolvedAt: StoredGroup['resolvedAt'];
  readonly ownerId: StoredGroup['ownerId'];
  readonly people: People;
}

export interface SceneReader {
  /**
   * An Alert Group as it is now.
   * @param connectionId whose accounts name people; null: the names that they have in Tocsin
   * @param others people besides those whom its Root message names
   * @returns null when there is no such Alert Group
   */
  read(
    groupId: PublicId,
    connectionId: PublicId | null,
    others: readonly PublicId[],
  ): Promise<GroupScene | null>;
  /** Some Alerts of it, in the order given; those that are not there any more are left out. */
  alerts(groupId: PublicId, fingerprints: readonly string[]): Promise<readonly MessageAlert[]>;
  /** What messages of a Route are laid out with; those of the Default route for one that is gone. */
  settings(routeId: PublicId): MessageSettings;
}

export interface SceneDeps {
  readonly groups: Pick<GroupReader, 'read'>;
  readonly alerts: TemplateAlerts;
  readonly accountsOf: AccountsOf;
  readonly directory: Pick<DirectorySource, 'current'>;
  readonly links: Pick<LinkSource, 'current'>;
  readonly failures: LinkFailures;
  readonly templates: RouteTemplates;
  readonly publicUrl: string;
  readonly version: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly monotonic: RenderTimer;
}

export function createSceneReader(deps: SceneDeps): SceneReader {
  const { groups, alerts, accountsOf, directory, publicUrl } = deps;
  const settings: SceneReader['settings'] = (routeId) => settingsOf(deps, routeId);

  return {
    settings,

    async alerts(groupId, fingerprints) {
      const present = directory.current();
      const found = await alerts.named(groupId, fingerprints);
      const byFingerprint = new Map(found.map((alert) => [alert.fingerprint, alert]));
      return fingerprints.flatMap((fingerprint) => {
        const alert = byFingerprint.get(fingerprint);
        return alert ? [messageAlert(alert, present)] : [];
      });
    },

    async read(groupId, connectionId, others) {
      const [stored, seen] = await Promise.all([groups.read(groupId), alerts.of(groupId)]);
      if (!stored) return null;
      const present = directory.current();
      const named = [...new Set([...shownPeople(stored), ...others])];
      const isAsked = connectionId !== null && named.length > 0;
      const accounts = isAsked ? await accountsOf(connectionId, named) : new Map();
      const people = peopleOf(accounts, present.usersById);
      const shown = asNamed(present, shownPeople(stored), people);
      const data = templateGroup(stored, seen, { directory: shown, publicUrl });
      return {
        group: sampleMessage(data, stored, await linksOf(deps, stored, data), shown),
        data,
        settings: settings(stored.routeId),
        routeId: stored.routeId,
        resolvedAt: stored.resolvedAt,
        ownerId: stored.ownerId,
        people,
      };
    },
  };
}

/** Whom a Root message names. */
function shownPeople({ ownerId, snoozedBy, resolver }: StoredGroup): PublicId[] {
  return [ownerId, snoozedBy?.id, resolver?.id].filter((id) => typeof id === 'string');
}

/** The Directory with these people under the names that a messenger has for them. */
function asNamed(directory: Directory, ids: readonly PublicId[], people: People): Directory {
  const usersById = new Map(
    ids.flatMap((id) => {
      const user = directory.usersById.get(id);
      return user ? [[id, { ...user, name: people.nameOf(user) }] as const] : [];
    }),
  );
  return { ...directory, usersById };
}

/** Between rules everybody else gets a turn. */
async function linksOf(
  { links, failures, directory, clock, monotonic }: SceneDeps,
  stored: StoredGroup,
  data: TemplateGroup,
): Promise<readonly GroupLink[]> {
  const zone = directory.current().organization.timeZone;
  const settings = { configuration: links.current(), now: clock.now(), zone, monotonic };
  const steps = evaluating(data, stored, settings);
  for (;;) {
    const step = steps.next();
    if (step.done) {
      failures.report(stored.id, step.value.failed);
      return step.value.links;
    }
    await setImmediate();
  }
}

function settingsOf(
  { directory, links, templates, publicUrl, version, clock, monotonic }: SceneDeps,
  routeId: PublicId,
): MessageSettings {
  const present = directory.current();
  const { organization } = present;
  const { policy } = present.routesById.get(routeId) ?? defaultRoute({ directory: present });
  const configuration = links.current();
  return {
    publicUrl,
    version,
    language: policy.language,
    zone: organization.timeZone,
    severityLabel: organization.severityLabel,
    severityEmoji: organization.severityEmoji,
    snoozeDurationsSeconds: policy.snooze_durations_seconds,
    templates: templates(policy.templates),
    now: clock.now(),
    monotonic,
    lookup: (table, key, column) => cellOf(configuration, table, key, column),
  };
}

/** Accounts of some users at the messenger of a Connection; who has no Account link is left out. */
export type AccountsOf = (
  connectionId: PublicId,
  userIds: readonly PublicId[],
) => Promise<ReadonlyMap<PublicId, MessengerAccount>>;

/** Where messages of a bridge Destination are, and what opens the way there. */
export interface BridgeTarget {
  readonly channelId: string;
  readonly connection: BridgeSettings;
}

/** Where messages of a chat server Destination are, and what opens the way there. */
export interface ChatServerTarget {
  readonly teamId: string;
  readonly channelId: string;
  /** The team's part of addresses, as a check found it; null before, and for a channel of no team. */
  readonly teamPath: string | null;
  readonly connection: ChatServerSettings;
}

/** Where messages of a channel bot Destination are, and what opens the way there. */
export interface ChannelBotTarget {
  /** As the last check that passed found it; null for a former one, whose messages are only edited. */
  readonly place: ChannelPlace | null;
  readonly connection: ChannelBotSettings;
}

/** A Storm as it stands. */
export interface StormState {
  readonly newGroups: number;
  readonly urgentGroups: number;
  /** Once it is over: its Alert Groups that are still open. Null while it lasts. */
  readonly stillOpen: number | null;
}

export interface StormReader {
  /** Null: too many later Storms of the Route have ended since. */
  read(routeId: PublicId, since: Micros): Promise<StormState | null>;
}

/** Sources that are remembered; an older one is parsed anew. */
const REMEMBERED = 1_000;

type RouteTemplates = (templates: RoutePolicy['templates']) => MessageSettings['templates'];

export function createRouteTemplates(): RouteTemplates {
  const parsed = new Map<string, Template | null>();
  const read = (kind: TemplateKind, source: string | null): Template | null => {
    if (source === null) return null;
    const key = `${kind} ${source}`;
    const known = parsed.get(key);
    if (known !== undefined) return known;
    const result = parseTemplate(kind, source);
    const template = result.ok ? result.template : null;
    parsed.set(key, template);
    const [oldest] = parsed.keys();
    if (parsed.size > REMEMBERED && oldest !== undefined) parsed.delete(oldest);
    return template;
  };
  return (templates) => ({
    rootMessage: read('root_message', templates.root_message),
    line: read('line', templates.line),
    ackTimeoutNotice: read('ack_timeout_notice', templates.ack_timeout_notice),
  });
}
