/** Previews what a Route and its Group key would make of the Alerts of the last hours (routes §9). */
import * as v from 'valibot';
import type { RouteConfig } from '../../../actors/directory.ts';
import { parseSnapshot, type SnapshotEntry } from '../../../actors/feed/snapshot.ts';
import type { PreviewBodies } from '../../../actors/route/ports.ts';
import { type RouteSample, sampleOf } from '../../../actors/route/preview.ts';
import { DAY, type Micros, type Monotonic, SECOND, systemMonotonic } from '../../../runtime/clock.ts';
import { Pace } from '../../../runtime/pace.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createTurns } from '../../../runtime/share-next.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid, notFound } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { duplicates, publicId } from '../../schema/fields.ts';
import { Labels, MatcherShape } from '../../schema/shapes.ts';
import { matchersErrors } from './checks.ts';
import { GroupKeyInput, MatchersInput } from './shapes.ts';

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
/** Waiting for the database and for others included. */
const LONGEST: Micros = 12 * SECOND;
/** Previews that wait for their turn. */
const MOST_WAITING = 8;

const PreviewInput = d.named(
  'GroupKeyPreviewInput',
  v.object({
    route_id: d.described(
      v.optional(v.nullable(publicId)),
      'Id of the Route whose key would change. Null or left out: `matchers` say it.',
    ),
    matchers: d.described(
      v.optional(v.nullable(MatchersInput)),
      'The Matchers of a Route that does not exist yet; at most 50.',
    ),
    position: d.described(
      v.optional(v.nullable(v.pipe(v.number(), v.integer('invalid_format'), v.minValue(0, 'out_of_range')))),
      'A new place of the Route (`route_id`) in the order, from 0. Null or left out: its own.',
    ),
    proposed_group_key: d.described(GroupKeyInput, 'Names of labels to group by; at most 20.'),
    period_seconds: d.described(
      v.optional(v.pipe(v.number(), v.integer('invalid_format'), v.minValue(1, 'out_of_range'))),
      'Seconds to look back, from now. Left out: one day.',
    ),
  }),
  'What to preview: a Route (`route_id`), or the Matchers of a new one.',
);
type PreviewInput = v.InferOutput<typeof PreviewInput>;

const SideShape = d.named(
  'GroupKeySide',
  v.object({
    alert_group_count: d.count('How many.'),
    examples: d.described(
      v.array(
        v.object({
          group_key_values: d.described(Labels, 'Of the key.'),
          alert_count: d.count('How many Alerts have these values.'),
        }),
      ),
      'Up to five of them, those with the most Alerts first.',
    ),
  }),
  'The Alert Groups that a key makes.',
);

const TakingShape = d.named(
  'RouteTaking',
  v.object({
    id: v.nullable(d.id('RT', 'Id of the Route; null for one that does not exist yet.')),
    name: d.textOrNull('Its name; null for one that does not exist yet.'),
    matchers: d.described(v.array(MatcherShape), 'The Matchers that took the Alert.'),
  }),
  'A Route that takes Alerts of a preview.',
);

const CountedShape = d.named(
  'RouteAlertCount',
  v.object({ route: TakingShape, alert_count: d.count('How many Alerts it takes.') }),
  'Alerts of a preview that one Route takes.',
);

const TotalsShape = d.named(
  'RoutePreviewTotals',
  v.object({
    alert_count: d.count('How many Alerts the Route takes.'),
    alert_group_count: d.count('How many Alert Groups its key makes of them.'),
  }),
  'What a Route makes of the Alerts of a preview.',
);

const ChangeShape = d.named(
  'RouteChangePreview',
  v.object({
    present: d.described(TotalsShape, 'By the Route as it is stored; nothing for a new one.'),
    proposed: d.described(TotalsShape, 'By the Route as it is proposed.'),
    gained: d.described(
      v.object({
        alert_count: d.count('How many Alerts.'),
        from: d.described(v.array(CountedShape), 'Routes that take them at present, up to 20.'),
      }),
      'Alerts that only the proposed Route takes.',
    ),
    lost: d.described(
      v.object({
        alert_count: d.count('How many Alerts.'),
        to: d.described(v.array(CountedShape), 'Routes that would take them, up to 20.'),
      }),
      'Alerts that only the stored Route takes.',
    ),
  }),
  'The stored Route and the proposed one, tried on the same Alerts.',
);

