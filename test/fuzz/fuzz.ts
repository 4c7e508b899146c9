/**
 * Requests that a seed decides, against the real process: everything that the API describes, webhooks to ingest, and
 * framing as bytes. No answer is a 500 or beyond its bound, memory stays flat, and afterwards the service still does
 * what it is for.
 */
import { Api, type Json } from '../harness/api.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { seededRandom } from '../simulation/random.ts';
import { rawRequest } from './framing.ts';
import { createGrammar, type Grammar } from './grammar.ts';
import { faultOf } from './judge.ts';
import { growthFault, growthOf, type Held, INSPECTED, inspectMemory } from './memory.ts';
import { type Answered, type Sent, sendRaw, sendRequest } from './send.ts';
import { snapshotBytes } from './snapshots.ts';

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  /** Sent first, instead of anything generated. */
  readonly replay?: Sent;
  readonly progress: (what: string) => void;
}

export interface FuzzResult {
  readonly figures: {
    readonly requests: number;
    readonly seconds: number;
    readonly statuses: Readonly<Record<string, number>>;
    /** Operations that were called, and those of them that ever did what was asked. */
    readonly operations: number;
    readonly succeeded: number;
    readonly slowestMs: number;
    /** After each round. */
    readonly memory: readonly Held[];
    /** MiB that the last third of the rounds held beyond the middle third. */
    readonly growth: number;
    /** The most the process ever took, MiB. */
    readonly peak: number;
  };
  readonly faults: readonly string[];
}

const AT_ONCE = 16;
/** Who sends a request to the API, by frequency. */
const CALLERS = [
  'session',
  'session',
  'session',
  'session',
  'session',
  'session',
  'token',
  'nobody',
] as const;
const MOST_FAULTS = 50;
/**
 * Passes of a run, all of which send the same requests, and rounds of a pass; after each round memory is read. The first
 * pass fills what has a bound of its own, such as the actors in memory, with what the others find there.
 */
const PASSES = 3;
const ROUNDS = 5 * PASSES;
/** Memory that the process may take at most, and hold more at the end of a run than in its middle, MiB. */
const MEMORY_LIMIT = 512;
const GROWTH_TOLERANCE = 4;
/** Each may ask 20 times a second; together they ask less often than that allows. */
const TOKENS = 8;

interface Target {
  readonly ready: Ready;
  readonly grammar: Grammar;
  readonly sender: Sender;
  readonly ingestToken: string;
  /** Of the API, by who calls. */
  credentials(as: Sent['as'], method: string): Readonly<Record<string, string>>;
  /** Signs in again when the session was ended by a request. */
  renew(): Promise<void>;
}

export async function fuzz({ requests, seed, replay, progress }: FuzzOptions): Promise<FuzzResult> {
  const tocsin = new Installation({
    SVC_TRUSTED_PROXIES: '127.0.0.0/8',
    SVC_LOG_LEVEL: 'error',
    // What Node gives itself in a container of 512 MiB; on a large machine it would collect later.
    NODE_OPTIONS: `--max-old-space-size=256 ${INSPECTED}`,
  });
  try {
    const target = await prepare(await tocsin.start());
    const memory = await inspectMemory(tocsin);
    const run = createRun(target, () => memory.read(), progress);
    if (replay) await run.one(replay, null);
    else await run.all(requests, seed);
    const peak = memory.peak();
    memory.close();
    const faults = [...run.faults, ...memoryFaults(run.memory, peak)];
    await mainJob(target).catch((error: unknown) => faults.push(`afterwards: ${error}`));
    if (faults.length > 0) progress(tocsin.log.slice(-40).join('\n'));
    return { figures: { ...run.figures(), memory: run.memory, growth: growthOf(run.memory), peak }, faults };
  } finally {
    await tocsin.remove();
  }
}

