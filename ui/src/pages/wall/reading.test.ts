import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Query } from '../../api/client.ts';
import type { AlertGroup, PageRequest } from '../../api/shapes.ts';
import { type GroupFilters, NO_FILTERS } from '../alert-group-list/filters.ts';
import { keepReading, moreOf, type Outcome, readTiles } from './reading.ts';

const NOW = Date.parse('2026-10-05T03:00:00Z');

type Fields = Partial<Pick<AlertGroup, 'status' | 'urgent' | 'severity_level'>>;

function group(id: string, fields: Fields = {}): AlertGroup {
  return { id, status: 'firing', urgent: false, severity_level: 'critical', ...fields } as AlertGroup;
}
const warning = (id: string, urgent = false) => group(id, { severity_level: 'warning', urgent });

/** Each list as its pages, by what is asked for; a cursor is the place of the page. What has none is empty. */
function service(pages: Readonly<Record<string, readonly (readonly AlertGroup[])[]>>) {
  const asked: string[] = [];
  const list = async (query: Query, { cursor, limit }: PageRequest) => {
    const name = [query.urgent === true ? 'urgent' : [], query.status ?? [], query.severity ?? []]
      .flat()
      .join(' ');
    asked.push(name);
    const all = pages[name] ?? [[]];
    const place = Number(cursor ?? 0);
    const items = (all[place] ?? []).slice(0, limit);
    const next_cursor = place + 1 < all.length ? String(place + 1) : null;
    return { ok: true, value: { items, next_cursor }, etag: null } as const;
  };
  const read = async (most: number, filters: Partial<GroupFilters> = {}) => {
    const answer = await readTiles(list, { ...NO_FILTERS, ...filters }, most, NOW);
    if (!answer.ok) throw new Error('refused');
    const { groups, ...known } = answer.value;
    return { ids: groups.map(({ id }) => id).join(' '), ...known };
  };
  return { asked, read };
}

const OPEN = ['firing critical', 'firing warning', 'firing info', 'acknowledged', 'snoozed'];

describe('pages that end early', () => {
  it('are followed before anything less urgent is read', async () => {
    const { asked, read } = service({
      'firing critical': [[], [group('1')], [], [group('2')]],
      'firing warning': [[warning('3')]],
    });
    expect(await read(3)).toEqual({ ids: '1 2 3', isWhole: false, isCalm: false });
    expect(asked).toEqual([...new Array(4).fill('firing critical'), 'firing warning']);
  });

  it('are followed in at most 8 requests, and nothing is read behind them', async () => {
    const { asked, read } = service({
      'firing critical': new Array(100).fill([]),
      'firing warning': [[warning('3')]],
    });
    expect(await read(3)).toEqual({ ids: '', isWhole: false, isCalm: false });
    expect(asked).toEqual(new Array(9).fill('firing critical'));
  });

  it('share those requests with the lists before', async () => {
    const { asked, read } = service({
      'firing critical': [[group('1')], [], [], [], [], []],
      'firing warning': new Array(100).fill([]),
    });
    expect(await read(3)).toMatchObject({ ids: '1', isWhole: false });
    expect(asked).toHaveLength(2 + 8);
  });

  it('of what somebody has leave nothing unknown about what fires', async () => {
    const { read } = service({ acknowledged: new Array(100).fill([]) });
    expect(await read(3)).toEqual({ ids: '', isWhole: false, isCalm: true });
  });
});

it('a reading to the end of each list is whole', async () => {
  const { asked, read } = service({});
  expect(await read(3)).toEqual({ ids: '', isWhole: true, isCalm: true });
  expect(asked).toEqual(OPEN);
});

it('a group that came into another list meanwhile is shown once', async () => {
  const { read } = service({ 'firing info': [[group('1')]], acknowledged: [[group('1')]] });
  expect(await read(3)).toMatchObject({ ids: '1', isWhole: true });
});

it('a refused page ends the reading', async () => {
  const problem = { status: 503 } as never;
  expect(await readTiles(async () => ({ ok: false, problem }), NO_FILTERS, 3, NOW)).toEqual({
    ok: false,
    problem,
  });
});

