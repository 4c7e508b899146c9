/** This API's own description, the live stream (api §13, §18), and one actor as people see it (ui §12.1). */
import * as v from 'valibot';
import type { ActorStateReader, ListedActor } from '../../../actors/system/ports.ts';
import { type ActorSystem, type RecentMessage, shardOf } from '../../../runtime/actor/index.ts';
import { formatInstant, formatInstantOrNull } from '../../../runtime/clock.ts';
import { HintShape } from '../../live/hint-bus.ts';
import type { LiveUpdates } from '../../live/live.ts';
import { type Answer, type Call, noneMatchCovers, type Operation, operation } from '../../operation.ts';
import { notFound, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { itemsOf, pageOf } from '../../schema/shapes.ts';

/** The API description as text, made once. */
export interface ApiDescription {
  readonly yaml: string;
  readonly json: string;
  /** With its quotes; of the build. */
  readonly etag: string;
}

export interface SystemDeps {
  readonly live: LiveUpdates;
  /** Read when asked: the description describes these operations, too. */
  readonly description: () => ApiDescription;
}

export function systemOperations(deps: SystemDeps): readonly Operation[] {
  return [
    operation({
      id: 'streamLiveUpdates',
      method: 'GET',
      path: '/live-updates',
      tag: 'Live updates',
      summary: 'Follow changes as server-sent events',
      description:
        'Each hint says that something changed; read it again then. At most 10 streams a session. A comment line every 10 s shows that the stream lives.',
      needs: 'session',
      answers: {
        200: { description: 'A stream of hints', contentType: 'text/event-stream', schema: HintShape },
      },
      refusals: [[429, 'rate-limited', '']],
      handle: (call) => openStream(deps.live, call),
    }),
    describedAs(deps, 'getOpenApiYaml', '/openapi.yaml', 'application/yaml', 'yaml'),
    describedAs(deps, 'getOpenApiJson', '/openapi.json', 'application/json', 'json'),
  ];
}

async function openStream(live: LiveUpdates, { identity }: Call): Promise<Answer> {
  const sessionId = identity?.session?.id;
  if (!identity || !sessionId) throw new Error('a live stream runs with a session');
  if (!live.hasRoom(sessionId)) return TOO_MANY;
  const { id: userId, permissions } = identity;
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      'X-Accel-Buffering': 'no',
    },
    stream: (output) => live.open({ sessionId, userId, permissions }, output),
  };
}

const TOO_MANY = refuse({
  status: 429,
  type: 'rate-limited',
  detail: 'Too many live streams are open. Close some pages of Tocsin.',
  retryAfterSeconds: 5,
});

function describedAs(
  { description }: SystemDeps,
  id: string,
  path: string,
  contentType: string,
  format: 'yaml' | 'json',
): Operation {
  return operation({
    id,
    method: 'GET',
    path,
    tag: 'System',
    summary: `Read this API as OpenAPI 3.1 (${format.toUpperCase()})`,
    description: 'Of the build that answers. Needs no credentials.',
    needs: 'none',
    answers: {
      200: { description: 'The API description', contentType, etag: true },
      304: { description: 'Unchanged since the ETag in If-None-Match', etag: true },
    },
    async handle({ header }) {
      const { [format]: content, etag } = description();
      const known = noneMatchCovers(header('if-none-match'), etag);
      return { status: known ? 304 : 200, headers: { ETag: etag }, text: { contentType, content } };
    },
  });
}

/** One actor, whatever its kind, as people who look into the service see it (api §18, ui §12.1). */
export interface ActorOperationsDeps {
  readonly states: ActorStateReader;
  readonly system: Pick<ActorSystem, 'recent'>;
}

const LIST = 'actors';

const STATE = d.described(
  v.nullable(v.union([v.string(), v.record(v.string(), v.unknown())])),
  'State as its machine names it; null before it began.',
);
const KEY = d.text('Its key.');
const VERSION = d.count('How often it was stored.');
const WAKE_AT = v.nullable(d.time('When it acts by itself next; null when it does not.'));

const TYPE = d.text('Type of the message.');

const EFFECT_KIND = d.words(
  'ActorEffectKind',
  {
    send: 'A message to an actor.',
    record: 'Rows that were stored with the commit.',
    perform: 'A side effect after the commit, such as a call or a hint.',
  },
  'What sort of effect it is.',
);

const MessageShape = d.named(
  'ActorMessage',
  v.object({
    at: d.time('When it was handled.'),
    committed_at: v.nullable(d.time('When what it did was stored; null until then.')),
    type: TYPE,
    from: d.textOrNull('Kind of the actor that sent it; null from outside.'),
    state: d.described(STATE, 'State of its machine afterwards; null before it began.'),
    events: d.described(v.array(v.string()), 'Events that its machine took, in order.'),
    transitions: d.described(
      v.array(
        v.object({
          from: d.textOrNull('Path of the state that has it; null: the machine itself, in every state.'),
          to: d.textOrNull('Path of the state it leads to; null: the state stays.'),
          event: d.text('Event that it follows; `always` for one that happens by itself.'),
          guard: d.textOrNull('Guard that held; null when it has none.'),
          actions: d.described(v.array(v.string()), 'Names of its actions.'),
        }),
      ),
      'Transitions that its machine took, in order; at most eight.',
    ),
    effects: d.described(
      v.array(
        v.object({
          kind: EFFECT_KIND,
          type: d.text('Its type.'),
          to: d.textOrNull('Kind of the actors that a message went to; null for others.'),
          count: d.count('How many there were; 8,191 for more.'),
        }),
      ),
      'What it led to, by kind and type, at most eight; never what it said.',
    ),
  }),
  'A message that an actor was given, without what it said, and what it did.',
);

