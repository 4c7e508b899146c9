/**
 * The checker and the reference bridge in one process without a network, on a clock that stands still while anything is
 * left to do and then goes on: the longest check takes no time, and no machine is too slow for one.
 */
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import { type Micros, SECOND } from '../../clock.ts';
import { createBridge } from '../bridge-reference/bridge.ts';
import type { Settings } from '../bridge-reference/shapes.ts';
import type { BridgeAnswer, BridgeRequest, Ports } from '../bridge-reference/wire.ts';
import { createInbox } from './inbox.ts';
import type { CheckResult } from './run.ts';
import type { RawAnswer, SentRequest } from './send.ts';
import { ALL_CHECKS, checkBridge, type Session } from './session.ts';

/** These watch for seconds that something does not happen; without a network they are made on a clock that skips them. */
const SLOW = ['E7', 'L2', 'L6', 'L7', 'T2', 'N3', 'W3', 'W4', 'W5', 'W6'];
export const QUICK = ALL_CHECKS.map(({ id }) => id).filter((id) => !SLOW.includes(id));

export const TOKENS = ['first-token', 'second-token'] as const;
export const PUSH_SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';
const BASE_URL = 'https://bridge.example.org/reference';
/** What the clock moves on by when nothing is left to do. */
const STEP: Micros = 0.05 * SECOND;

export type Next = (request: BridgeRequest) => Promise<BridgeAnswer>;
export type Deliver = Ports['deliver'];

/** A bridge between the checker and the reference bridge that gets something wrong. */
export interface Broken {
  answer?(request: BridgeRequest, next: Next, world: World): Promise<BridgeAnswer>;
  deliver?(next: Deliver, ...push: Parameters<Deliver>): Promise<number>;
}

export interface World {
  pause(seconds: number): Promise<void>;
}

export interface Played {
  readonly broken?: Broken;
  readonly settings?: Partial<Settings>;
  readonly session?: Partial<Session>;
}

/** Runs the checks with every option against the reference bridge with everything on. */
export async function playChecks({
  broken = {},
  settings,
  session,
}: Played = {}): Promise<readonly CheckResult[]> {
  const clock = createManualClock();
  const after = (seconds: number, run: () => void) => clock.after(seconds * SECOND, run);
  const inbox = createInbox({ now: clock.now, after });
  const world: World = { pause: (seconds) => new Promise((resolve) => void after(seconds, resolve)) };

  const toInbox: Deliver = (_url, headers, raw) => inbox.take({ method: 'POST', headers, raw });
  const ports: Ports = {
    now: () => clock.now() / 1000,
    after(ms, run) {
      const timer = after(ms / 1000, run);
      return () => timer.cancel();
    },
    deliver: (...push) => broken.deliver?.(toInbox, ...push) ?? toInbox(...push),
  };
  const bridge = createBridge(
    {
      ...{ tokens: TOKENS, without: new Set(), editMaxAge: 60, pageUrl: BASE_URL },
      push: { url: 'https://checker.example.org/', secret: PUSH_SECRET },
      ...settings,
    },
    ports,
  );
  const send = async ({ method, url, headers, body }: SentRequest, gone: AbortSignal): Promise<RawAnswer> => {
    const request = { method, target: url.slice(BASE_URL.length), headers, body: body ?? '', gone };
    const answer = await (broken.answer?.(request, bridge.answer, world) ?? bridge.answer(request));
    if (answer.isLost) throw new Error('socket hang up');
    return answer;
  };
  let drawn = 0;
  const random = (size: number) => Buffer.alloc(size, `random ${++drawn} `);
  const asked: Session = {
    ...{ baseUrl: BASE_URL, token: TOKENS[0], secondToken: TOKENS[1], pushSecret: PUSH_SECRET },
    ...{ channel: 'alerts/prod', missingChannel: 'nowhere', person: 'sim', only: null },
    ...{ handle: 'alice@example.org', unknownHandle: 'nobody@example.org' },
    ...session,
  };
  const outcome = checkBridge(asked, { send, clock, random, inbox }, () => undefined);
  let isOver = false;
  const ended = outcome.finally(() => {
    isOver = true;
    bridge.close();
  });
  while (!isOver) {
    // Nothing here waits for anything but the clock, so one turn of the event loop does all that can be done.
    await new Promise((resolve) => setImmediate(resolve));
    if (!isOver) clock.advance(STEP);
  }
  const result = await ended;
  if (result.kind === 'unreachable') throw new Error(result.reason);
  return result.results;
}
