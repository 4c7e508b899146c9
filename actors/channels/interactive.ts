/** The part of the port that a person starts and waits for: checks, test messages and previews (delivery §13). */
import type { Micros } from '../../runtime/clock.ts';
import type { RecordedMessage, RequestRecord } from '../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { cutToBytes } from '../../runtime/secrets/masking.ts';
import { templateLinks } from '../alert-group/reading/alert-summary.ts';
import { alertViews } from '../alert-group/reading/projections.ts';
import type { GroupReader, StoredAlert, StoredGroup } from '../alert-group/reading/readers.ts';
import type { TokenGrant } from '../connection/tokens.ts';
import type { DestinationFields, FoundPlace, StoredDestination } from '../destination/ports.ts';
import { peopleOf } from '../destination/sending/people.ts';
import type { GroupScene, SceneReader } from '../destination/sending/scene.ts';
import type { DirectorySource } from '../directory.ts';
import type { LinkSource } from '../links/configuration.ts';
import { evaluateLinks } from '../links/evaluate.ts';
import type { AlertView, GroupView, Principal } from '../model.ts';
import { sampleMessage } from '../previews/messages.ts';
import { defaultRoute, type SampleMoment, type SampleReader } from '../previews/samples.ts';
import type { RenderTimer } from '../templates/index.ts';

/** What a person starts and waits for. Every call takes an interactive limiter token first. */
export interface Interactive {
  /** Checks a place in steps with words, and posts nothing. Null: a test message has to serve. */
  readonly check: ((place: Place, run: PublicId) => Promise<CheckedPlace | Busy>) | null;
  readonly trial: DestinationTrial;
}

/** The place behind a Destination that is checked; `destinationId` is null before it is created. */
export interface Place {
  readonly destinationId: PublicId | null;
  readonly fields: DestinationFields;
  /** What it was saved with, where a check tells whether that changed; null while it is saved. */
  readonly found: FoundPlace | null;
}

/** No limiter token within the time that a person waits. */
export type Busy = Exclude<TokenGrant, 'granted'>;

/** What the check of a place found. It posted nothing. */
export interface CheckedPlace {
  readonly ok: boolean;
  /** In order; those after a failed one are left out. */
  readonly checks: readonly CheckedStep[];
  /** Null when it failed. */
  readonly found: FoundPlace | null;
}

export const PLACE_CHECKS = [
  'token',
  'channel_exists',
  'bot_in_channel',
  'discussion_group',
  'bot_rights_channel',
  'bot_rights_group',
] as const;

export interface CheckedStep {
  readonly name: (typeof PLACE_CHECKS)[number];
  readonly ok: boolean;
  /** For people; masked. The words of the other side are not to be trusted. */
  readonly message: string | null;
}

/** Of an answer, as it is shown. */
const ANSWER_BYTES = 4096;

export type TrialName = 'message' | 'press' | 'copy' | 'event' | 'create';

export type TrialClass =
  | 'none'
  | 'retry_after'
  | 'transient'
  | 'fatal'
  | 'unknown'
  | 'template_error'
  | 'blocked'
  /** No limiter token within the time that a person waits: nothing was sent. */
  | 'limited';

/** One request of a test, masked. */
export interface TrialStep {
  readonly name: TrialName;
  /** Null when nothing was sent. */
  readonly request: TrialRequest | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  /** By the names of extraction rules; null where there are none. */
  readonly extracted: Readonly<Record<string, string | null>> | null;
  readonly duration: Micros;
  readonly errorClass: TrialClass;
  /** With class `none`: what is to be known all the same. */
  readonly error: string | null;
}

export type TrialResult = Pick<TrialStep, 'errorClass' | 'error'>;

export interface TrialRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RecordedMessage['headers'];
  readonly body: string | null;
}

/** What would be sent. */
export interface PreviewItem {
  readonly name: Exclude<TrialName, 'press' | 'copy'> | 'update' | 'open_thread' | 'reply_in_thread';
  readonly format: 'markdown' | 'html' | 'commonmark' | 'json' | 'plain';
  readonly text: string | null;
  readonly request: TrialRequest | null;
}

export interface AskedPreview {
  readonly destination: StoredDestination;
  /** Of the chosen Alert Group, or of the example. */
  readonly scene: GroupScene;
}

export interface AskedTrial extends AskedPreview {
  /** Shared by the records of its requests. */
  readonly run: PublicId;
  readonly by: Principal;
}

export interface Tried {
  /** In order, up to the first that failed. */
  readonly steps: readonly TrialStep[];
  /** A message that people may press buttons of from now on. */
  readonly message: { readonly connectionId: PublicId; readonly messageId: string } | null;
}

/** What one type of Destination does. Whatever the receiver answers, it throws nothing. */
export interface DestinationTrial {
  test(asked: AskedTrial): Promise<Tried>;
  preview(asked: AskedPreview): Promise<readonly PreviewItem[]>;
}

/** What came of a request to a messenger. */
interface MessengerOutcome {
  readonly class: Exclude<TrialClass, 'none' | 'blocked'> | 'ok' | 'not_sent' | 'gone' | 'edit_window_closed';
  readonly code?: string;
  readonly error?: string;
}

