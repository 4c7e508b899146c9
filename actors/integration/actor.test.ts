/**
 * What an Integration does as time passes: ingestion §6.4 to §6.6, §8 and §12, and the examples of ingestion §15
 * about them.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { HOUR, MINUTE, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { IntegrationUnderTest, T } from './integration.fixture.ts';
import { MOST_ROUTES } from './rows.ts';

let lab: IntegrationUnderTest;

beforeEach(() => {
  lab = new IntegrationUnderTest();
});

describe('a Heartbeat', () => {
  it('that is off records nothing and wakes once in 25 hours', async () => {
    await lab.configure({ on: false });
    await lab.signal(10);
    await lab.at(10 * 90_000);
    expect([lab.value, lab.wakes, lab.log]).toEqual(['not_configured', 10, []]);
  });

  it('without a signal waits for ever', async () => {
    await lab.configure();
    await lab.at(100_000);
    expect([lab.value, lab.wakes, lab.log]).toEqual(['waiting', 2, []]);
  });

  it('is lost once more than the timeout has passed since the last signal, and live with the next', async () => {
    await lab.configure();
    await lab.signals(0, 600);
    await lab.at(900);
    expect(lab.value).toBe('live');
    await lab.at(901);
    expect(lab.value).toBe('lost');
    await lab.signal(1_000);
    expect(lab.log).toEqual([
      '0 live',
      '900 raise SvcHeartbeatLost',
      '900 lost',
      '1000 resolve SvcHeartbeatLost',
      '1000 live',
    ]);
    expect(lab.records).toContainEqual(
      expect.objectContaining({ type: 'integration.saved', lostSince: T + 600 * SECOND }),
    );
    expect(lab.records.at(-1)).toMatchObject({ type: 'integration.saved', lostSince: null });
    expect(lab.records.find(({ type }) => type === 'internal_alert.recorded')).toMatchObject({
      entity: { name: 'lab' },
      labels: { env: 'prod' },
    });
    expect(lab.hints).toContain('system-status');
  });

  it('that is switched off while it is lost resolves its alert', async () => {
    await lab.configure();
    await lab.signal(0);
    await lab.at(400);
    await lab.configure({ on: false });
    expect(lab.log.slice(-3)).toEqual([
      '300 raise SvcHeartbeatLost',
      '300 lost',
      '400 resolve SvcHeartbeatLost',
    ]);
    expect(lab.value).toBe('not_configured');
  });

  it('takes a changed timeout from the next look on, and stays lost whatever it is', async () => {
    await lab.configure();
    await lab.signal(0);
    await lab.configure({ timeout: 60 });
    await lab.at(61);
    expect(lab.value).toBe('lost');
    await lab.configure({ timeout: 86_400 });
    await lab.at(200);
    expect(lab.value).toBe('lost');
  });

  it('ignores configuration that is older than what it knows', async () => {
    await lab.configure();
    await lab.configure({ on: false, version: 1 });
    expect(lab.value).toBe('waiting');
  });

  it('is not lost while a signal is stored that has not arrived, and counts from that one', async () => {
    await lab.configure();
    await lab.signal(0);
    lab.evidence = { ...lab.evidence, storedSignalAt: T + 240 * SECOND };
    await lab.at(301);
    expect(lab.value).toBe('live');
    await lab.at(541);
    expect(lab.value).toBe('lost');
    expect(lab.records.at(-1)).toMatchObject({ lostSince: T + 240 * SECOND });
  });

  it('is not lost by an outage of the service: silence counts from its end', async () => {
    await lab.configure();
    await lab.signal(0);
    lab.evidence = { ...lab.evidence, outages: [{ from: T + 250 * SECOND, to: T + 290 * SECOND }] };
    await lab.at(590);
    expect(lab.value).toBe('live');
    await lab.at(591);
    expect(lab.value).toBe('lost');
  });

  it('is not lost by an outage that is not on record yet', async () => {
    await lab.configure();
    await lab.signal(0);
    lab.evidence = { ...lab.evidence, markedAt: T + 264 * SECOND };
    await lab.at(301);
    expect(lab.value).toBe('live');
    lab.evidence = {
      ...lab.evidence,
      markedAt: T + 600 * SECOND,
      outages: [{ from: T + 264 * SECOND, to: T + 305 * SECOND }],
    };
    await lab.at(604);
    expect(lab.value).toBe('live');
    await lab.at(606);
    expect(lab.value).toBe('lost');
  });

  it('is lost at its timeout while the Leader gives signs of life, and by silence since an outage ended', async () => {
    await lab.configure();
    lab.evidence = { ...lab.evidence, outages: [{ from: T - 60 * SECOND, to: T - 10 * SECOND }] };
    await lab.signal(0);
    lab.evidence = { ...lab.evidence, markedAt: T + 281 * SECOND };
    await lab.at(301);
    expect(lab.value).toBe('lost');
  });
});

describe('Stale', () => {
  /** Heartbeat every minute, 300 s learned, one Alert listed at T. */
  async function silentSinceT(): Promise<void> {
    await lab.configure();
    await lab.signals(-300, 0);
    lab.hear('K', 0, 1);
    await lab.learn(300);
  }
  const staleAt = () => Number(lab.log.find((line) => line.includes('stale'))?.split(' ')[0]);

  it('comes after three learned intervals without a listing (#30)', async () => {
    await silentSinceT();
    await lab.signals(60, 1_200);
    expect(staleAt()).toBeGreaterThanOrEqual(900);
    expect(staleAt()).toBeLessThanOrEqual(930);
    expect(lab.log).toContain(`${staleAt()} silent K`);
    expect(lab.log).toContain(`${staleAt()} stale 1/1`);
  });

  it('does not count time without a Heartbeat (#31)', async () => {
    await silentSinceT();
    await lab.at(590);
    expect(lab.value).toBe('lost');
    await lab.signals(600, 1_800);
    expect(staleAt()).toBeGreaterThanOrEqual(1_500);
    expect(staleAt()).toBeLessThanOrEqual(1_530);
  });

  it('does not count an outage of the service, however short', async () => {
    await silentSinceT();
    const outages = [
      { from: T - 400 * SECOND, to: T - 200 * SECOND },
      { from: T + 30 * SECOND, to: T + 90 * SECOND },
      { from: T + 610 * SECOND, to: T + 790 * SECOND },
    ];
    await lab.signals(60, 600);
    lab.evidence = { ...lab.evidence, outages };
    await lab.signals(800, 1_400);
    expect(staleAt()).toBeGreaterThanOrEqual(1_140);
    expect(staleAt()).toBeLessThanOrEqual(1_170);
  });

  it('never comes without a Heartbeat (#32)', async () => {
    await lab.configure({ on: false });
    lab.hear('K', 0, 1);
    await lab.learn(300);
    await lab.at(30 * 3_600);
    expect(lab.log).toEqual([]);
    await lab.configure();
    await lab.at(60 * 3_600);
    expect(lab.log).toEqual([]);
  });

  it('waits 25 hours of live time while nothing is learned', async () => {
    await lab.configure();
    await lab.signal(-60);
    lab.hear('K', 0, 1, 'elsewhere');
    await lab.learn(300);
    await lab.signals(0, (25 * HOUR) / SECOND + 120);
    expect(staleAt()).toBeGreaterThanOrEqual((25 * HOUR) / SECOND);
    expect(staleAt()).toBeLessThanOrEqual((25 * HOUR + 30 * SECOND) / SECOND);
  });

  it('begins anew with every listing', async () => {
    await silentSinceT();
    for (let at = 60; at <= 3_000; at += 60) {
      await lab.signal(at);
      if (at % 300 === 0) lab.hear('K', at, 1);
    }
    expect(lab.log.filter((line) => line.includes('stale'))).toEqual([]);
    await lab.signals(3_060, 4_000);
    expect(staleAt()).toBeGreaterThanOrEqual(3_900);
    expect(staleAt()).toBeLessThanOrEqual(3_930);
  });

  it('comes for what is missed before what is listed', async () => {
    await silentSinceT();
    lab.feeds.set('K', { routePath: '{}/{team="db"}', heardAt: 600, alerts: [null, 0], olderEnds: 0 });
    await lab.signals(60, 1_200);
    expect(staleAt()).toBeGreaterThanOrEqual(900);
    expect(staleAt()).toBeLessThanOrEqual(930);
    expect(lab.log).toContain(`${staleAt()} stale 1/1`);
  });

  it('waits while a Snapshot waits that was received before', async () => {
    await silentSinceT();
    lab.waitingSince = 890;
    await lab.signals(60, 1_200);
    expect(lab.log).toEqual(['-300 live']);
    lab.waitingSince = null;
    await lab.signals(1_260, 1_320);
    expect(staleAt()).toBeLessThanOrEqual(1_230);
  });

  it('comes although Snapshots always wait', async () => {
    await silentSinceT();
    for (let at = 60; at <= 1_200; at += 60) {
      lab.waitingSince = at - 61;
      await lab.signal(at);
    }
    expect(staleAt()).toBeGreaterThanOrEqual(900);
    expect(staleAt()).toBeLessThanOrEqual(1_030);
  });

  it('waits for a Snapshot that turns up while the feeds are read', async () => {
    await silentSinceT();
    lab.turningUp = 800;
    await lab.signals(60, 1_200);
    expect(lab.log).toEqual(['-300 live']);
    lab.turningUp = null;
    await lab.signals(1_260, 1_320);
    expect(staleAt()).toBeLessThanOrEqual(1_230);
  });

  it('comes soon when less turns out to be enough', async () => {
    await lab.configure();
    await lab.signals(-300, 0);
    lab.hear('K', 0, 1);
    await lab.signals(60, 5_000);
    expect(lab.log).toEqual(['-300 live']);
    await lab.learn(600);
    await lab.signals(5_040, 5_100);
    expect(staleAt()).toBeLessThanOrEqual(5_040);
  });

  it('looks at its feeds no more often than something can become stale', async () => {
    await silentSinceT();
    for (let at = 60; at <= 36_000; at += 60) {
      await lab.signal(at);
      if (at % 300 === 0) lab.hear('K', at, 1);
    }
    expect(lab.wakes).toBeLessThan(100);
  });
});