describe('what has no room', () => {
  const newer = [[warning('3'), warning('4')], [warning('5', true)]];

  it('is asked for Urgent ones', async () => {
    const { asked, read } = service({ 'firing warning': newer, 'urgent firing': [[warning('5', true)]] });
    expect(await read(2)).toEqual({ ids: '3 4', isWhole: false, isCalm: false });
    expect(asked).toEqual(['firing critical', 'firing warning', 'urgent firing']);
  });

  it('is calm without any', async () => {
    const { read } = service({ 'firing warning': newer });
    expect(await read(2)).toEqual({ ids: '3 4', isWhole: false, isCalm: true });
  });

  it('is not known to be calm when the answer ends early', async () => {
    const { asked, read } = service({ 'firing warning': newer, 'urgent firing': new Array(100).fill([]) });
    expect(await read(2)).toMatchObject({ isCalm: false });
    expect(asked).toHaveLength(3 + 8);
  });

  it.each<[string, Partial<GroupFilters>, string]>([
    ['a critical one is shown', {}, 'firing critical'],
    ['the view leaves Urgent ones out', { flags: { urgent: false } }, 'firing warning'],
    ['the view is about what does not fire', { tab: 'acknowledged' }, 'acknowledged'],
  ])('is not asked for them when %s', async (_, filters, name) => {
    const status = name === 'acknowledged' ? name : 'firing';
    const level = name === 'firing critical' ? 'critical' : 'warning';
    const { asked, read } = service({
      [name]: [[group('1', { status, severity_level: level })], [group('2')]],
    });
    expect(await read(1, filters)).toEqual({ ids: '1', isWhole: false, isCalm: level === 'warning' });
    expect(asked.some((query) => query.startsWith('urgent'))).toBe(false);
  });

  it('is not asked for while there is none', async () => {
    const { asked, read } = service({ 'firing info': [[warning('3')]], acknowledged: [[warning('4')]] });
    expect(await read(1)).toEqual({ ids: '3', isWhole: false, isCalm: true });
    expect(asked).toEqual(OPEN.slice(0, 3));
  });
});

it('counts say how many more the view has', () => {
  const counts = { firing: 5, acknowledged: 3, snoozed: 1, resolved: 40, all: 49 };
  expect(moreOf(NO_FILTERS, counts, 4)).toBe(5);
  expect(moreOf({ ...NO_FILTERS, notStatuses: ['snoozed'] }, counts, 8)).toBe(0);
  expect(moreOf(NO_FILTERS, counts, 10)).toBe(0);
  expect(moreOf({ ...NO_FILTERS, number: 7 }, counts, 1)).toBe(0);
});

describe('views in turn', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  /** What is read within so many seconds, each with the second. */
  async function readIn(seconds: number, outcomes: Readonly<Record<string, Outcome | 'throws'>>) {
    vi.useFakeTimers({ now: 0 });
    const asked: string[] = [];
    const stop = new AbortController();
    const read = async (view: string) => {
      asked.push(`${Date.now() / 1_000} ${view}`);
      const outcome = outcomes[view]!;
      if (outcome === 'throws') throw new TypeError('an answer of something else');
      return outcome;
    };
    const turns = { views: Object.keys(outcomes), secondsOfView: 10, read, pauseMs: () => 5_000 };
    void keepReading(turns, stop.signal);
    await vi.advanceTimersByTimeAsync(seconds * 1_000);
    stop.abort();
    return asked;
  }

  it('are read every 5 s for their time each, also when one is not answered', async () => {
    expect(await readIn(19, { a: 'read', b: 'failed' })).toEqual(['0 a', '5 a', '10 b', '15 b']);
  });

  it('are read on after a read that throws, which is reported', async () => {
    const reportError = vi.fn();
    vi.stubGlobal('reportError', reportError);
    expect(await readIn(14, { a: 'throws', b: 'read' })).toEqual(['0 a', '5 a', '10 b']);
    expect(reportError).toHaveBeenCalledTimes(2);
  });

  it('go on at once from one that the service refuses, which is tried again in its next turn', async () => {
    const asked = await readIn(24, { a: 'read', broken: 'refused', c: 'read' });
    expect(asked).toEqual(['0 a', '5 a', '10 broken', '10 c', '15 c', '20 a']);
  });

  it('are tried every 5 s when the service refuses all of them', async () => {
    expect(await readIn(9, { a: 'refused', b: 'refused' })).toEqual(['0 a', '0 b', '5 a', '5 b']);
    expect(await readIn(9, { a: 'refused' })).toEqual(['0 a', '5 a']);
  });
});