const PreviewShape = d.named(
  'GroupKeyPreview',
  v.object({
    period_seconds: d.count('Seconds that were looked back.'),
    truncated: d.flag('Whether there was too much to read it all.'),
    alerts_looked_at: d.count('Different Alerts of the period that were looked at.'),
    current: d.described(v.nullable(SideShape), 'With the present key of the Route; null without a Route.'),
    proposed: d.described(SideShape, 'With the proposed key.'),
    samples: d.described(
      v.array(
        v.object({
          labels: d.described(Labels, 'Its labels.'),
          taken_by: TakingShape,
          comes_here: d.flag('Whether that is the Route of the preview.'),
        }),
      ),
      'Alerts of the period, and which Route takes each.',
    ),
    taken_earlier: d.described(
      v.array(CountedShape),
      'Routes further up that take Alerts which match here, too.',
    ),
    change: ChangeShape,
  }),
  'What a Route and two Group keys make of the Alerts of a period.',
);

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
      summary: 'Preview what a Route and its Group key would make',
      description: 'Reads Stored Snapshots, newest first, up to 10,000 Alerts. 503 when many previews wait.',
      needs: 'routes:write',
      body: PreviewInput,
      answers: {
        200: { description: 'What it would take, and the Alert Groups of both keys', schema: PreviewShape },
      },
      refusals: [[404, 'not-found', '']],
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
  const { route_id: id = null, matchers = null, position = null, proposed_group_key: key } = body;
  const route = id === null ? null : (directory.routesById.get(id) ?? 'unknown');
  if (route === 'unknown' || route?.deleted) return notFound();
  const { period_seconds: seconds = DEFAULT_PERIOD_SECONDS } = body;
  const errors = [
    ...(id === null && matchers === null ? [ONE_OF_REQUIRED] : []),
    ...periodErrors(seconds, await bodies.retentionDays()),
    ...matchersErrors(matchers ?? [], route?.isDefault ?? false),
    ...positionErrors(position, route, directory.routes.length - 1),
    ...duplicates(key, '/proposed_group_key'),
  ];
  if (errors.length > 0) return invalid(errors);

  const sample = sampleOf(directory, { route, matchers, position });
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
      alerts_looked_at: sample.looked(),
      current: route && sample.side(route.groupKey),
      proposed: sample.side(key),
      samples: sample.samples(),
      taken_earlier: sample.takenEarlier(),
      change: sample.change(key),
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
    // Bodies that are no Snapshots are work, too.
    if (count === MOST_BODIES || pace.worked > MOST_WORK || pace.elapsed > LONGEST) return true;
    count++;
    const parsed = parseSnapshot(body);
    if (parsed.ok) {
      if (sample.isFull() || sample.looked() >= MOST_ALERTS) return true;
      if (!(await addAll(sample, integrationId, parsed.snapshot.entries, pace))) return true;
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

/** @param movable how many Routes come before the Default route */
function positionErrors(
  position: number | null,
  route: RouteConfig | null,
  movable: number,
): readonly FieldError[] {
  if (position === null) return [];
  if (route === null || route.isDefault) {
    const detail = 'Only a saved Route other than the Default route can have another place.';
    return [{ pointer: '/position', code: 'unsupported', detail }];
  }
  if (position < movable) return [];
  const detail = `There are ${movable} places before the Default route.`;
  return [{ pointer: '/position', code: 'out_of_range', detail }];
}

const ONE_OF_REQUIRED: FieldError = {
  pointer: '',
  code: 'one_of_required',
  detail: 'Name a Route, or give the Matchers of one that is not saved yet.',
};