describe('learned repeats', () => {
  it('are kept by route path', async () => {
    await lab.learn(600);
    await lab.learn(300);
    await lab.learn(4_000, 'other');
    expect([...lab.rows.routes.values()].map(({ path, interval }) => [path, interval / SECOND])).toEqual([
      ['{}/{team="db"}', 600],
      ['other', 4_000],
    ]);
    expect(lab.records.filter(({ type }) => type === 'integration.routes')).toHaveLength(3);
    // Only the one that makes a warning.
    expect(lab.hints).toEqual(['integration']);
  });

  it('are not learned from the single gaps that earlier releases send', async () => {
    await lab.learn(75, 'other', {});
    expect(lab.rows.routes.size).toBe(0);
  });

  it('never shorten what is learned across an outage, and lengthen it (#44)', async () => {
    const interval = () => (lab.rows.routes.get('{}/{team="db"}')?.interval ?? Number.NaN) / SECOND;
    const twoGaps = (gap: number, at: number) => ({ since: T + (at - 2 * gap) * SECOND });
    await lab.configure();
    await lab.signals(0, 600);
    await lab.at(1_000);
    expect(lab.value).toBe('lost');
    await lab.learn(500, undefined, twoGaps(500, 1_000));
    await lab.signal(1_010);
    await lab.learn(500, undefined, twoGaps(500, 1_010));
    expect(lab.rows.routes.size).toBe(0);
    await lab.signals(1_060, 2_020);
    await lab.learn(500, undefined, twoGaps(500, 2_020));
    expect(interval()).toBe(500);
    await lab.learn(400, undefined, twoGaps(520, 2_020));
    expect(lab.rows.routes.get('{}/{team="db"}')?.samples).toHaveLength(1);
    await lab.learn(900, undefined, twoGaps(900, 2_020));
    expect(interval()).toBe(900);
    await lab.at(2_400);
    expect(lab.value).toBe('lost');
    await lab.configure({ on: false });
    await lab.learn(200, undefined, twoGaps(200, 2_400));
    expect(lab.rows.routes.get('{}/{team="db"}')?.samples).toEqual(
      [500, 900, 200].map((gap) => gap * SECOND),
    );
  });

  it('are bounded: the route path that repeated itself longest ago makes room', async () => {
    for (let index = 0; index <= MOST_ROUTES; index++) {
      await lab.at(index);
      await lab.learn(300, `path ${index}`);
    }
    expect(lab.rows.routes.size).toBe(MOST_ROUTES);
    expect(lab.rows.routes.has('path 0')).toBe(false);
    expect(lab.records.at(-1)).toMatchObject({ removed: ['path 0'] });
  });
});