/** What a step says of it. A message that is new can neither be gone nor closed. */
export function trialResult(outcome: MessengerOutcome): TrialResult {
  const { class: is, code, error = null } = outcome;
  switch (is) {
    case 'ok':
      return { errorClass: 'none', error: null };
    case 'not_sent':
      return { errorClass: 'transient', error: 'the service is stopping' };
    case 'gone':
    case 'edit_window_closed':
      return { errorClass: 'unknown', error };
    case 'fatal':
      return { errorClass: code === 'policy_blocked' ? 'blocked' : 'fatal', error };
    default:
      return { errorClass: is, error };
  }
}

/** What a step shows of its request, as the Request log has it; null: nothing was sent. */
export function shownExchange(
  record: RequestRecord | null,
): Pick<TrialStep, 'request' | 'responseStatus' | 'responseBody'> {
  if (!record) return { request: null, responseStatus: null, responseBody: null };
  const { method, url, request, status, response } = record;
  const body = response?.body ?? null;
  return {
    request: { method, url, headers: request.headers, body: request.body },
    responseStatus: status,
    responseBody: body === null ? null : cutToBytes(body, ANSWER_BYTES),
  };
}

/** What tests and previews show: an Alert Group of a Route of the Destination, or the built-in example (delivery §13). */
export type TrialSource =
  | { readonly kind: 'example' }
  | { readonly kind: 'alert_group'; readonly groupId: PublicId };

/** Null: there is no such Alert Group on a Route of the Destination. */
export type TrialScenes = (
  source: TrialSource,
  destination: StoredDestination,
  at: SampleMoment,
) => Promise<GroupScene | null>;

export interface TrialScenesDeps {
  readonly scenes: Pick<SceneReader, 'read' | 'settings'>;
  readonly samples: Pick<SampleReader, 'example'>;
  readonly links: Pick<LinkSource, 'current'>;
  readonly monotonic: RenderTimer;
}

export function createTrialScenes(deps: TrialScenesDeps): TrialScenes {
  return async (source, destination, at) => {
    if (source.kind === 'example') return exampleScene(deps, destination.id, at);
    const { fields } = destination;
    const connectionId = 'connection_id' in fields ? fields.connection_id : null;
    const scene = await deps.scenes.read(source.groupId, connectionId, []);
    const route = scene && at.directory.routesById.get(scene.routeId);
    return route?.destinationIds.includes(destination.id) ? scene : null;
  };
}

/** As the first Route of the Destination would have it. */
function exampleScene(
  { scenes, samples, links, monotonic }: TrialScenesDeps,
  id: PublicId,
  at: SampleMoment,
): GroupScene {
  const { directory, now } = at;
  const own = directory.routes.find(({ destinationIds }) => destinationIds.includes(id));
  const route = own ?? defaultRoute(at);
  const data = samples.example(route, at);
  const zone = directory.organization.timeZone;
  const evaluated = evaluateLinks(data, templateLinks(data.alerts), {
    configuration: links.current(),
    ...{ now, zone, monotonic },
  });
  return {
    group: sampleMessage(data, null, evaluated.links, directory),
    data,
    settings: scenes.settings(route.id),
    routeId: route.id,
    resolvedAt: null,
    ownerId: null,
    people: peopleOf(new Map(), directory.usersById),
  };
}

/** An Alert Group as events-mode webhooks tell of it, for tests and previews (webhooks §3.3, §6). */
export type TrialViews = (scene: GroupScene) => Promise<GroupView>;

export interface TrialViewDeps {
  readonly groups: Pick<GroupReader, 'read' | 'alerts'>;
  readonly directory: Pick<DirectorySource, 'current'>;
}

/** Alerts of one read. */
const PAGE = 1_000;

export function createTrialViews({ groups, directory }: TrialViewDeps): TrialViews {
  const alertsOf = async (groupId: PublicId): Promise<readonly StoredAlert[]> => {
    const found: StoredAlert[] = [];
    let after: readonly (string | number)[] | null = null;
    do {
      const { items, next }: Awaited<ReturnType<GroupReader['alerts']>> = await groups.alerts({
        groupId,
        state: null,
        after,
        limit: PAGE,
      });
      found.push(...items);
      after = next;
    } while (after !== null);
    return found;
  };

  return async (scene) => {
    const stored = await groups.read(scene.group.id);
    const alerts = stored ? alertViews(await alertsOf(stored.id)) : exampleAlerts(scene);
    return { ...viewOf(scene), owner: ownerOf(stored, directory), alerts };
  };
}

function viewOf({ group, data, routeId, resolvedAt }: GroupScene): Omit<GroupView, 'owner' | 'alerts'> {
  return {
    id: group.id,
    title: group.title,
    summary: group.summary,
    status: group.status,
    routeId,
    routeName: data.route,
    urgent: group.urgent,
    severityLevel: group.severityLevel,
    startedAt: group.startedAt,
    resolvedAt,
    snoozeUntil: group.snooze?.until ?? null,
    reopenCount: group.reopenCount,
  };
}

function ownerOf(stored: StoredGroup | null, directory: TrialViewDeps['directory']): GroupView['owner'] {
  const owner = stored?.ownerId ? directory.current().usersById.get(stored.ownerId) : undefined;
  return owner ? { id: owner.id, name: owner.name, login: owner.login } : null;
}

/** The built-in example fires. */
function exampleAlerts({ data }: GroupScene): readonly AlertView[] {
  return data.alerts.map(({ fingerprint, status: state, labels, annotations, startsAt, generatorUrl }) => ({
    ...{ fingerprint, state, labels, annotations, startsAt, generatorUrl },
    resolvedAt: null,
    resolveReason: null,
  }));
}
