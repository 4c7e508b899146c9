import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { MINUTE } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { OutboundCaller } from '../../runtime/outbound/caller.ts';
import type { OutboundResult } from '../../runtime/outbound/client.ts';
import { judgeResult } from '../../runtime/outbound/verdict.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../runtime/secrets/keyring.ts';
import { createMask } from '../../runtime/secrets/masking.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { NO_PROXY } from '../proxy-config.ts';
import { BEAT_EVERY, type Beat, beat, type HeartbeatStore } from './outgoing-heartbeat.ts';

const ORGANIZATION = 'RG0000000000AA' as PublicId;
const URL_SECRET = 'https://beats.example.org/ping/0b7c9f52?key=hush-hush';
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);

const answer = (status: number, headers: Record<string, string> = {}, body = ''): OutboundResult => ({
  ...{ kind: 'answer', status, headers, body: Buffer.from(body), tooLarge: false },
});

/** A Leader whose receiver gives these answers, one a beat. */
function setting(...answers: readonly OutboundResult[]) {
  const clock = createManualClock();
  const asked: Parameters<OutboundCaller['call']>[0][] = [];
  const logged: [string, unknown][] = [];
  const hints: string[] = [];
  const left = [...answers];
  const caller: OutboundCaller = {
    async call(call) {
      asked.push(call);
      const result = left.shift() ?? answer(200);
      const context = { url: call.request.url, now: clock.now(), mask: createMask(call.secrets) };
      return { result, verdict: judgeResult(result, call.mapping, context) };
    },
  };
  const state = {
    claimedAt: null as number | null,
    ok: null as boolean | null,
    error: null as string | null,
  };
  const store: HeartbeatStore = {
    async claim(now) {
      if (state.claimedAt !== null && now - state.claimedAt < BEAT_EVERY) return null;
      state.claimedAt = now;
      const url = keyring.sealer(key.id).seal('organization.heartbeat_url', ORGANIZATION, URL_SECRET);
      const claimed: Omit<Beat, 'wasOk'> = {
        ...{ organizationId: ORGANIZATION, url, proxy: NO_PROXY, proxyPassword: null, claimedAt: now },
      };
      return { ...claimed, wasOk: state.ok };
    },
    async settle({ claimedAt }, { ok, error }) {
      if (claimedAt !== state.claimedAt) return false;
      Object.assign(state, { ok, error });
      return true;
    },
  };
  const log: Log = (event, fields) => void logged.push([event, fields]);
  const hintBus = { send: ({ type }: { type: string }) => void hints.push(type) };
  const once = () => beat({ store, caller, keyring, hints: hintBus, clock, log });
  return { clock, once, asked, logged, hints, state };
}

test('one GET a minute, whatever came of the one before', async () => {
  const { clock, once, asked, state } = setting(answer(200), answer(503), answer(200));
  for (let second = 0; second < 125; second += 5) {
    await once();
    clock.advance(MINUTE / 12);
  }
  expect(asked.map(({ request }) => [request.method, request.body, request.class])).toEqual(
    Array.from({ length: 3 }, () => ['GET', null, 'heartbeat']),
  );
  expect(asked[0]).toMatchObject({ about: null, request: { timeout: 10_000_000, proxy: null } });
  expect(state.ok).toBe(true);
});

test.each([
  ['an answer that repeats the key', answer(401, {}, 'hush-hush is no key'), 'answered 401'],
  ['another status', answer(503, {}, 'try /ping/0b7c9f52 later'), 'answered 503'],
  [
    'a redirect',
    answer(302, { location: 'https://else.example/ping/0b7c9f52?key=hush-hush' }),
    'else.example',
  ],
  [
    'no answer',
    { kind: 'failed', code: 'timeout', error: 'no answer in 10 s' } as OutboundResult,
    'no answer',
  ],
])('%s is a failure that is told without the URL', async (_name, result, words) => {
  const { once, logged, hints, state } = setting(result);
  await once();
  expect(state.error).toContain(words);
  expect(JSON.stringify([state, logged])).not.toMatch(/0b7c9f52|hush-hush/);
  expect(logged.map(([event]) => event)).toEqual(['outgoing_heartbeat_failed']);
  expect(hints).toEqual(['system-status']);
});

test('a success after a failure is told once, further ones are not', async () => {
  const { clock, once, logged, hints } = setting(answer(500), answer(500), answer(204), answer(200));
  for (let round = 0; round < 4; round++) {
    await once();
    clock.advance(BEAT_EVERY);
  }
  expect(logged.map(([event]) => event)).toEqual([
    'outgoing_heartbeat_failed',
    'outgoing_heartbeat_failed',
    'outgoing_heartbeat_recovered',
  ]);
  expect(hints).toHaveLength(2);
});

test('what comes of a URL that was replaced meanwhile counts no more', async () => {
  const { once, state, logged, hints, asked } = setting(answer(500));
  const asking = once();
  Object.assign(state, { claimedAt: null, ok: null, error: null });
  await asking;
  expect([asked.length, state.ok, logged, hints]).toEqual([1, null, [], []]);
});