/** A token and an Integration that requests cannot name, because their ids are never given to them. */
async function prepare(ready: Ready): Promise<Target> {
  let api = await Api.signIn(ready);
  let csrf: string = (await api.get('/sessions/current')).csrf_token;
  const grammar = createGrammar(await api.get('/openapi.json'));
  const account = await api.post('/service-accounts', { name: 'fuzzer', role: 'admin' });
  const tokens: string[] = [];
  for (let number = 0; number < TOKENS; number++) {
    const name = `fuzzer ${number}`;
    tokens.push((await api.post(`/service-accounts/${account.id}/tokens`, { name, expires_at: null })).value);
  }
  let tokenRequests = 0;
  const ingestToken = ready.integration_token!;
  return {
    ...{ ready, grammar, ingestToken },
    sender: new Sender(ready.ingest_endpoint, ingestToken),
    credentials(as, method) {
      if (as === 'nobody') return {};
      if (as === 'token') return { authorization: `Bearer ${tokens[tokenRequests++ % TOKENS]}` };
      return { cookie: api.cookie, ...(method === 'GET' ? {} : { 'x-csrf-token': csrf }) };
    },
    async renew() {
      if ((await api.call('GET', '/sessions/current')).status === 200) return;
      // Requests of its address and its login may have failed a moment ago.
      api = await until('a new session', () => Api.signIn(ready), 120);
      csrf = (await api.get('/sessions/current')).csrf_token;
    },
  };
}

function createRun(target: Target, readMemory: () => Promise<Held>, progress: FuzzOptions['progress']) {
  const { grammar } = target;
  const faults: string[] = [];
  const memory: Held[] = [];
  const statuses: Record<string, number> = {};
  const called = new Set<string>();
  const succeeded = new Set<string>();
  const own = new Set<string>();
  const began = performance.now();
  let done = 0;
  let slowestMs = 0;
  let renewing: Promise<void> | null = null;

  const one = async (sent: Sent, operation: string | null) => {
    const answer = await deliver(target, sent).catch((error: unknown) => String(error));
    const fault = typeof answer === 'string' ? answer : faultOf(sent, answer);
    if (fault !== null && faults.length < MOST_FAULTS) {
      faults.push(`${fault}\n  ${JSON.stringify(sent)}`);
      progress(`✗ ${faults.at(-1)}`);
    }
    if (typeof answer === 'string') return;
    count(sent, answer, operation);
    if (sent.as === 'session' && answer.status === 401) {
      renewing ??= target.renew().finally(() => {
        renewing = null;
      });
      await renewing.catch((error: unknown) => faults.push(`the session cannot be renewed: ${error}`));
    }
  };
  const count = (sent: Sent, answer: Answered, operation: string | null) => {
    const key = `${sent.to} ${answer.status}`;
    statuses[key] = (statuses[key] ?? 0) + 1;
    slowestMs = Math.max(slowestMs, answer.milliseconds);
    if (operation === null) return;
    called.add(operation);
    if (answer.status < 300 && answer.status > 0) succeeded.add(operation);
    if (answer.status < 300) rememberIds(grammar.ids, own, answer.text);
  };

  return {
    faults,
    memory,
    one,
    async all(requests: number, seed: number) {
      for (const id of await protectedIds(target)) own.add(id);
      const distinct = Math.ceil(requests / PASSES);
      let next = 0;
      const sendUntil = async (end: number) => {
        while (next < end && faults.length < MOST_FAULTS) {
          const index = next++;
          const { sent, operation } = generated(target, seed, index % distinct);
          await one(sent, operation);
          done += 1;
        }
      };
      for (let round = 1; round <= ROUNDS && faults.length < MOST_FAULTS; round++) {
        const end = Math.round((requests * round) / ROUNDS);
        await Promise.all(Array.from({ length: AT_ONCE }, () => sendUntil(end)));
        memory.push(await readMemory());
        progress(`${done} requests, MiB: ${JSON.stringify(memory.at(-1))}`);
      }
    },
    figures: () => ({
      requests: done,
      seconds: Math.round((performance.now() - began) / 1000),
      ...{ statuses, operations: called.size, succeeded: succeeded.size, slowestMs: Math.round(slowestMs) },
    }),
  };
}

