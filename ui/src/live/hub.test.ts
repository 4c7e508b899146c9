import { describe, expect, it } from 'vitest';
import { createHub, type HubMessage, type TabMessage } from './hub.ts';
import { createVirtualService, createVirtualTime } from './live.fixture.ts';

async function setUp(answer: () => Response | 'stream' | null | Error = () => 'stream') {
  const time = createVirtualTime();
  const service = createVirtualService(answer);
  const posted: HubMessage[] = [];
  const hub = createHub({
    fetch: service.fetch,
    timers: time.timers,
    now: time.now,
    random: () => 0.5,
    post: (message) => posted.push(message),
  });
  const say = async (message: TabMessage) => {
    hub.received(message);
    await time.settle();
  };
  const statuses = () => posted.filter((message) => message.kind === 'status');
  const open = () => service.streams.filter((stream) => !stream.isGivenUp()).length;
  return { time, service, hub, posted, say, statuses, open };
}

const attach = (tab: string, session = 'S1'): TabMessage => ({ kind: 'attach', tab, session });
const here = (tab: string, session = 'S1'): TabMessage => ({ kind: 'here', tab, session });

describe('the hub of a browser', () => {
  it('has one stream for any number of tabs, and passes its hints on to all of them', async () => {
    const { service, say, posted, time } = await setUp();
    for (let tab = 0; tab < 20; tab += 1) await say(attach(`tab ${tab}`));
    expect(service.attempts()).toBe(1);
    service.streams[0]!.write('event: hint\ndata: {"type":"route","id":"RT1"}\n\n');
    await time.settle();
    expect(posted.filter(({ kind }) => kind === 'hint')).toEqual([
      { kind: 'hint', hint: { type: 'route', id: 'RT1' } },
    ]);
  });

  it('says that bytes came, at most once a second', async () => {
    const { service, say, posted, time } = await setUp();
    await say(attach('one'));
    for (let sent = 0; sent < 5; sent += 1) {
      service.streams[0]!.write(': keepalive\n\n');
      await time.settle();
    }
    expect(posted.filter(({ kind }) => kind === 'bytes')).toHaveLength(1);
    await time.pass(10);
    service.streams[0]!.write(': keepalive\n\n');
    await time.settle();
    expect(posted.at(-1)).toEqual({ kind: 'bytes', at: time.now() });
  });

  it('gives each connection a name of its own, and none while there is none', async () => {
    const { service, say, statuses, time } = await setUp();
    await say(attach('one'));
    const first = statuses().at(-1)!.stream;
    service.streams[0]!.end();
    await time.settle();
    expect(statuses().at(-1)).toMatchObject({ session: 'S1', stream: null });
    await time.pass(10);
    const second = statuses().at(-1)!.stream;
    expect(second).not.toBe(null);
    expect(second?.id).not.toBe(first?.id);
  });

  it('asks for tabs when it begins, and takes those that say they are here', async () => {
    const { say, statuses, open } = await setUp();
    expect(statuses()).toMatchObject([{ session: null, stream: null }]);
    await say(here('one'));
    expect([statuses().at(-1)?.session, open()]).toEqual(['S1', 1]);
  });

  it('closes the stream when the last tab leaves', async () => {
    const { say, open } = await setUp();
    await say(attach('one'));
    await say(attach('two'));
    await say({ kind: 'leave', tab: 'one' });
    expect(open()).toBe(1);
    await say({ kind: 'leave', tab: 'two' });
    expect(open()).toBe(0);
  });

  it('forgets a tab that crashed after three minutes, and keeps one whose timers are slowed', async () => {
    const { say, open, time } = await setUp(() => 'stream');
    await say(attach('crashed'));
    await say(attach('hidden'));
    for (let minute = 0; minute < 5; minute += 1) {
      await time.pass(60);
      await say(here('hidden'));
    }
    expect(open()).toBe(1);
    await time.pass(240);
    expect(open()).toBe(0);
  });

  it('says to every tab that the service refused, once, and tries no more', async () => {
    const { say, posted, service, time } = await setUp(() => new Response('', { status: 401 }));
    await say(attach('one'));
    await say(attach('two', 'S1'));
    const before = service.attempts();
    await time.pass(600);
    expect(posted.filter(({ kind }) => kind === 'refused')).toHaveLength(before);
    expect(service.attempts()).toBe(before);
  });

  it('ends with the session, wherever that ended, and says so to the other tabs', async () => {
    const { say, posted, open } = await setUp();
    await say(attach('one'));
    await say(attach('two'));
    await say({ kind: 'ended', tab: 'one', session: 'S1' });
    expect([open(), posted.at(-1)]).toEqual([0, { kind: 'refused' }]);
  });

  it('does not take tabs for a new session by an answer that was due when the old one ended', async () => {
    const { say, time, statuses } = await setUp();
    await say(attach('one'));
    await say(here('two'));
    await say({ kind: 'ended', tab: 'one', session: 'S1' });
    const before = statuses().length;
    await time.pass(10);
    expect(statuses()).toHaveLength(before);
  });

  it('is not ended by a tab whose session was another one', async () => {
    const { say, posted, open } = await setUp();
    await say(attach('one', 'S2'));
    await say({ kind: 'ended', tab: 'two', session: 'S1' });
    expect([open(), posted.some(({ kind }) => kind === 'refused')]).toEqual([1, false]);
  });

  it('makes a new stream for a new session, and says to all tabs whose it is', async () => {
    const { say, service, statuses } = await setUp();
    await say(attach('one', 'S1'));
    await say(attach('two', 'S2'));
    expect(service.streams.map((stream) => stream.isGivenUp())).toEqual([true, false]);
    expect(statuses().at(-1)).toMatchObject({ session: 'S2', stream: { id: expect.any(String) } });
  });

  it('is not turned back to an old session by a tab that only says that it is here', async () => {
    const { say, service, statuses, time } = await setUp();
    await say(attach('one', 'S1'));
    await say(attach('two', 'S2'));
    await say(here('one', 'S1'));
    await time.pass(2);
    expect(statuses().at(-1)?.session).toBe('S2');
    expect(service.attempts()).toBe(2);
  });
});
