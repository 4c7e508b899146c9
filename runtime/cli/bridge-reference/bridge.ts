/** The reference bridge: one function from requests to answers. `server.ts` puts it on the network. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Acts, createActs } from './acts.ts';
import { type Bot, createEventLog, createResults } from './events.ts';
import { createMessenger, type Messenger } from './messenger.ts';
import {
  decoded,
  findOperation,
  OPERATIONS,
  type Operation,
  type OperationName,
  split,
} from './operations.ts';
import { answerPage } from './page.ts';
import { createPush } from './push.ts';
import type { Settings } from './shapes.ts';
import { answerSim, createFaults, type Fault, type RecordedRequest, refusalOf } from './sim.ts';
import {
  type BridgeAnswer,
  type BridgeRequest,
  forbidden,
  invalid,
  notOffered,
  type Ports,
  problem,
  Refusal,
} from './wire.ts';

const MOST_RECORDED = 1000;
/** Names of this machine, with any port. */
const OWN_NAME = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

export interface Bridge {
  readonly messenger: Messenger;
  readonly acts: Acts;
  /** Requests under `/v1/`, oldest first. */
  readonly requests: readonly RecordedRequest[];
  setFaults(faults: readonly Fault[]): void;
  answer(request: BridgeRequest): Promise<BridgeAnswer>;
  /** Ends pushes that are waiting for another attempt. */
  close(): void;
}

export function createBridge(settings: Settings, ports: Ports): Bridge {
  const boot = randomBytes(3).toString('hex');
  const stopped = new AbortController();
  const push = settings.push ? createPush(settings.push, ports, stopped.signal) : () => undefined;
  const messenger = createMessenger(boot, ports.now, settings.keeps);
  const bots = settings.tokens.map((_, number): Bot => {
    const events = createEventLog(boot, number, ports, number === 0 ? push : () => undefined);
    return { number, events, results: createResults(ports) };
  });
  const acts = createActs(messenger, bots, settings);
  const faults = createFaults();
  const requests: RecordedRequest[] = [];

  const record = (
    request: BridgeRequest,
    operation: OperationName | null,
    bot: Bot | null,
  ): RecordedRequest => {
    const { method, target, headers, body } = request;
    const recorded = {
      ...{
        at: new Date(ports.now()).toISOString(),
        operation,
        bot: bot?.number ?? null,
        method,
        target,
        body,
      },
      ...{ idempotency_key: headers['idempotency-key'] ?? null, status: null, lost: false },
    };
    requests.push(recorded);
    if (requests.length > MOST_RECORDED) requests.shift();
    return recorded;
  };

  const pause = (ms: number) => new Promise<void>((resolve) => ports.after(ms, resolve));

  const perform = async (request: BridgeRequest): Promise<BridgeAnswer> => {
    const { path, query } = split(request.target);
    const found = findOperation(request.method, path);
    const bot = bots[botOf(request.headers.authorization, settings.tokens)];
    const recorded = record(request, found?.name ?? null, bot ?? null);
    const answer = await refusalsAsProblems(async () => {
      if (!bot) throw new Refusal(401, 'the token is missing or wrong', { class: 'forbidden' });
      if (!found) throw notOffered(`${request.method} ${path}`);
      const { offered, isKeyed, run }: Operation = OPERATIONS[found.name];
      if (offered && settings.without.has(offered)) throw notOffered(found.name);
      const id = decoded(found.segment);
      const fault = faults.take(found.name);
      const refusal = fault && refusalOf(fault);
      const work = async (): Promise<BridgeAnswer> => {
        if (fault && fault.delay_ms > 0) await pause(fault.delay_ms);
        if (refusal) throw refusal;
        const { body, gone } = request;
        return run({ bot, id, query, body, gone, messenger, settings, now: ports.now });
      };
      if (refusal) return work();
      const key = isKeyed ? keyOf(request) : null;
      const done = key === null ? await work() : await bot.results.once(`${found.name} ${key}`, work);
      return fault?.drop_answer ? { ...done, isLost: true } : done;
    });
    recorded.status = answer.status;
    recorded.lost = answer.isLost === true;
    return answer;
  };

  return {
    ...{ messenger, acts, requests, setFaults: faults.set, close: () => stopped.abort() },
    async answer(request) {
      if (request.target.startsWith('/v1/')) return perform(request);
      // A name of somebody else's that leads here would make this page, which asks nobody who they are, a page of theirs.
      const { host } = request.headers;
      if (host !== undefined && !OWN_NAME.test(host)) return problem(forbidden(`There is no ${host} here.`));
      if (request.target.startsWith('/_sim/'))
        return refusalsAsProblems(async () =>
          answerSim(request, { messenger, acts, requests, setFaults: faults.set }),
        );
      return answerPage(request, { messenger, acts });
    },
  };
}

async function refusalsAsProblems(work: () => Promise<BridgeAnswer>): Promise<BridgeAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return problem(error);
    throw error;
  }
}

/** Which token the request carries; -1: none of ours. */
function botOf(authorization: string | undefined, tokens: readonly string[]): number {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const given = digest(authorization ?? '');
  return tokens.findIndex((token) => timingSafeEqual(given, digest(`Bearer ${token}`)));
}

function keyOf({ headers }: BridgeRequest): string {
  const key = headers['idempotency-key'];
  if (key === undefined) throw invalid('Idempotency-Key', 'is missing');
  if (!/^[!-~]{1,255}$/.test(key)) throw invalid('Idempotency-Key', 'must match [!-~]{1,255}');
  return key;
}
