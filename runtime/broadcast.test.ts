import { describe, expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '../test/fakes/manual-clock.ts';
import { createSignalsHub } from '../test/fakes/signals.ts';
import type { Announcement, AnnouncementPage, AnnouncementStore } from './broadcast/channels.ts';
import { type Broadcast, createBroadcast, noBroadcast } from './broadcast.ts';
import { type Clock, MINUTE, SECOND } from './clock.ts';
import { POLL_EVERY } from './placement/lease-times.ts';

/** Rows in memory, which may be away. */
function memoryStore() {
  const rows: Announcement[] = [];
  const store = {
    rows,
    appends: 0,
    reads: 0,
    isAway: false,
    isIncomplete: false,
    async append(added: readonly Announcement[]) {
      store.appends++;
      if (store.isAway) throw new Error('away');
      rows.push(...added.map((row) => structuredClone(row)));
    },
    async since(cursor): Promise<AnnouncementPage> {
      store.reads++;
      if (store.isAway) throw new Error('away');
      const { isIncomplete } = store;
      const next = { floor: rows.length, seen: new Map() };
      return { rows: cursor ? rows.slice(cursor.floor) : [], cursor: next, isIncomplete };
    },
  } satisfies AnnouncementStore & Record<string, unknown>;
  return store;
}

function installation() {
  const hub = createSignalsHub();
  const store = memoryStore();
  const waits = createManualClock();
  /** Time that passed while the processes were frozen. */
  const frozen = { for: 0 };
  const clock: Clock = { now: () => waits.now() + frozen.for, after: waits.after };
  const logged: string[] = [];
  const isolated = { isOn: false };

  const replica = (me: string) => {
    const signals = hub.member();
    const heard: unknown[] = [];
    const broadcast: Broadcast = createBroadcast({
      me,
      signals,
      fallback: store,
      hasIsolated: () => isolated.isOn,
      clock,
      log: (event, fields) => logged.push(`${event} ${fields && 'what' in fields ? fields.what : ''}`),
    });
    broadcast.start();
    broadcast.on('news', (body) => heard.push(body));
    onTestFinished(() => void broadcast.stop());
    return { ...broadcast, signals, heard };
  };
  const pass = async (time: number) => {
    waits.advance(time);
    await settled();
  };
  return { hub, store, logged, isolated, replica, pass, frozen };
}

/** Lets everything run that waits for nothing but its turn. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('with signals', () => {
  test('a message reaches the other replicas, not the one that sent it, and no row is written', async () => {
    const { replica, store } = installation();
    const [a, b, c] = [replica('a/1'), replica('b/1'), replica('c/1')];
    await a.send('news', { id: 1 });
    await settled();
    expect([a.heard, b.heard, c.heard]).toEqual([[], [{ id: 1 }], [{ id: 1 }]]);
    expect([store.appends, store.reads]).toEqual([0, 0]);
  });

  test('what is said in one go travels together', async () => {
    const { replica, hub } = installation();
    const [a, b] = [replica('a/1'), replica('b/1')];
    await Promise.all([a.send('news', 1), a.send('other', 2), a.send('news', 3)]);
    await settled();
    expect(b.heard).toEqual([1, 3]);
    expect(hub.sent).toHaveLength(1);
  });

  test('a thousand messages in one go become one null a topic', async () => {
    const { replica } = installation();
    const [a, b] = [replica('a/1'), replica('b/1')];
    await Promise.all(Array.from({ length: 1_001 }, (_, number) => a.send('news', number)));
    await settled();
    expect(b.heard).toEqual([null]);
  });

  test('coming up again means that anything may have changed, here and for those who stayed up', async () => {
    const { replica } = installation();
    const [a, b] = [replica('a/1'), replica('b/1')];
    a.signals.setCutOff(true);
    await a.send('news', 'lost on the way');
    await settled();
    expect(b.heard).toEqual([]);
    a.signals.setCutOff(false);
    a.signals.setUp(false);
    a.signals.setUp(true);
    await settled();
    expect(b.heard).toEqual([null]);
    expect(a.heard.at(-1)).toBeNull();
  });

  test('other subscriptions of the process on their way change nothing', async () => {
    const { replica, store, hub } = installation();
    const [a, b] = [replica('a/1'), replica('b/1')];
    a.signals.blink();
    await settled();
    expect([a.heard, b.heard, store.reads, hub.sent]).toEqual([[], [], 0, []]);
  });

  test('a start disturbs nobody', async () => {
    const { replica } = installation();
    const a = replica('a/1');
    replica('b/1');
    await settled();
    expect(a.heard).toEqual([]);
  });

  test('what cannot be read may have been anything', async () => {
    const { replica } = installation();
    const [a, b] = [replica('a/1'), replica('b/1')];
    a.signals.publish('announcements', '{"sender":"z/1","said":7}');
    a.signals.publish('announcements', 'not JSON');
    await settled();
    expect(b.heard).toEqual([null, null]);
  });

  test('a listener that left hears nothing', async () => {
    const { replica } = installation();
    const [a, b] = [replica('a/1'), replica('b/1')];
    const heard: unknown[] = [];
    b.on('news', (body) => heard.push(body))();
    await a.send('news', 1);
    await settled();
    expect([heard, b.heard]).toEqual([[], [1]]);
  });
});

describe('without signals', () => {
  function apart() {
    const all = installation();
    const [a, b] = [all.replica('a/1'), all.replica('b/1')];
    a.signals.setUp(false);
    b.signals.setUp(false);
    return { ...all, a, b };
  }

  test('a message is a row, read within a second; before the first, anything may have changed', async () => {
    const { a, b, pass } = apart();
    await settled();
    expect(b.heard).toEqual([null]);
    await a.send('news', { id: 1 });
    await pass(POLL_EVERY);
    expect(b.heard).toEqual([null, { id: 1 }]);
    expect(a.heard).toEqual([null]);
    await pass(POLL_EVERY);
    expect(b.heard).toHaveLength(2);
  });

  test('rows are read no more once the signals are back', async () => {
    const { a, b, store, pass } = apart();
    await pass(POLL_EVERY);
    a.signals.setUp(true);
    b.signals.setUp(true);
    await settled();
    const { reads } = store;
    await pass(5 * SECOND);
    expect(store.reads).toBe(reads);
  });

  test('a page that is not whole means that anything may have changed', async () => {
    const { a, b, store, pass } = apart();
    await settled();
    store.isIncomplete = true;
    await a.send('news', 1);
    await pass(POLL_EVERY);
    expect(b.heard).toEqual([null, null]);
  });

  test('so does a pause of the process, after which rows may be gone', async () => {
    const { b, frozen, pass } = apart();
    await settled();
    frozen.for = 6 * MINUTE;
    await pass(POLL_EVERY);
    expect(b.heard).toEqual([null, null]);
    await pass(POLL_EVERY);
    expect(b.heard).toEqual([null, null]);
  });

  test('without the database, too, messages are dropped, and null is heard when it is back', async () => {
    const { a, b, store, logged, pass } = apart();
    await settled();
    store.isAway = true;
    await a.send('news', 1);
    await a.send('news', 2);
    await pass(3 * SECOND);
    expect(b.heard).toEqual([null]);
    expect(logged.toSorted()).toEqual([
      'announcements_failed read',
      'announcements_failed read',
      'announcements_failed send',
    ]);
    store.isAway = false;
    await pass(2 * POLL_EVERY);
    expect(new Set(b.heard)).toEqual(new Set([null]));
    expect(b.heard.length).toBeGreaterThan(1);
    expect(store.rows).toEqual([{ sender: 'a/1', topic: 'news', body: null }]);
  });

  test('a sender waits a second at most for a database that hangs', async () => {
    const { a, store, pass } = apart();
    await settled();
    store.append = () => new Promise(() => undefined);
    let isSent = false;
    void a.send('news', 1).then(() => {
      isSent = true;
    });
    await settled();
    expect(isSent).toBe(false);
    await pass(SECOND);
    expect(isSent).toBe(true);
  });
});

test('while one replica has no signals, the others write and read rows besides', async () => {
  const { replica, isolated, pass, store } = installation();
  const [a, b, c] = [replica('a/1'), replica('b/1'), replica('c/1')];
  c.signals.setUp(false);
  isolated.isOn = true;
  await pass(POLL_EVERY);
  for (const { heard } of [a, b, c]) heard.length = 0;
  await a.send('news', 'to all');
  await pass(POLL_EVERY);
  expect([a.heard, b.heard, c.heard]).toEqual([[], ['to all', 'to all'], ['to all']]);
  await c.send('news', 'from the one apart');
  await pass(POLL_EVERY);
  expect([a.heard.at(-1), b.heard.at(-1)]).toEqual(['from the one apart', 'from the one apart']);
  expect(store.rows).toHaveLength(2);
});

test('a doubt is heard here and nowhere else', async () => {
  const { replica } = installation();
  const [a, b] = [replica('a/1'), replica('b/1')];
  a.doubt();
  await settled();
  expect([a.heard, b.heard]).toEqual([[null], []]);
});

test('a stop sends what waits and hears nothing any more', async () => {
  const { replica } = installation();
  const [a, b] = [replica('a/1'), replica('b/1')];
  void a.send('news', 'last');
  await a.stop();
  await settled();
  expect(b.heard).toEqual(['last']);
  await b.send('news', 'too late');
  await settled();
  expect(a.heard).toEqual([]);
});

test('a process that is alone has nobody to tell', async () => {
  const heard: unknown[] = [];
  noBroadcast.on('news', (body) => heard.push(body));
  noBroadcast.start();
  await noBroadcast.send('news', 1);
  await noBroadcast.stop();
  expect(heard).toEqual([]);
});
