import { describe, expect, it } from 'vitest';
import type { Query } from '../../api/client.ts';
import type { Integration, Route } from '../../api/shapes.ts';
import { type Facts, hasGroups, mayAny, readFirstRun, stepsOf, writeFirstRun } from './first-run.ts';

const sender = (id: string, fields: { snapshot?: string; signal?: string; builtin?: boolean } = {}) =>
  ({
    id,
    builtin: fields.builtin ?? false,
    last_snapshot_at: fields.snapshot ?? null,
    heartbeat: { last_signal_at: fields.signal ?? null },
  }) as Integration;
const route = (is_default: boolean, ...destination_ids: string[]) =>
  ({ is_default, destination_ids }) as unknown as Route;

const AT = '2026-01-01T00:00:00Z';
const NEW: Facts = {
  integrations: [sender('IN0', { builtin: true, snapshot: AT }), sender('IN1')],
  hasGroups: false,
  routes: [route(true)],
  admins: 1,
  hasKeyBackup: false,
};
const everything = () => true;
const done = (change: Partial<Facts>) =>
  stepsOf({ ...NEW, ...change }, everything).flatMap(({ name, isDone }) => (isDone ? [name] : []));

describe('the first steps', () => {
  it.each<[string, Partial<Facts>, readonly string[]]>([
    ['a new installation', {}, []],
    ['what nobody may read', { integrations: null, hasGroups: null, routes: null, admins: null }, []],
    ['a Heartbeat', { integrations: [sender('IN1', { signal: AT })] }, ['sender']],
    ['a Snapshot without Alerts', { integrations: [sender('IN1', { snapshot: AT })] }, ['sender']],
    ['an Alert', { integrations: [sender('IN1', { snapshot: AT })], hasGroups: true }, ['sender', 'alert']],
    ['an Internal alert is none of a sender', { hasGroups: true }, []],
    ['a Route of its own', { routes: [route(true), route(false)] }, ['route']],
    ['a Default route that is posted', { routes: [route(true, 'DS1')] }, ['route', 'destination']],
    ['a second administrator', { admins: 2 }, ['admin']],
    ['a backup that the person knows of', { hasKeyBackup: true }, ['keys']],
  ])('after %s', (_, change, expected) => {
    expect(done(change)).toEqual(expected);
  });

  it('are those that the person may do', () => {
    const may = (permission: string) => permission === 'routes:write';
    expect(stepsOf(NEW, may).map(({ name }) => name)).toEqual(['route']);
    expect(mayAny(may)).toBe(true);
    expect(mayAny(() => false)).toBe(false);
  });

  it('lead to the only sender where there is one', () => {
    const hrefs = (integrations: readonly Integration[]) =>
      stepsOf({ ...NEW, integrations }, everything)
        .slice(0, 2)
        .map(({ href }) => href);
    expect(hrefs([sender('IN1')])).toEqual(['/integrations/IN1', '/integrations/IN1']);
    expect(hrefs([])).toEqual(['/integrations/new', '/integrations']);
    expect(hrefs([sender('IN1'), sender('IN2')])).toEqual(['/integrations/new', '/integrations']);
  });
});

describe('whether there are Alert Groups', () => {
  const answered = async (items: readonly string[], next_cursor: string | null = null) => {
    let asked: Query = {};
    const answer = await hasGroups(async (query) => {
      asked = query;
      return { ok: true, value: { items: items as never, next_cursor }, etag: null };
    });
    return [asked, answer.ok && answer.value];
  };

  it('is asked of all time and of every status', async () => {
    const [asked] = await answered([]);
    expect(asked).toEqual({
      status: ['firing', 'acknowledged', 'snoozed', 'resolved'],
      from: '1970-01-01T00:00:00.000Z',
    });
  });

  it.each<[boolean, readonly string[], string | null]>([
    [false, [], null],
    [true, ['one'], 'more'],
    [true, [], 'more'],
  ])('is %s for %j and the cursor %s', async (expected, items, cursor) => {
    expect((await answered(items, cursor))[1]).toBe(expected);
  });
});

describe('what the browser keeps of them', () => {
  const store = (content: string | null) => {
    const kept = { content };
    return {
      kept,
      getItem: () => kept.content,
      setItem: (_: string, value: string) => {
        kept.content = value;
      },
    };
  };

  it('is what was written', () => {
    const storage = store(null);
    writeFirstRun(storage, { phase: 'begun', hasKeyBackup: true });
    expect(readFirstRun(storage)).toEqual({ phase: 'begun', hasKeyBackup: true });
  });

  it.each([null, '{', 'null', '7', '{"phase":"x","hasKeyBackup":1}'])(
    'is nothing when it is foreign: %s',
    (content) => {
      expect(readFirstRun(store(content))).toEqual({ phase: 'unknown', hasKeyBackup: false });
    },
  );
});
