/** What a feed tells Alert Groups: the worked examples of ingestion §15 as far as a feed decides them. */
import { beforeEach, describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '../../runtime/clock.ts';
import type { SnapshotPart } from '../alert-group/messages.ts';
import { FeedUnderTest, GROUP, resolvedHome, S1, T } from './feed.fixture.ts';
import type { Home } from './ports.ts';

let feed: FeedUnderTest;

beforeEach(() => {
  feed = new FeedUnderTest();
});

const told = (part: SnapshotPart | undefined) => ({
  firing: part?.firing.map(({ report }) => report.fingerprint) ?? [],
  resolved: part?.resolved.map(({ fingerprint }) => fingerprint) ?? [],
  groupWide: part?.groupWideResolved ?? [],
  presences: part?.presences.map(({ fingerprint, state }) => `${fingerprint} ${state}`) ?? [],
});
const QUIET = { firing: [], resolved: [], groupWide: [], presences: [] };

describe('firing entries', () => {
  it('of new Alerts are told with Static labels, severity and Slot (#1)', async () => {
    const { parts, report } = await feed.hear(0, 'A+ B+');
    expect(parts).toHaveLength(1);
    expect(parts[0]?.firing[0]).toMatchObject({
      report: {
        fingerprint: 'A',
        labels: { alertname: 'DiskFull', instance: 'db-a', cluster: 'b' },
        severityLevel: 'info',
        labelConflicts: [],
      },
      slot: { groupLabels: { alertname: 'DiskFull' } },
      history: null,
    });
    expect(report).toMatchObject({ alerts: 2, counts: { fired: 2 }, error: null });
  });

  it('start the group that their Slot names only now', async () => {
    feed.fresh.add(GROUP);
    expect((await feed.hear(0, 'A+')).toNew).toEqual([GROUP]);
    feed.fresh.clear();
    expect((await feed.hear(1, 'A+ B+')).toNew).toEqual([]);
  });

  it('repeated inside the window change nothing and ask nothing (#2)', async () => {
    await feed.hear(0, 'A+ B+');
    expect(await feed.hear(15, 'B+ A+')).toMatchObject({ parts: [], unchanged: true, asked: false });
  });

  it('repeated later only open a window (#3)', async () => {
    await feed.hear(0, 'A+');
    const repeat = await feed.hear(600, 'A+');
    expect(repeat).toMatchObject({ parts: [], unchanged: false, asked: false });
    expect(feed.state.context.windowStart).toBe(T + 600 * SECOND);
  });

  it('are told once when they change (#25), and as Continuation with a later start (#10)', async () => {
    await feed.hear(0, 'A+ B+', { summary: 'x' });
    const changed = await feed.hear(60, 'A+ B+', { summary: 'y' });
    expect(told(changed.parts[0]).firing).toEqual(['A', 'B']);
    const continued = await feed.hear(120, 'A+1 B+', { summary: 'y' });
    expect(told(continued.parts[0]).firing).toEqual(['A']);
    expect(continued.report.counts.continued).toBe(1);
    expect((await feed.hear(180, 'A+1 B+', { summary: 'y' })).parts).toEqual([]);
  });

  it('are told again after Static labels changed', async () => {
    await feed.hear(0, 'A+');
    const [integration] = feed.directory.integrationsById.values();
    feed.directory = {
      ...feed.directory,
      integrationsById: new Map([
        ['NT0000000000AB', { ...integration!, staticLabels: { cluster: 'c', instance: 'z' } }],
      ]),
    };
    const { parts } = await feed.hear(1, 'A+');
    expect(parts[0]?.firing[0]?.report).toMatchObject({
      labels: { cluster: 'c', instance: 'db-a' },
      labelConflicts: ['instance'],
    });
  });

  it('follow an Alert to where it fires already, and are no new firing there (#35)', async () => {
    const elsewhere = 'AG0000000000ZZ' as typeof GROUP;
    feed.homes.set('A', {
      groupId: elsewhere,
      live: true,
      history: { state: 'firing', startsAt: T, endedStart: null, resolvedAt: null, resolvedBy: null },
    });
    const { report } = await feed.hear(0, 'A+');
    expect(report.counts.fired).toBe(0);
    expect(feed.rows.get('A')?.groupId).toBe(elsewhere);
  });

  it('carry the record of the last firing to another Alert Group', async () => {
    feed.homes.set('A', {
      groupId: 'AG0000000000ZZ' as typeof GROUP,
      live: false,
      history: { state: 'resolved', startsAt: 1, endedStart: 1, resolvedAt: 2, resolvedBy: 'gone' },
    });
    const { parts } = await feed.hear(0, 'A+');
    expect(parts[0]?.firing[0]?.history).toMatchObject({ resolvedBy: 'gone' });
    expect(feed.rows.get('A')?.groupId).toBe(GROUP);
  });
});

describe('resolved entries', () => {
  it('are told to the home, and again means nothing (#4, #5)', async () => {
    await feed.hear(0, 'A+ B+');
    const resolved = await feed.hear(60, 'A- B+');
    expect(told(resolved.parts[0])).toEqual({ ...QUIET, resolved: ['A'] });
    expect(resolved.report.counts.resolved).toBe(1);
    feed.end(60, 'A');
    for (const at of [120, 240]) {
      expect(await feed.hear(at, 'A- B+')).toMatchObject({ parts: [], report: { counts: { dropped: 0 } } });
    }
  });

  it('repeated inside the window are judged anew: another feed may have listed the Alert since', async () => {
    expect((await feed.hear(0, 'A- B+')).parts).toHaveLength(1);
    const { parts: nothing } = await feed.hear(10, 'A- B+');
    expect(nothing).toEqual([]);
    const history = { ...resolvedHome(0).history, state: 'firing' as const, endedStart: null };
    feed.homes.set('A', { ...resolvedHome(0), history });
    expect(told((await feed.hear(20, 'A- B+')).parts[0])).toEqual({ ...QUIET, resolved: ['A'] });
  });

  it('of an unknown Alert are dropped and counted (#6)', async () => {
    await feed.hear(0, 'B+');
    expect(await feed.hear(60, 'C- B+')).toMatchObject({ parts: [], report: { counts: { dropped: 1 } } });
  });

  it('followed by an old copy leave the Alert resolved, and by a later listing fire it anew (#8, #9)', async () => {
    await feed.hear(0, 'A+ B+');
    await feed.hear(60, 'A- B+');
    feed.end(60, 'A');
    expect((await feed.hear(90, 'A+ B+')).parts).toEqual([]);
    expect(await feed.hear(100, 'A+ B+')).toMatchObject({ parts: [], asked: true });
    const anew = await feed.hear(120, 'A+ B+');
    expect(told(anew.parts[0]).firing).toEqual(['A']);
    expect(anew.report.counts.fired).toBe(1);
  });

  it('that the home ignores do not lose the Alert: unlisted it is missed and gone (#12)', async () => {
    await feed.hear(0, 'A+');
    await feed.hear(300, 'A+1');
    expect(told((await feed.hear(301, 'A-')).parts[0]).resolved).toEqual(['A']);
    expect(told((await feed.hear(600, '')).parts[0]).presences).toEqual(['A missed']);
    expect(told((await feed.hear(900, '')).parts[0]).presences).toEqual(['A gone']);
  });
});

describe('a listing after an end that its home has not confirmed yet', () => {
  it('becomes an ordinary presence once the confirmation names an earlier listing', async () => {
    await feed.hear(0, 'A+ B+');
    await feed.hear(60, 'A- B+');
    expect(told((await feed.hear(120, 'A+1 B+')).parts[0]).firing).toEqual(['A']);
    feed.end(0, 'A');
    await feed.hear(180, 'A+1 B+');
    expect(await feed.hear(240, 'A+1 B+')).toMatchObject({ parts: [] });
    expect(feed.state.value).toBe('steady');
    expect(await feed.hear(250, 'A+1 B+')).toMatchObject({ parts: [], unchanged: true });
    expect((await feed.hear(300, 'A-1 B+')).report.counts.resolved).toBe(1);
  });

  it('is sent again while another end of it is pending', async () => {
    await feed.hear(0, 'A+ B+');
    await feed.hear(60, 'A- B+');
    await feed.hear(120, 'A+1 B+');
    await feed.hear(180, 'A-1 B+');
    feed.end(0, 'A');
    for (const at of [240, 300]) {
      expect(told((await feed.hear(at, 'A+1 B+')).parts[0]).firing).toEqual(['A']);
    }
  });
});

describe('entries with an older start than the presence', () => {
  it.each([
    ['inside the window', 10],
    ['in a later window', 400],
  ])('neither move it back nor end it, %s', async (_, pause) => {
    await feed.hear(0, 'A+1');
    await feed.hear(pause, 'A+');
    expect(feed.rows.get('A')).toMatchObject({ state: 'listed', startsAt: S1 });
    const { parts, report } = await feed.hear(2 * pause, 'A-', { group: 'resolved' });
    expect(parts.flatMap(({ withdrawn }) => withdrawn)).toEqual([]);
    expect(report.counts.resolved).toBe(0);
    expect(feed.rows.get('A')?.startsAt).toBe(S1);
  });

  it('leave the end to an entry with the present start', async () => {
    await feed.hear(0, 'A+1');
    await feed.hear(60, 'A+');
    const { parts } = await feed.hear(120, 'A-1');
    expect(parts[0]?.withdrawn).toMatchObject([{ fingerprint: 'A' }]);
  });
});

describe('absence', () => {
  it('is concluded from a repeat inside the window, too, once it is long enough', async () => {
    await feed.hear(0, 'A+ C+');
    await feed.hear(60, 'A+');
    expect((await feed.hear(359, 'A+')).parts).toEqual([]);
    expect(told((await feed.hear(361, 'A+')).parts[0]).presences).toEqual(['C gone']);
  });

  it('begins with a Snapshot that calls the group resolved and names an older start', async () => {
    await feed.hear(0, 'A+1');
    expect(told((await feed.hear(60, 'A-', { group: 'resolved' })).parts[0])).toEqual({
      ...QUIET,
      ...{ resolved: ['A'], presences: ['A missed'] },
    });
  });

  it('is gone five minutes after the first miss (#13)', async () => {
    await feed.hear(0, 'A+ B+ C+');
    expect(told((await feed.hear(60, 'A+ B+')).parts[0])).toEqual({ ...QUIET, presences: ['C missed'] });
    expect((await feed.hear(120, 'A+ B+')).parts).toEqual([]);
    const gone = await feed.hear(360, 'A+ B+');
    expect(told(gone.parts[0])).toEqual({ ...QUIET, presences: ['C gone'] });
    expect(gone.report.counts.gone).toBe(1);
    expect(await feed.hear(420, 'A+ B+')).toMatchObject({ parts: [] });
  });

  it('counts both Snapshots of a window as one (#14, #15)', async () => {
    await feed.hear(0, 'A+ C+');
    expect((await feed.hear(20, 'A+')).parts).toEqual([]);
    expect(told((await feed.hear(80, 'A+')).parts[0]).presences).toEqual(['C missed']);
    expect(told((await feed.hear(95, 'A+ C+')).parts[0])).toEqual({ ...QUIET, firing: ['C'] });
    expect(feed.rows.get('C')?.state).toBe('listed');
  });

  it('starts over after a listing (#16)', async () => {
    await feed.hear(0, 'A+ C+');
    await feed.hear(60, 'A+');
    await feed.hear(120, 'A+ C+');
    expect(told((await feed.hear(400, 'A+')).parts[0]).presences).toEqual(['C missed']);
  });

  it('is not concluded from short lists soon made good (#17)', async () => {
    const all = Array.from({ length: 10 }, (_, index) => `N${index}+`);
    await feed.hear(0, all.join(' '));
    await feed.hear(600, all.slice(0, 3).join(' '));
    await feed.hear(660, all.slice(0, 9).join(' '));
    await feed.hear(720, all.join(' '));
    expect([...feed.rows.values()].every(({ state }) => state === 'listed')).toBe(true);
    expect(feed.rows.size).toBe(10);
  });

  it('is not concluded while the sender cuts its list (#21)', async () => {
    await feed.hear(0, 'A+ B+ C+');
    for (const at of [60, 400]) {
      expect(await feed.hear(at, 'A+ B+', { truncated: 1 })).toMatchObject({ parts: [] });
      expect(feed.state.value).toBe('truncated');
    }
    expect(told((await feed.hear(700, 'A+ B+')).parts[0]).presences).toEqual(['C missed']);
    expect(feed.state.value).toBe('moving');
    expect(told((await feed.hear(1000, 'A+ B+')).parts[0]).presences).toEqual(['C gone']);
  });

  it('is not concluded in a window that holds a cut list', async () => {
    await feed.hear(0, 'A+ C+');
    await feed.hear(60, 'A+');
    await feed.hear(400, 'A+', { truncated: 1 });
    expect((await feed.hear(410, 'A+')).parts).toEqual([]);
  });
});

describe('a group-wide resolve', () => {
  it('ends what it does not list, and the next listing is told (#18, #19)', async () => {
    const all = Array.from({ length: 20 }, (_, index) => `N${index}`);
    await feed.hear(0, all.map((name) => `${name}+`).join(' '));
    const ending = await feed.hear(
      60,
      all
        .slice(0, 6)
        .map((name) => `${name}-`)
        .join(' '),
      { group: 'resolved' },
    );
    expect(told(ending.parts[0])).toEqual({ ...QUIET, resolved: all.slice(0, 6), groupWide: all.slice(6) });
    feed.end(60, ...all);
    feed.homes.clear();
    expect(told((await feed.hear(120, 'N7+')).parts[0]).firing).toEqual(['N7']);
  });

  const over = { group: 'resolved' } as const;

  it.each([
    ['that is repeated by a lagging instance (#40)', ['A+', 'A- over', 'X+'], 'A-', []],
    ['in another order, of several Alerts', ['A+ B+', 'A- B- over', 'X+'], 'B- A-', []],
    ['whose ends were named by several Snapshots', ['A+ B+', 'A- B+', 'B- over', 'X+'], 'A- B-', []],
    ['after the sender repeated the firing, too', ['A+', 'A- over', 'A+', 'X+ A+'], 'A-', []],
    ['of an older start, after the Alert fired anew', ['A+', 'A- over', 'A+1 X+'], 'A-', []],
    ['of what was never listed', ['X+'], 'C-', []],
    ['with a newer end among those known', ['A+', 'A- over', 'X+ A+1'], 'A-1', ['X']],
    ['with an end of its own beside a known one', ['A+ B+', 'A- B+', 'X+ B+'], 'A- B-', ['X']],
    ['of a part of what fires', ['A+ B+ X+'], 'A- B-', ['X']],
    ['without a name', ['A+', ' over', 'X+'], '', ['X']],
  ])('%s', async (_, before, final, groupWide) => {
    for (const [index, said] of before.entries()) {
      const entries = said.replace(' over', '');
      const { parts } = await feed.hear(index * 100, entries, said === entries ? {} : over);
      const ended = parts.flatMap((part) => [...told(part).resolved, ...told(part).groupWide]);
      if (ended.length > 0) feed.end(index * 100, ...ended);
    }
    const { parts } = await feed.hear(before.length * 100, final, over);
    expect(parts.flatMap((part) => told(part).groupWide)).toEqual(groupWide);
    const withdrawn = parts.flatMap((part) => (part.withdrawn ?? []).map(({ fingerprint }) => fingerprint));
    expect(withdrawn.includes('X')).toBe(groupWide.length > 0);
  });

  it('repeated before its home confirmed the end leaves what began meanwhile', async () => {
    await feed.hear(0, 'A+');
    await feed.hear(60, 'A-', over);
    await feed.hear(61, 'X+');
    expect(told((await feed.hear(62, 'A-', over)).parts[0]).groupWide).toEqual([]);
    expect(feed.rows.get('X')?.state).toBe('listed');
  });

  it.each([
    ['does, too, when what it names ended elsewhere before', ['A-'], ['X']],
    ['does not when it is repeated', ['A-', 'A-'], []],
    ['does not when the Alert was named before with a newer start', ['A-1', 'A-'], []],
  ])('%s', async (_, finals, groupWide) => {
    await feed.hear(0, 'A+');
    if (finals.length === 1) await feed.hear(60, 'A+ X+');
    feed.end(90, 'A');
    let ended: readonly string[] = [];
    for (const [index, final] of finals.entries()) {
      const { parts } = await feed.hear(100 + index * 100, final, over);
      ended = parts.flatMap((part) => told(part).groupWide);
      if (index < finals.length - 1) await feed.hear(150 + index * 100, 'X+');
    }
    expect(ended).toEqual(groupWide);
  });

  it('that repeats another begins the miss of what it leaves out', async () => {
    await feed.hear(0, 'A+');
    await feed.hear(60, 'A-', over);
    feed.end(60, 'A');
    await feed.hear(120, 'X+');
    expect(told((await feed.hear(180, 'A-', over)).parts[0]).presences).toEqual(['X missed']);
    await feed.hear(240, 'X+');
    expect(feed.rows.get('X')?.state).toBe('listed');
  });

  it('ends truncation', async () => {
    await feed.hear(0, 'A+', { truncated: 2 });
    await feed.hear(60, 'A-', { truncated: 2, group: 'resolved' });
    expect(feed.state.value).not.toBe('truncated');
  });
});

describe('Snapshots out of order', () => {
  it('a little early still resolve (#22)', async () => {
    await feed.hear(2, 'A+');
    const { parts } = await feed.hear(1, 'A-', { group: 'resolved' });
    expect(parts[0]?.late).toBe(false);
    expect(told(parts[0]).resolved).toEqual(['A']);
    expect(feed.state.context.windowStart).toBe(T + 2 * SECOND);
  });

  it('late hand on resolved entries only, of what no newer one lists', async () => {
    await feed.hear(0, 'A+ C+');
    await feed.hear(600, 'C+');
    const { parts } = await feed.hear(100, 'A- B+ C-', { group: 'resolved', truncated: 3 });
    expect(parts[0]?.late).toBe(true);
    expect(told(parts[0])).toEqual({ ...QUIET, resolved: ['A'] });
    expect(feed.state.value).toBe('moving');
    expect(feed.rows.has('B')).toBe(false);
  });
});

describe('an Alert that another feed ended', () => {
  it('is told when it is listed again, although this feed says what it always said', async () => {
    await feed.hear(0, 'A+');
    feed.end(30, 'A');
    const { parts } = await feed.hear(120, 'A+');
    expect(told(parts[0]).firing).toEqual(['A']);
  });

  it('is told when it comes back after a miss, although its firing ended in between', async () => {
    await feed.hear(0, 'A+ B+');
    await feed.hear(60, 'B+');
    // F2's resolve of +90 is known to the home alone when this feed lists the Alert again.
    const { parts } = await feed.hear(120, 'A+ B+');
    expect(told(parts[0])).toEqual({ ...QUIET, firing: ['A'] });
    feed.end(90, 'A');
    expect(feed.rows.get('A')).toMatchObject({ state: 'listed', since: T + 120 * SECOND });
    feed.end(120, 'A');
    expect(told((await feed.hear(600, 'A+ B+')).parts[0]).firing).toEqual(['A']);
  });

  it('stays present when this feed told of a newer firing since', async () => {
    await feed.hear(0, 'A+');
    await feed.hear(120, 'A+1');
    feed.end(90, 'A');
    expect(feed.rows.has('A')).toBe(true);
  });

  it('is told with every listing while its end may be under way here, and counts from the first of them', async () => {
    await feed.hear(0, 'A+1');
    await feed.hear(60, 'A-1');
    for (const at of [61, 62]) {
      expect(told((await feed.hear(at, 'A+')).parts[0])).toEqual({ ...QUIET, firing: ['A'] });
    }
    feed.end(61, 'A');
    expect(feed.rows.get('A')).toMatchObject({
      state: 'listed',
      since: T + 62 * SECOND,
      startsAt: S1 - MINUTE,
    });
  });

  it('stays present when this feed listed it anew since', async () => {
    await feed.hear(60, 'A+');
    feed.end(30, 'A');
    expect(feed.rows.has('A')).toBe(true);
  });
});

describe('a feed that relies on what no Alert Group holds', () => {
  const fires = (groupId: typeof GROUP): Home => ({
    groupId,
    live: true,
    history: { state: 'firing', startsAt: T, endedStart: null, resolvedAt: null, resolvedBy: null },
  });

  it('tells it again with the first window after a quarter of an hour', async () => {
    await feed.hear(0, 'A+ B+');
    feed.homes.set('A', fires(GROUP));
    // What was told of B was set aside as a defect.
    expect(await feed.hear(600, 'A+ B+')).toMatchObject({ parts: [], asked: false });
    const healed = await feed.hear(900, 'A+ B+');
    expect(told(healed.parts[0])).toEqual({ ...QUIET, firing: ['B'] });
    expect([feed.state.value, feed.rows.size]).toEqual(['steady', 2]);
    expect(await feed.hear(910, 'A+ B+')).toMatchObject({ parts: [], unchanged: true, asked: false });
  });

  it('tells nothing when all is as it was told, and repeats inside windows ask nothing', async () => {
    await feed.hear(0, 'A+');
    feed.homes.set('A', fires('AG0000000000ZZ' as typeof GROUP));
    expect(await feed.hear(44, 'A+')).toMatchObject({ unchanged: true, asked: false });
    expect(await feed.hear(900, 'A+')).toMatchObject({
      parts: [],
      asked: true,
      report: { counts: { fired: 0 } },
    });
    expect(await feed.hear(944, 'A+')).toMatchObject({ unchanged: true, asked: false });
    expect(await feed.hear(1799, 'A+')).toMatchObject({ parts: [], asked: false });
    expect(await feed.hear(1844, 'A+')).toMatchObject({ parts: [], asked: true });
  });

  it('lets an Alert fire anew whose end it was never told', async () => {
    await feed.hear(0, 'A+');
    feed.homes.set('A', resolvedHome(60));
    const anew = await feed.hear(900, 'A+');
    expect(told(anew.parts[0]).firing).toEqual(['A']);
    expect(anew.report.counts.fired).toBe(1);
  });

  it('forgets one of which it hears an old copy', async () => {
    await feed.hear(0, 'A+ B+');
    feed.homes.set('B', fires(GROUP));
    feed.homes.set('A', resolvedHome(890));
    expect(await feed.hear(900, 'A+ B+')).toMatchObject({ parts: [] });
    expect([...feed.rows.keys()]).toEqual(['B']);
    expect(told((await feed.hear(945, 'A+ B+')).parts[0]).firing).toEqual(['A']);
  });
});

describe('an empty Snapshot', () => {
  it('is processed (#26)', async () => {
    expect(await feed.hear(0, '')).toMatchObject({ parts: [], report: { alerts: 0, error: null } });
  });
});

describe('a deleted Integration', () => {
  it('makes the Snapshot fail and changes nothing, once all that was before is done with', async () => {
    feed.configure({ deleted: true, deletedAt: T + 100 * SECOND, ended: true });
    const { report, parts, unchanged } = await feed.hear(0, 'A+');
    expect(report.error).toBe('the Integration was deleted');
    expect({ parts, unchanged }).toEqual({ parts: [], unchanged: true });
    expect((await feed.hear(0, 'A+', { replayed: true })).report.error).toBeNull();
  });

  it('still takes what was received before, and nothing after', async () => {
    feed.configure({ deleted: true, deletedAt: T + 10 * SECOND });
    expect(told((await feed.hear(9, 'A+')).parts[0]).firing).toEqual(['A']);
    const { report, parts } = await feed.hear(11, 'A- B+');
    expect([report.error, parts]).toEqual(['the Integration was deleted', []]);
  });
});

describe('a replay', () => {
  it('of what was processed hands on resolved entries only, counts nothing and teaches nothing (#29)', async () => {
    await feed.hear(0, 'A+ B+');
    await feed.hear(60, 'A+');
    const state = feed.state;
    const again = await feed.hear(600, 'A- B- C- D+', {
      replayed: true,
      truncated: 3,
      reason: 'repeat interval elapsed',
    });
    expect(told(again.parts[0])).toEqual({ ...QUIET, resolved: ['B'] });
    expect(again).toMatchObject({ told: [], report: { late: true, counts: { resolved: 0, dropped: 0 } } });
    expect([feed.state.value, feed.state.context]).toEqual([state.value, state.context]);
  });
});

describe('a repeat', () => {
  const REPEAT = { reason: 'repeat interval elapsed' };
  const sample = (since: number, gap: number, at: number) => ({
    type: 'sample',
    routePath: '{}/{team="db"}',
    gap: gap * SECOND,
    since: T + since * SECOND,
    at: T + at * SECOND,
  });
  /** What the Integration receives when Snapshots arrive at these seconds. */
  async function toldOf(times: readonly number[], text = 'A+') {
    const messages = [];
    for (const at of times) messages.push(...(await feed.hear(at, text)).told);
    return messages;
  }

  it('that says so is told to the Integration with the next one, whatever they list (#3)', async () => {
    expect((await feed.hear(0, 'A+', { reason: 'first notification' })).told).toEqual([]);
    expect((await feed.hear(15, 'A+', REPEAT)).told).toEqual([]);
    expect((await feed.hear(600, 'A+', REPEAT)).told).toEqual([]);
    expect((await feed.hear(1_200, 'A+ B+', REPEAT)).told).toEqual([sample(0, 600, 1_200)]);
    expect((await feed.hear(1_210, 'A+ B+', REPEAT)).told).toEqual([]);
    expect((await feed.hear(1_300, 'A+ B+', { reason: 'new alerts added' })).told).toEqual([]);
    expect((await feed.hear(1_900, 'A+ B+', REPEAT)).told).toEqual([]);
  });

  it('without a reason is known by the same Alerts in the same states as the opener before', async () => {
    await feed.hear(0, 'A+ B+');
    expect((await feed.hear(300, 'B+1 A+', { summary: 'other words' })).told).toEqual([]);
    expect((await feed.hear(600, 'A+1 B+1')).told).toEqual([sample(0, 300, 600)]);
    expect((await feed.hear(900, 'A+ B-')).told).toEqual([]);
    expect((await feed.hear(1_200, 'A+')).told).toEqual([]);
    expect((await feed.hear(1_500, 'A+')).told).toEqual([]);
  });

  it('is none when something changed within a window: the same list later says that it changed back', async () => {
    for (const at of [0, 60, 120, 180, 240]) {
      expect((await feed.hear(at, 'A+')).told).toEqual([]);
      await feed.hear(at + 30, 'A-');
    }
  });

  it.each([
    ['alike by a fifth of the longer', [0, 480, 1_080], [sample(0, 600, 1_080)]],
    ['in falling order as well', [0, 600, 1_080], [sample(0, 600, 1_080)]],
    ['not alike by more', [0, 479, 1_079], []],
    ['of a restart, which no gap is alike (#41)', [0, 75, 675], []],
    ['after a restart, once the rhythm is back (#41)', [0, 75, 675, 1_275], [sample(75, 600, 1_275)]],
    ['of restarts at no rhythm (#42)', [0, 75, 200, 420, 500, 4_100], []],
    ['of a post whose answer was lost (#43)', [0, 600, 660, 1_200], []],
  ])('comes after gaps %s', async (_, times, expected) => {
    expect(await toldOf(times)).toEqual(expected);
  });

  it('is none when a list of its windows is cut', async () => {
    const samples = async (at: number, given: object = {}) =>
      (await feed.hear(at, 'A+', { ...REPEAT, ...given })).told.filter(({ type }) => type === 'sample');
    await toldOf([0, 600]);
    expect(await samples(1_200, { truncated: 1 })).toEqual([]);
    expect(await samples(1_800)).toEqual([]);
    expect(await samples(2_400)).toEqual([sample(1_200, 600, 2_400)]);
    await samples(2_410, { truncated: 1 });
    expect(await samples(3_000)).toEqual([]);
  });

  it('is not told of late and early Snapshots', async () => {
    await feed.hear(600, 'A+');
    expect((await feed.hear(590, 'A+')).told).toEqual([]);
    expect((await feed.hear(100, 'A+')).told).toEqual([]);
  });

  it('is told no more often than is of use', async () => {
    let samples = 0;
    feed.configure({ duplicateWindowSeconds: 0 });
    for (let at = 0; at <= 2_000; at++) samples += (await feed.hear(at / 1_000, 'A+')).told.length;
    expect(samples).toBeGreaterThanOrEqual(9);
    expect(samples).toBeLessThanOrEqual(12);
  });
});

describe('a cut list', () => {
  const truncation = (truncated: boolean, at: number) => ({
    type: 'truncation',
    feed: 'NT0000000000AB.abc',
    routePath: '{}/{team="db"}',
    truncated,
    at: T + at * SECOND,
  });

  it('is told to the Integration once, and its end (#21)', async () => {
    expect((await feed.hear(0, 'A+ B+')).told).toEqual([]);
    expect((await feed.hear(60, 'A+', { truncated: 1 })).told).toEqual([truncation(true, 60)]);
    expect((await feed.hear(400, 'A+', { truncated: 2 })).told).toEqual([]);
    expect((await feed.hear(700, 'A+ B+')).told).toEqual([truncation(false, 700)]);
  });

  it('ends with a group-wide resolve, whatever that cuts', async () => {
    await feed.hear(0, 'A+', { truncated: 1 });
    const { told: said } = await feed.hear(60, 'A-', { truncated: 1, group: 'resolved' });
    expect(said).toEqual([truncation(false, 60)]);
  });

  it('ends by silence, and is told again when a Snapshot was faster', async () => {
    await feed.hear(0, 'A+', { truncated: 1 });
    expect(feed.fallSilent(2_000, { heardAt: 0, cutoff: 1, stale: false })).toMatchObject({
      parts: [],
      told: [],
    });
    expect(feed.state.value).toBe('moving');
    expect(feed.rows.get('A')?.state).toBe('listed');
    await feed.hear(2_100, 'A+', { truncated: 1 });
    expect(feed.fallSilent(2_200, { heardAt: 0, cutoff: 1, stale: false }).told).toEqual([
      truncation(true, 2_200),
    ]);
    expect(feed.state.value).toBe('truncated');
  });
});

describe('a silent feed', () => {
  it('loses its presences, which the homes are told as of the check (#30)', async () => {
    await feed.hear(0, 'A+ B+');
    const { parts } = feed.fallSilent(901, { heardAt: 0, cutoff: 1 });
    expect(told(parts[0])).toEqual({ ...QUIET, presences: ['A stale', 'B stale'] });
    expect(parts[0]).toMatchObject({ snapshotId: null, receivedAt: T + 901 * SECOND, late: false });
    expect(feed.rows.size).toBe(0);
    expect(feed.fallSilent(902, { heardAt: 0, cutoff: 1 })).toEqual({ parts: [], told: [], unchanged: true });
  });

  it('tells what it always said when it is heard again', async () => {
    await feed.hear(0, 'A+');
    feed.fallSilent(901, { heardAt: 0, cutoff: 1 });
    feed.homes.set('A', {
      ...resolvedHome(901),
      history: { ...resolvedHome(901).history, resolvedBy: 'stale' },
    });
    const back = await feed.hear(1_000, 'A+');
    expect(told(back.parts[0]).firing).toEqual(['A']);
    expect(back.report.counts.fired).toBe(1);
  });

  it('that was heard since the check looked keeps them', async () => {
    await feed.hear(0, 'A+');
    await feed.hear(900, 'A+');
    expect(feed.fallSilent(901, { heardAt: 0, cutoff: 1 })).toEqual({ parts: [], told: [], unchanged: true });
    expect(feed.rows.size).toBe(1);
  });

  it('loses what it missed before what it listed: counted from the last listing', async () => {
    await feed.hear(0, 'A+ B+');
    await feed.hear(600, 'B+');
    expect(feed.rows.get('A')).toMatchObject({ state: 'missed', listedAt: T + 45 * SECOND });
    const { parts } = feed.fallSilent(1_000, { heardAt: 600, cutoff: 100 });
    expect(told(parts[0]).presences).toEqual(['A stale']);
    expect([...feed.rows.keys()]).toEqual(['B']);
  });

  it('without a live Heartbeat loses only what it called over with an older start', async () => {
    await feed.hear(0, 'A+1 B+');
    await feed.hear(60, 'A- B+', { group: 'resolved' });
    const silence = { heardAt: 60, cutoff: 61, onlyOlderEnds: true } as const;
    expect(told(feed.fallSilent(90_061, silence).parts[0]).presences).toEqual(['A stale']);
    expect([...feed.rows.keys()]).toEqual(['B']);
  });

  it('with a cut list counts from its last Snapshot for all', async () => {
    await feed.hear(0, 'A+ B+');
    await feed.hear(600, 'B+');
    await feed.hear(700, 'B+', { truncated: 1 });
    expect(feed.fallSilent(1_000, { heardAt: 700, cutoff: 650 }).parts).toEqual([]);
    expect(feed.state.value).toBe('truncated');
    expect(told(feed.fallSilent(1_700, { heardAt: 700, cutoff: 701 }).parts[0]).presences).toEqual([
      'A stale',
      'B stale',
    ]);
  });
});