describe('an Alert whose end was named with an older start', () => {
  const HOURS_25 = 25 * 3_600;

  it.each([
    ['not_configured', async () => lab.configure({ on: false })],
    ['waiting', async () => lab.configure()],
    ['lost', async () => [await lab.configure(), await lab.signals(0, 600)]],
  ])('is stale 25 hours after the last Snapshot while the Heartbeat is %s, alone', async (value, begin) => {
    await begin();
    await lab.at(1_000);
    expect(lab.value).toBe(value);
    lab.hear('other', 1_000, 3);
    lab.hearOlderEnds('K', 1_010, 2);
    await lab.at(HOURS_25 + 1_010);
    expect(lab.log.filter((line) => line.includes('silent'))).toEqual([]);
    await lab.at(HOURS_25 + 1_040);
    expect(
      lab.log.filter((line) => /silent|stale/.test(line)).map((line) => line.replace(/^\d+ /, '')),
    ).toEqual(['silent K', 'stale 1/2']);
    await lab.at(3 * HOURS_25);
    expect(lab.log.filter((line) => line.includes('silent'))).toHaveLength(1);
  });

  it('counts by live time while the Heartbeat is live', async () => {
    await lab.configure();
    await lab.signal(0);
    await lab.learn(300);
    lab.hearOlderEnds('K', 0, 1);
    await lab.signals(60, 960);
    const [at = 0, ...others] = lab.log
      .filter((line) => line.includes('silent'))
      .map((line) => Number(line.split(' ')[0]));
    expect(others).toEqual([]);
    expect(at).toBeGreaterThanOrEqual(900);
    expect(at).toBeLessThanOrEqual(930);
  });

  it('is looked for at once when the Heartbeat is lost', async () => {
    await lab.configure();
    await lab.signal(0);
    lab.hearOlderEnds('K', 10 - HOURS_25, 1);
    await lab.at(300);
    expect(lab.log.filter((line) => line.includes('silent'))).toEqual([]);
    await lab.at(330);
    expect(lab.log.filter((line) => line.includes('silent'))).toEqual(['310 silent K']);
  });
});