const CountShape = d.named(
  'ActorCount',
  v.object({ kind: d.text('Kind of the actors.'), state: STATE, count: d.count('How many are in it.') }),
  'How many actors of one kind are in one state.',
);

const ListedShape = d.named(
  'ListedActor',
  v.object({
    ...{ key: KEY, state: STATE, version: VERSION, wake_at: WAKE_AT },
    changed_at: d.time('When it was stored last.'),
  }),
  'An actor in a list.',
);

const name = v.pipe(v.string(), v.minLength(1, 'too_short'), v.maxLength(200, 'too_long'));

const ListQuery = v.object({
  ...pageQuery,
  kind: d.described(name, 'Kind of the actors; 1 to 200 characters.'),
  state: d.described(
    name,
    'Path of a state, joined by dots: `firing` or `firing.waiting`; 1 to 200 characters.',
  ),
});

const ActorShape = d.named(
  'Actor',
  v.object({
    kind: d.text('Its kind.'),
    key: KEY,
    replica: d.textOrNull('Id of the replica that runs it; null when none does.'),
    shard: d.count('Number of its shard.'),
    state: STATE,
    schema: d.count('Version of the form it is stored in.'),
    version: VERSION,
    wake_at: WAKE_AT,
    waiting: d.count('Messages to it that wait in the inbox, among the oldest 1,000 of its shard.'),
    waiting_in_memory: v.nullable(
      d.count('Those that wait in memory of its replica alone; null when that is of an earlier release.'),
    ),
    inbox: d.described(
      v.array(v.object({ type: TYPE, since: d.time('When it was stored.') })),
      'Those that wait, the oldest first; at most 20.',
    ),
    messages: d.described(
      v.array(MessageShape),
      'The last 50 messages since it was loaded, newest first. None while it sleeps.',
    ),
  }),
  'One actor: the state machine of one thing.',
);

export function actorOperations({ states, system }: ActorOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'getActorCounts',
      method: 'GET',
      path: '/actor-counts',
      tag: 'System',
      summary: 'Count the actors of each kind by the state of their machine',
      description:
        'As of one moment, everything included that was committed before it. States without actors are absent.',
      needs: 'system-status:read',
      answers: { 200: { description: 'The counts', schema: itemsOf(CountShape) } },
      handle: async () => ({ status: 200, body: { items: await states.counts() } }),
    }),
    operation({
      id: 'listActors',
      method: 'GET',
      path: '/actors',
      tag: 'System',
      summary: 'List the actors of a kind that are in a state, or in one within it, by key',
      description: 'A page may be short, or empty, before the last one: each looks at 20,000 actors at most.',
      needs: 'system-status:read',
      query: ListQuery,
      answers: { 200: { description: 'A page of actors', schema: pageOf(ListedShape) } },
      async handle({ query }) {
        const { cursor, limit = DEFAULT_LIMIT, ...filters } = query;
        const [after] = cursor === undefined ? [''] : (decodeCursor(LIST, filters, cursor) ?? []);
        if (typeof after !== 'string') return INVALID_CURSOR;
        const { items, next } = await states.list({ ...filters, after, limit });
        const next_cursor = next === null ? null : encodeCursor(LIST, filters, [next]);
        return { status: 200, body: { items: items.map(listedBody), next_cursor } };
      },
    }),
    operation({
      id: 'getActor',
      method: 'GET',
      path: '/actors/{kind}/{key}',
      tag: 'System',
      paths: {
        kind: 'Kind of the actor.',
        key: 'Id of what it is the actor of. For a feed, its opaque key.',
      },
      summary: 'Read the state of one actor, and which messages it was given lately',
      description: '503 when the replica of the actor does not answer within 5 s.',
      needs: 'system-status:read',
      answers: { 200: { description: 'The actor', schema: ActorShape } },
      /**
       * The state is the committed one, whoever answers; the messages come from the replica that keeps the actor.
       * @throws {UnavailableError} 503: that replica does not answer
       */
      async handle({ params }) {
        const address = { kind: params.kind as string, key: params.key as string };
        const actor = await states.read(address);
        if (actor === null) return notFound();
        const { replica, state, schema, version, wakeAt, waiting, inbox } = actor;
        const told = await system.recent(address);
        return {
          status: 200,
          body: {
            ...address,
            ...{ replica, shard: shardOf(address), state, schema, version },
            wake_at: formatInstantOrNull(wakeAt),
            waiting,
            waiting_in_memory: told.waiting,
            inbox: inbox.map(({ type, since }) => ({ type, since: formatInstant(since) })),
            messages: told.messages.map(messageBody),
          },
        };
      },
    }),
  ];
}

function messageBody({ at, committedAt, ...message }: RecentMessage) {
  return { at: formatInstant(at), committed_at: formatInstantOrNull(committedAt), ...message };
}

function listedBody({ key, state, version, wakeAt, changedAt }: ListedActor) {
  return { key, state, version, wake_at: formatInstantOrNull(wakeAt), changed_at: formatInstant(changedAt) };
}