/** The same for a seed and a number, but for the ids that answers brought. */
function generated({ grammar, ingestToken }: Target, seed: number, index: number) {
  const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ index);
  const kind = random.next();
  if (kind < 0.1) {
    const to = 'raw' as const;
    const body = rawRequest(random).toString('base64');
    return {
      sent: { to, as: 'nobody' as const, method: '', target: '', headers: {}, body },
      operation: null,
    };
  }
  // Never from the address of the fuzzer itself, whose sign-ins would be slowed down by those that fail.
  const from = random.pick([`203.0.113.${random.int(256)}`, `2001:db8::${random.int(9999)}`]);
  if (kind < 0.25) {
    const body = snapshotBytes(random).toString('base64');
    const headers = { authorization: `Bearer ${ingestToken}`, 'content-type': 'application/json' };
    const sent = {
      to: 'ingest',
      as: 'nobody',
      method: 'POST',
      target: '/api/v1/ingest',
      headers,
      body,
    } as const;
    return { sent, operation: 'ingestSnapshot' };
  }
  const operation = random.pick(grammar.operations);
  const { method, target, headers, body } = grammar.request(operation, random);
  // The session would be ended, or its sign-in slowed down, by what is about sessions and proofs.
  const endsSession = /session|password|totp/i.test(operation.id);
  const as = random.pick(endsSession ? (['token', 'nobody'] as const) : CALLERS);
  const sent: Sent = {
    ...{ to: operation.isIngest ? 'ingest' : 'app', as, method, target },
    headers: { ...headers, 'x-forwarded-for': from },
    body: Buffer.from(body ?? '').toString('base64'),
  };
  return { sent, operation: operation.id };
}

function deliver({ ready, credentials }: Target, sent: Sent): Promise<Answered> {
  if (sent.to === 'raw') return sendRaw(ready.app_url, sent);
  if (sent.to === 'ingest') return sendRequest(ready.ingest_url, sent, {});
  return sendRequest(ready.app_url, sent, credentials(sent.as, sent.method));
}

/** Whoever signs in, the token's account, and the Integration that stands for the main job are left alone. */
async function protectedIds({ ready, grammar, credentials }: Target): Promise<readonly string[]> {
  const read = async (path: string): Promise<Json> =>
    (await fetch(`${ready.app_url}/api/v1${path}`, { headers: credentials('session', 'GET') })).json();
  const [me, accounts] = await Promise.all([read('/me'), read('/service-accounts')]);
  grammar.ids.clear();
  return [ready.integration_id, me.user.id, ...accounts.items.map(({ id }: { id: string }) => id)];
}

const ID = /"([A-Z]{2}[0-9A-Z]{12})"/g;
const MOST_IDS = 2_000;

function rememberIds(ids: Set<string>, own: ReadonlySet<string>, text: string): void {
  for (const [, id = ''] of text.slice(0, 20_000).matchAll(ID)) {
    if (own.has(id) || id.startsWith('SN') || id.startsWith('IT')) continue;
    ids.add(id);
    if (ids.size > MOST_IDS) ids.delete(ids.values().next().value ?? '');
  }
}

function memoryFaults(rounds: readonly Held[], peak: number): readonly string[] {
  const growth = rounds.length < ROUNDS ? null : growthFault(rounds, GROWTH_TOLERANCE);
  return [
    ...(peak > MEMORY_LIMIT ? [`the process took ${peak} MiB of memory`] : []),
    ...(growth === null ? [] : [growth]),
  ];
}

/** Post a Snapshot, find its Alert Group, acknowledge it. */
async function mainJob({ ready, sender, renew }: Target): Promise<void> {
  await renew();
  const api = await until('a session', () => Api.signIn(ready), 120);
  const alertname = 'AfterTheFuzzer';
  const alerts = [{ labels: { alertname, severity: 'critical' } }];
  await until(
    'a Snapshot to be accepted',
    async () => (await sender.post({ groupKey: alertname, alerts })) === 202,
    60,
  );
  const group = await until(
    'its Alert Group',
    async () =>
      (await api.get(`/alert-groups?q=${alertname}`)).items.find(({ title }: Json) =>
        title.includes(alertname),
      ),
    120,
  );
  const answer = await api.call('POST', `/alert-groups/${group.id}/acknowledge`);
  if (answer.status !== 200)
    throw new Error(`acknowledging answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}
