/**
 * A day of a real pair of Alertmanagers that was restarted, killed, silenced, reloaded and cut short (`test/recordings`):
 * an Alert resolves when the sender says so and only then, and no Alert Group is opened twice.
 *
 * The recording's intervals are a sixtieth of production's, so it is replayed with its times times sixty: 24 minutes become
 * 24 hours, group_interval 2 minutes, repeat_interval 10 minutes, evaluation 1 minute, the pair's peer timeout 30 s.
 * Nothing of the service is scaled: duplicate window 45 s, absence 5 minutes, Reopen window 15 minutes, Heartbeat timeout
 * 5 minutes are the values that forms are filled in with. Bodies stay as they were recorded; times in them are compared
 * with one another only.
 */
import { expect, test } from 'vitest';
import { MINUTE, type Micros, parseInstant } from '../../runtime/clock.ts';
import type { Json } from '../harness/api.ts';
import { type Disturbance, type Line, readRecording } from '../recordings/recording.ts';
import { notedResolutions, noteResolutions, type Resolution } from './resolutions.ts';
import { Scenario } from './scenario.ts';
import { SenderModel } from './sender-model.ts';
import { keyOf, Truth } from './truth.ts';
import { useWorld } from './world.ts';

const STRETCH = 60;
const GROUP_KEY = ['alertname', 'cluster'];
const REOPEN_WINDOW = 15 * MINUTE;
const REPEAT_INTERVAL = 10 * MINUTE;
/** How old what a Snapshot says may be: a scrape, an evaluation, a flush that waits for its peer, a retry. */
const NEWS = 5 * MINUTE;
/** How long after it began what was done to the senders may make them say what is not so. */
const CONFUSED_FOR = 10 * MINUTE;
/** Nobody acts in this story, so nothing is to remind of it. */
const QUIET = {
  ack_timeout: { enabled: false, first_interval_seconds: 900 },
  reminders: { enabled: false, first_interval_seconds: 14_400, cap_seconds: 86_400 },
};

/**
 * Alerts that fired when the sender said that they did not, by what made it say so. ingestion §6.2 takes its word, and
 * what it said is all there is.
 */
const SENDERS_MISTAKES = {
  // What it had told last ran out, and the Alertmanagers wrote the end themselves.
  'own_entry while a Prometheus was away': 9,
  // With max_alerts an Alertmanager takes the group's status from the cut list.
  'group_wide from a cut list': 2,
};

/**
 * Both instances were killed as the rule ceased to be true, and neither told it afterwards. What fires until it is stale
 * is the same Alert Group when the rule is true again soon.
 */
const ENDS_NEVER_TOLD: Readonly<Record<string, number>> = { 'HighLatency a': 1 };

const world = useWorld();

/** At most one Alert Group of a key is open at a time, and one that may reopen is not followed by another. */
function expectOneAfterAnother(groups: readonly Json[]): void {
  const byStart = groups.toSorted((left, right) => left.number - right.number);
  for (const [index, group] of byStart.entries()) {
    const next = byStart[index + 1];
    const end = (parseInstant(group.resolved_at) ?? Number.NaN) + REOPEN_WINDOW;
    if (next) expect(end, group.title).toBeLessThanOrEqual(parseInstant(next.started_at) ?? 0);
  }
}

/** Sends everything at its time, as fast as the service takes it. */
async function replay(s: Scenario, lines: readonly Line[], time: (at: Micros) => Micros): Promise<void> {
  for (const line of lines) {
    if (line.kind !== 'post' && line.kind !== 'heartbeat') continue;
    await s.world.passTo(time(line.at));
    if (line.kind === 'heartbeat') expect(await s.sender().heartbeat()).toBe(204);
    else expect(await s.sender().post(line.body)).toBe(202);
  }
  await s.world.settle();
}

interface Disturbed {
  readonly at: Micros;
  readonly what: Disturbance;
}

/** What made the sender call an Alert resolved that fired. */
function excuseFor({ by, at }: Resolution, said: SenderModel, disturbances: readonly Disturbed[]): string {
  const recent = disturbances.filter((one) => one.at <= at && at < one.at + CONFUSED_FOR);
  const isAfter = (...kinds: readonly Disturbance[]) => recent.some(({ what }) => kinds.includes(what));
  const claims = said.at(at).filter(({ isOver }) => isOver);
  if (by === 'own_entry' && isAfter('prometheus_restarted')) return 'own_entry while a Prometheus was away';
  if (by === 'group_wide' && claims.some(({ isCut }) => isCut)) return 'group_wide from a cut list';
  return `${by} for no known reason`;
}

function countBy<T>(items: readonly T[], name: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[name(item)] = (counts[name(item)] ?? 0) + 1;
  return counts;
}

test('a recorded day of a pair of Alertmanagers: Alerts resolve when the sender says so and only then, no Alert Group is opened twice, nothing is left open', async () => {
  await noteResolutions(world().sql);
  const s = await Scenario.open(world(), {
    route: { group_key: GROUP_KEY },
    policy: QUIET,
    withoutDestination: true,
    integration: { heartbeat: { enabled: true, timeout_seconds: 300 } },
  });
  const lines = readRecording('alertmanager-day.jsonl.gz');
  const time = (at: Micros) => s.begin + at * STRETCH;
  const truth = new Truth(lines, time);
  const said = new SenderModel(lines, time, REPEAT_INTERVAL);

  await replay(s, lines, time);

  const resolutions = await notedResolutions(s.world.sql, s.sender().id);
  const previousOf = ({ fingerprint, at }: Pick<Resolution, 'fingerprint' | 'at'>) =>
    resolutions.findLast((one) => one.fingerprint === fingerprint && one.at < at) ?? null;
  expect(resolutions.filter((one) => !said.ends({ ...one, previous: previousOf(one) }))).toEqual([]);
  const ends = said.possibleEnds().filter((one) => said.ends({ ...one, previous: previousOf(one) }));
  const isObeyed = ({ fingerprint, at, by }: (typeof ends)[number]) =>
    resolutions.some((one) => one.fingerprint === fingerprint && one.at === at && one.by === by);
  expect(ends.filter((one) => !isObeyed(one))).toEqual([]);
  expect(new Set(resolutions.map(({ by }) => by))).toEqual(
    new Set(['own_entry', 'group_wide', 'gone', 'stale']),
  );

  const mistaken = resolutions.filter(({ labels, at }) =>
    truth.firedThroughout(labels, { from: at - NEWS, until: at }),
  );
  const disturbances = lines.flatMap((line) =>
    line.kind === 'disturbed' ? [{ at: time(line.at), what: line.what }] : [],
  );
  expect(countBy(mistaken, (one) => excuseFor(one, said, disturbances))).toEqual(SENDERS_MISTAKES);

  const groups = (await s.groups()).filter(({ title }) => !title.startsWith('Svc'));
  expect(groups.filter(({ resolution }) => resolution?.by !== 'system')).toEqual([]);
  const keyOfGroup = (group: Json) => keyOf(group.common_labels, GROUP_KEY);
  const expected = [...truth.spells(GROUP_KEY, REOPEN_WINDOW)].map(
    ([key, spells]) => [key, spells.length - (ENDS_NEVER_TOLD[key] ?? 0)] as const,
  );
  expect(countBy(groups, keyOfGroup)).toEqual(Object.fromEntries(expected));
  for (const [key] of expected) expectOneAfterAnother(groups.filter((group) => keyOfGroup(group) === key));
  const { items } = await s.admin.get(`/integrations/${s.sender().id}/alerts?state=firing`);
  expect(items).toEqual([]);
  await s.close();
}, 300_000);