describe('a cut list', () => {
  it('raises an alert while any feed has one (#21)', async () => {
    await lab.truncate('K1');
    await lab.truncate('K1');
    await lab.truncate('K2');
    await lab.truncate('K1', false);
    await lab.truncate('K3', false);
    expect(lab.log).toEqual(['0 raise SvcSnapshotTruncated']);
    await lab.truncate('K2', false);
    expect(lab.log.at(-1)).toBe('0 resolve SvcSnapshotTruncated');
    expect(lab.records.at(-1)).toMatchObject({ truncatedGroups: 0, truncatedSince: null });
  });

  it('ends by silence: with its presences while the Heartbeat is live', async () => {
    await lab.configure();
    await lab.signals(-300, 0);
    lab.hear('K', 0, 2);
    await lab.learn(300);
    await lab.truncate('K');
    await lab.signals(60, 1_200);
    const ends = lab.log
      .filter((line) => /silent|resolve|stale/.test(line))
      .map((line) => line.split(' ')[1]);
    expect(ends).toEqual(['silent', 'resolve', 'stale']);
    expect(lab.rows.truncated.size).toBe(0);
  });

  it('ends after 25 hours without a Heartbeat, and nothing is stale by that', async () => {
    await lab.configure({ on: false });
    lab.hear('K', 0, 2);
    await lab.truncate('K');
    await lab.at(25 * 3_600);
    expect(lab.log).toEqual(['0 raise SvcSnapshotTruncated']);
    await lab.at(25 * 3_600 + 30);
    expect(lab.log.slice(1).map((line) => line.split(' ').slice(1).join(' '))).toEqual([
      'silent K',
      'resolve SvcSnapshotTruncated',
    ]);
  });

  it('does not end by silence while the Heartbeat is lost', async () => {
    await lab.configure();
    await lab.signal(0);
    lab.hear('K', 0, 0);
    await lab.truncate('K');
    await lab.at(100_000);
    expect(lab.log.filter((line) => /silent/.test(line))).toEqual([]);
  });
});

