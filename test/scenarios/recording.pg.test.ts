/**
 * What a real pair of Alertmanagers sent while it was restarted, killed, silenced, reloaded and cut short: no Alert
 * resolves that fires, unless the sender says so, and no Alert Group is opened twice (`test/recordings`).
 *
 * The recording's intervals are a sixtieth of production's, so it is replayed with its times times sixty: five and a half
 * minutes become five and a half hours, group_interval 2 minutes, repeat_interval 10 minutes, evaluation 1 minute, the
 * pair's peer timeout 30 s. Nothing of the service is scaled: duplicate window 45 s, absence 5 minutes, Reopen window 15
 * minutes, Heartbeat timeout 5 minutes are the values that forms are filled in with. Bodies stay as they were recorded;
 * times in them are compared with one another only.
 */
import { expect, test } from 'vitest';
import { MINUTE, type Micros, parseInstant } from '../../runtime/clock.ts';
import type { Json } from '../harness/api.ts';
import { type Line, readRecording } from '../recordings/recording.ts';
import { Scenario } from './scenario.ts';
import { isAbout, keyOf, Truth } from './truth.ts';
import { useWorld } from './world.ts';

const STRETCH = 60;
const GROUP_KEY = ['alertname', 'cluster'];
const REOPEN_WINDOW = 15 * MINUTE;
/** How old what a Snapshot says may be: an evaluation, a group_interval's flush that waits for its peer, a retry. */
const NEWS = 3 * MINUTE;

/**
 * Alerts that fired when the sender said "the whole group is resolved" (ingestion §6.2 takes its word): Alertmanager 0.25
 * flushes groups after a reload while it still fills them, and with max_alerts it takes the status from the cut list.
 */
const SENDERS_MISTAKES = 7;

const world = useWorld();

interface Resolution {
  readonly labels: Readonly<Record<string, string>>;
  readonly by: string;
  readonly at: Micros;
}

/** Alerts of the sender that were resolved after `since`. */
function resolvedSince(s: Scenario, since: Micros): Promise<Resolution[]> {
  return s.world.sql<Resolution[]>`
    select labels, resolved_by as by, resolved_at as at from group_alerts
    where integration_id = ${s.sender().id} and resolved_at > ${since}`;
}

/** A Snapshot that says of a whole group of the sender that it is over. */
interface Claim {
  readonly at: Micros;
  readonly labels: Readonly<Record<string, string>>;
}

function claimsOf(lines: readonly Line[], time: (at: Micros) => Micros): Claim[] {
  return lines.flatMap((line) => {
    if (line.kind !== 'post') return [];
    const { status, groupLabels } = JSON.parse(line.body);
    return status === 'resolved' ? [{ at: time(line.at), labels: groupLabels }] : [];
  });
}

/** Whether the sender itself said at that moment that the group was over in which it had listed the Alert. */
function isClaimed({ labels, by, at }: Resolution, claims: readonly Claim[]): boolean {
  return by === 'group_wide' && claims.some((claim) => claim.at === at && isAbout(claim.labels, labels));
}

/** At most one Alert Group of a key is open at a time. */
function expectOneAfterAnother(groups: readonly Json[]): void {
  const byStart = groups.toSorted((left, right) => left.number - right.number);
  for (const [index, group] of byStart.entries()) {
    const next = byStart[index + 1];
    if (next) expect(parseInstant(group.resolved_at)).toBeLessThan(parseInstant(next.started_at) ?? 0);
  }
}

/** Sends everything at its time; answers all resolutions, each as it was found at once. */
async function replay(
  s: Scenario,
  lines: readonly Line[],
  time: (at: Micros) => Micros,
): Promise<Resolution[]> {
  const resolutions: Resolution[] = [];
  let looked = s.begin;
  for (const line of lines) {
    if (line.kind !== 'post' && line.kind !== 'heartbeat') continue;
    await s.world.passTo(time(line.at));
    if (line.kind === 'heartbeat') expect(await s.sender().heartbeat()).toBe(204);
    else expect(await s.sender().post(line.body)).toBe(202);
    await s.world.settle();
    resolutions.push(...(await resolvedSince(s, looked)));
    looked = s.world.clock.now();
  }
  return resolutions;
}

test('a recorded pair of Alertmanagers: nothing resolves by mistake unless the sender says so, no duplicate Alert Group, nothing left open', async () => {
  const s = await Scenario.open(world(), {
    route: { group_key: GROUP_KEY },
    integration: { heartbeat: { enabled: true, timeout_seconds: 300 } },
  });
  const lines = readRecording('alertmanager-pair.jsonl.gz');
  const time = (at: Micros) => s.begin + at * STRETCH;
  const truth = new Truth(lines, time);

  const resolutions = await replay(s, lines, time);

  const mistaken = resolutions.filter(({ labels, at }) =>
    truth.firedThroughout(labels, { from: at - NEWS, until: at }),
  );
  const claims = claimsOf(lines, time);
  expect(mistaken.filter((one) => !isClaimed(one, claims))).toEqual([]);
  expect(mistaken).toHaveLength(SENDERS_MISTAKES);
  expect(new Set(resolutions.map(({ by }) => by))).toEqual(
    new Set(['own_entry', 'group_wide', 'gone', 'stale']),
  );

  const groups = (await s.groups()).filter(({ title }) => !title.startsWith('Svc'));
  expect(groups.filter(({ resolution }) => resolution?.by !== 'system')).toEqual([]);
  const opened = new Map<string, Json[]>();
  for (const group of groups) {
    const key = keyOf(group.common_labels, GROUP_KEY);
    opened.set(key, [...(opened.get(key) ?? []), group]);
  }
  const count = (found: ReadonlyMap<string, readonly unknown[]>) =>
    Object.fromEntries([...found].map(([key, all]) => [key, all.length]));
  expect(count(opened)).toEqual(count(truth.spells(GROUP_KEY, REOPEN_WINDOW)));
  for (const ofKey of opened.values()) expectOneAfterAnother(ofKey);
  const { items } = await s.admin.get(`/integrations/${s.sender().id}/alerts?state=firing`);
  expect(items).toEqual([]);
  await s.close();
}, 180_000);
