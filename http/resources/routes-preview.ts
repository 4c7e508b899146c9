/** Previews what a Group key would make of the Alerts of the last hours (routes §9). */
import { setImmediate } from 'node:timers/promises';
import * as v from 'valibot';
import { parseSnapshot } from '../../actors/feed/snapshot.ts';
import type { PreviewBodies } from '../../actors/route/ports.ts';
import { type RouteSample, sampleOf } from '../../actors/route/preview.ts';
import { DAY, SECOND } from '../../runtime/clock.ts';
import { duplicates, publicId } from '../fields.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { type FieldError, invalid, notFound } from '../problem.ts';
import { Labels } from '../shapes.ts';
import { matchersErrors } from './routes-checks.ts';
import { GroupKeyInput, MatchersInput } from './routes-shapes.ts';

export interface PreviewDeps {
  readonly bodies: PreviewBodies;
}

/** `routing.group_key_preview_period`. */
const DEFAULT_PERIOD_SECONDS = 86_400;

/** What one preview reads at most: its answer is awaited. */
const MOST_BODIES = 20_000;
const MOST_ALERTS = 1_000_000;

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

export function previewOperations({ bodies }: PreviewDeps): readonly Operation[] {
  /** One after the other: a preview may read very many bodies. */
  let last: Promise<unknown> = Promise.resolve();
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
      handle(call) {
        const preview = last.then(() => answerTo(call, bodies));
        // Whoever waits next does not care how this one ended.
        last = preview.catch(() => undefined);
        return preview;
      },
    }),
  ];
}

async function answerTo(call: Call<unknown, PreviewInput>, bodies: PreviewBodies): Promise<Answer> {
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
  const truncated = await read(sample, bodies.newestFirst(period));
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

/** Reads until there is nothing left, or no room. Answers whether something was left unread. */
async function read(sample: RouteSample, bodies: ReturnType<PreviewBodies['newestFirst']>): Promise<boolean> {
  let count = 0;
  for await (const { integrationId, body } of bodies) {
    // Between bodies everybody else gets a turn.
    await setImmediate();
    const parsed = parseSnapshot(body);
    if (!parsed.ok) continue;
    const isEnough = sample.isFull() || count === MOST_BODIES || sample.looked() >= MOST_ALERTS;
    if (isEnough || !sample.add(integrationId, parsed.snapshot.entries)) return true;
    count++;
  }
  return false;
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
