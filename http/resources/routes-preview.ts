/** Previews what a Group key would make of the Alerts of the last hours (routes §9). */
import * as v from 'valibot';
import { parseSnapshot, type SnapshotEntry } from '../../actors/feed/snapshot.ts';
import type { PreviewBodies } from '../../actors/route/ports.ts';
import { type RouteSample, sampleOf } from '../../actors/route/preview.ts';
import { DAY, type Micros, type Monotonic, SECOND, systemMonotonic } from '../../runtime/clock.ts';
import { createTurns } from '../../runtime/in-turn.ts';
import { Pace } from '../../runtime/pace.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { duplicates, publicId } from '../fields.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { type FieldError, invalid, notFound } from '../problem.ts';
import { Labels } from '../shapes.ts';
import { matchersErrors } from './routes-checks.ts';
import { GroupKeyInput, MatchersInput } from './routes-shapes.ts';

export interface PreviewDeps {
  readonly bodies: PreviewBodies;
  /** Tells how long a preview has worked. */
  readonly monotonic?: Monotonic;
}

/** `routing.group_key_preview_period`. */
const DEFAULT_PERIOD_SECONDS = 86_400;

/** What one preview reads at most: its answer is awaited. */
const MOST_BODIES = 20_000;
const MOST_ALERTS = 1_000_000;
const MOST_WORK: Micros = 10 * SECOND;
/** Previews that wait for their turn. */
const MOST_WAITING = 8;

const PreviewInput = v.object({
  route_id: v.optional(v.nullable(publicId)),
  matchers: v.optional(v.nullable(MatchersInput)),
  proposed_group_key: GroupKeyInput,
  period_seconds: v.optional(v.pipe(v.number(), v.integer('invalid_format'), v.minValue(1, 'out_of_range'))),
});
type PreviewInput = v.InferOutput<typeof PreviewInput>;

const SideShape = v.object({
  alert_group_count: v.number(),
  examples: v.array(v.object({ group_key_values: Labels, alert_count: v.number() })),
});

const PreviewShape = v.object({
  period_seconds: v.number(),
  truncated: v.boolean(),
  current: v.nullable(SideShape),
  proposed: SideShape,
});

export function previewOperations({
  bodies,
  monotonic = systemMonotonic,
}: PreviewDeps): readonly Operation[] {
  /** One after the other: a preview may read very many bodies. */
  const inTurn = createTurns('previews', MOST_WAITING);
  return [
    operation({
      id: 'previewGroupKey',
      method: 'POST',
      path: '/group-key-previews',
      tag: 'Routes',
      summary: 'Preview what a Group key would make',
      needs: 'routes:write',
      body: PreviewInput,
      answers: { 200: { description: 'The Alert Groups of both keys', schema: PreviewShape } },
      /** @throws {BusyError} 503: too many previews wait */
      handle: (call) => inTurn(() => answerTo(call, bodies, new Pace(monotonic))),
    }),
  ];
}

async function answerTo(
  call: Call<unknown, PreviewInput>,
  bodies: PreviewBodies,
  pace: Pace,
): Promise<Answer> {
  const { body, directory, now } = call;
  const { route_id: id = null, matchers = null, proposed_group_key: key } = body;
  if (id === null && matchers === null) return invalid([ONE_OF_REQUIRED]);
  const route = id === null ? null : (directory.routesById.get(id) ?? 'unknown');
  if (route === 'unknown' || route?.deleted) return notFound();
  const { period_seconds: seconds = DEFAULT_PERIOD_SECONDS } = body;
  const errors = [
    ...periodErrors(seconds, await bodies.retentionDays()),
    ...matchersErrors(matchers ?? [], route?.isDefault ?? false),
    ...duplicates(key, '/proposed_group_key'),
  ];
  if (errors.length > 0) return invalid(errors);

  const sample = sampleOf(directory, { route, matchers });
  const integrationIds = [...directory.integrationsById.values()]
    .filter(({ deleted, builtin }) => !deleted && !builtin)
    .map((integration) => integration.id);
  const period = { integrationIds, after: now - seconds * SECOND, until: now };
  const truncated = await read(sample, bodies.newestFirst(period), pace);
  return {
    status: 200,
    body: {
      period_seconds: seconds,
      truncated,
      current: route && sample.side(route.groupKey),
      proposed: sample.side(key),
    },
  };
}

/** Reads until there is nothing left, no room, or enough was done. Answers whether something was left unread. */
async function read(
  sample: RouteSample,
  bodies: ReturnType<PreviewBodies['newestFirst']>,
  pace: Pace,
): Promise<boolean> {
  let count = 0;
  for await (const { integrationId, body } of bodies) {
    pace.resume();
    // Between bodies everybody else gets a turn.
    await pace.rest();
    const parsed = parseSnapshot(body);
    if (parsed.ok) {
      if (sample.isFull() || count === MOST_BODIES || sample.looked() >= MOST_ALERTS) return true;
      if (!(await addAll(sample, integrationId, parsed.snapshot.entries, pace))) return true;
      count++;
    }
    pace.pause();
  }
  return false;
}

/** Answers whether all of them had room, and time. */
async function addAll(
  sample: RouteSample,
  integrationId: PublicId,
  entries: readonly SnapshotEntry[],
  pace: Pace,
): Promise<boolean> {
  for (const entry of entries) {
    if (pace.isDue()) await pace.rest();
    if (pace.worked > MOST_WORK || !sample.add(integrationId, entry)) return false;
  }
  return true;
}

function periodErrors(seconds: number, retentionDays: number): readonly FieldError[] {
  if (seconds * SECOND <= retentionDays * DAY) return [];
  const detail = `Stored Snapshots are kept for ${retentionDays} days.`;
  return [{ pointer: '/period_seconds', code: 'out_of_range', detail }];
}

const ONE_OF_REQUIRED: FieldError = {
  pointer: '',
  code: 'one_of_required',
  detail: 'Name a Route, or give the Matchers of one that is not saved yet.',
};