describe('a deleted Integration', () => {
  const groups = ['AG0000000000A1', 'AG0000000000A2'] as PublicId[];

  it('resolves what fires once the Snapshots from before are processed', async () => {
    await lab.configure();
    await lab.truncate('K');
    await lab.learn(300);
    lab.leftovers = { isPending: true, groups: [] };
    await lab.delete();
    await lab.at(3);
    expect([lab.value, lab.log]).toEqual(['deleting', ['0 raise SvcSnapshotTruncated']]);
    lab.leftovers = { isPending: false, groups };
    await lab.at(3.5);
    expect(lab.log.slice(1).map((line) => line.split(' ').slice(1).join(' '))).toEqual(
      groups.map((group) => `integration_deleted ${group}`),
    );
    lab.leftovers = { isPending: false, groups: [] };
    await lab.at(10);
    expect([lab.value, lab.log.at(-1)?.split(' ')[1]]).toEqual(['settling', 'ended']);
    await lab.at(10 + (6 * MINUTE) / SECOND);
    expect([lab.value, lab.wakeAt, lab.rows.truncated.size, lab.rows.routes.size]).toEqual([
      'deleted',
      null,
      0,
      0,
    ]);
  });

  it('tells at once when nothing waits, and once more what arrives late', async () => {
    await lab.configure();
    lab.leftovers = { isPending: false, groups };
    await lab.delete();
    expect(lab.log).toEqual(groups.map((group) => `0 integration_deleted ${group}`));
    lab.leftovers = { isPending: false, groups: [] };
    await lab.at(5);
    expect(lab.value).toBe('settling');
    lab.leftovers = { isPending: false, groups: groups.slice(1) };
    await lab.at(302);
    expect(lab.log.filter((line) => line.includes('AG0000000000A2'))).toHaveLength(2);
    lab.leftovers = { isPending: false, groups: [] };
    await lab.at(1_000);
    expect(lab.value).toBe('deleted');
  });

  it('hears nothing any more and says nothing of alerts that its deletion resolved', async () => {
    await lab.configure();
    await lab.signal(0);
    await lab.at(400);
    await lab.delete();
    const said = lab.log.length;
    await lab.send({ type: 'signal', at: T + 401 * SECOND });
    await lab.truncate('K');
    await lab.learn(300);
    await lab.configure();
    await lab.at(2_000);
    expect(lab.log.slice(said).map((line) => line.split(' ')[1])).toEqual([]);
    expect([lab.value, lab.rows.truncated.size]).toEqual(['deleted', 0]);
  });
});
