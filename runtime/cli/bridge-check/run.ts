/** Makes the checks one after the other and says what came of each. */
import type { Clock } from '../../clock.ts';
import type { Mask } from '../../secrets/masking.ts';
import { type BridgeClient, type Exchange, Unmet } from './client.ts';
import type { BridgeEvent, EventFeed, PolledFeed } from './events.ts';
import type { Arrival, PushInbox } from './inbox.ts';
import type { Declared } from './info.ts';
import type { Person } from './person.ts';

/** What the operator told about the bridge; null: not given. */
export interface Given {
  readonly channel: string | null;
  readonly missingChannel: string | null;
  readonly handle: string | null;
  readonly unknownHandle: string | null;
  readonly secondToken: string | null;
  readonly pushSecret: string | null;
}

/** What a check may use. */
export interface Run {
  readonly given: Given;
  readonly declared: Declared;
  readonly client: BridgeClient;
  readonly clock: Clock;
  random(size: number): Uint8Array;
  readonly person: Person | null;
  /** How events are seen here, one way or the other. */
  readonly events: EventFeed | null;
  readonly polled: PolledFeed | null;
  readonly inbox: PushInbox | null;
  /** What one check leaves for those that need it. */
  readonly left: {
    posted?: { readonly key: string; readonly messageId: string };
    press?: BridgeEvent;
    threadMessage?: BridgeEvent;
    link?: BridgeEvent;
    push?: Arrival;
  };
}

export interface CheckResult {
  readonly id: string;
  readonly verdict: Verdict;
  readonly text: string;
  /** Why it did not pass; null for PASS. */
  readonly reason: string | null;
  /** What was said before it failed; empty for PASS and SKIP. */
  readonly exchanges: readonly Exchange[];
}

/** @param report hears of every result as soon as it is there */
export async function runChecks(
  checks: readonly Check[],
  run: Run,
  report: (result: CheckResult) => void,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    const result = await make(check, run, results);
    results.push(result);
    report(result);
  }
  return results;
}

async function make(check: Check, run: Run, before: readonly CheckResult[]): Promise<CheckResult> {
  const { id, text } = check;
  const skipped = reasonToSkip(check, run, before);
  if (skipped !== null) return { id, text, verdict: 'SKIP', reason: skipped, exchanges: [] };
  run.client.takeExchanges();
  try {
    await check.run(run);
    return { id, text, verdict: 'PASS', reason: null, exchanges: [] };
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    const verdict = check.level === 'must' ? 'FAIL' : 'WARN';
    return { id, text, verdict, reason: error.message, exchanges: run.client.takeExchanges() };
  }
}

/** The checks that were asked for, and those that they need; all when none was named. */
export function chosenChecks(all: readonly Check[], only: readonly string[] | null): readonly Check[] {
  if (only === null) return all;
  const wanted = new Set(only);
  // A check stands behind those that it needs, so one pass from the end finds them all.
  for (const { id, needs } of [...all].reverse()) {
    if (!wanted.has(id)) continue;
    for (const need of needs) if (typeof need === 'object') wanted.add(need.check);
  }
  return all.filter(({ id }) => wanted.has(id));
}

/** How the checker tells what it found: lines for people, one JSON object for programs. */
const MOST_EXCHANGES = 3;
const LONGEST_BODY = 600;

/** `PASS G1 …`, and below what failed the reason and what was said last. */
export function linesOf(result: CheckResult, mask: Mask): readonly string[] {
  const { verdict, id, text, reason, exchanges } = result;
  const head = `${verdict} ${id} ${text}`;
  if (verdict === 'SKIP') return [plain(`${head}: ${reason}`, mask)];
  const details = exchanges.slice(-MOST_EXCHANGES).flatMap(exchangeLines);
  const below = reason === null ? [] : [reason, ...details];
  return [head, ...below.map((line) => `     ${line}`)].map((line) => plain(line, mask));
}

/** `7 passed, 1 failed, …` */
export function summaryOf(results: readonly CheckResult[]): string {
  const count = (verdict: string): number => results.filter((one) => one.verdict === verdict).length;
  return `${count('PASS')} passed, ${count('FAIL')} failed, ${count('WARN')} warned, ${count('SKIP')} skipped`;
}

/** `ok` is false when anything failed. */
export function jsonOf(baseUrl: string, results: readonly CheckResult[], mask: Mask): string {
  return mask(
    JSON.stringify({
      ok: isWell(results),
      base_url: baseUrl,
      checks: results.map(({ id, verdict, text, reason, exchanges }) => ({
        ...{ id, status: verdict, text, reason },
        exchanges: exchanges.slice(-MOST_EXCHANGES).map(({ request, answer }) => ({
          request: { ...request, headers: withoutToken(request.headers) },
          answer: answer && { status: answer.status, headers: answer.headers, body: answer.body },
        })),
      })),
    }),
  );
}

export function isWell(results: readonly CheckResult[]): boolean {
  return results.every(({ verdict }) => verdict !== 'FAIL');
}

function exchangeLines({ request, answer }: Exchange): string[] {
  const { method, url, headers, body } = request;
  const shown = Object.entries(withoutToken(headers)).map(([name, value]) => `${name}: ${value}`);
  const said = answer
    ? `< ${answer.status} ${answer.headers['content-type'] ?? ''} after ${answer.seconds.toFixed(1)} s`
    : '< no answer';
  return [
    `> ${method} ${url} (${shown.join(', ')})`,
    ...(body === null ? [] : [`> ${short(body)}`]),
    said,
    ...(answer && answer.body !== '' ? [`< ${short(answer.body)}`] : []),
  ];
}

/** Tokens too short for the mask are secrets as well. */
function withoutToken({ authorization, ...rest }: Readonly<Record<string, string>>): Record<string, string> {
  return authorization === undefined ? rest : { ...rest, authorization: 'Bearer [redacted]' };
}

function short(body: string): string {
  return body.length > LONGEST_BODY ? `${body.slice(0, LONGEST_BODY)}… (${body.length} in all)` : body;
}

/** Masked, on one line, and without what a terminal would obey. */
function plain(line: string, mask: Mask): string {
  return mask(line).replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

/** A longer edit window is not waited for. */
const SHORT_EDIT_WINDOW_SECONDS = 120;

type NamedNeed = Exclude<Need, object>;

/** Whether what is needed is there, and what to say when it is not. */
const NEEDS: Readonly<Record<NamedNeed, { isMet(run: Run): boolean; readonly otherwise: string }>> = {
  channel: option(({ channel }) => channel, '--channel'),
  'missing-channel': option(({ missingChannel }) => missingChannel, '--missing-channel'),
  handle: option(({ handle }) => handle, '--handle'),
  'unknown-handle': option(({ unknownHandle }) => unknownHandle, '--unknown-handle'),
  'second-token': option(({ secondToken }) => secondToken, '--second-token'),
  listener: {
    isMet: ({ inbox, declared }) => inbox !== null && declared.delivery.includes('push'),
    otherwise: 'needs --push-listen and a bridge that pushes',
  },
  person: { isMet: ({ person }) => person !== null, otherwise: 'needs --interactive or --sim' },
  events: {
    isMet: ({ events }) => events !== null,
    otherwise: 'needs a bridge that is polled, or --push-listen',
  },
  buttons: capability('buttons'),
  delete: capability('delete'),
  bot_can_start: {
    isMet: ({ declared }) => declared.botCanStart,
    otherwise: 'direct_messages.bot_can_start is not declared',
  },
  private_answers: capability('private_answers'),
  thread_messages: capability('thread_messages'),
  deletion_events: capability('deletion_events'),
  user_lookup: {
    isMet: ({ declared }) => declared.userLookup !== 'none',
    otherwise: 'user_lookup is none',
  },
  poll: {
    isMet: ({ declared }) => declared.delivery.includes('poll'),
    otherwise: 'the bridge is not polled',
  },
  short_edit_window: {
    isMet: ({ declared: { editMaxAgeSeconds: age } }) => age !== null && age <= SHORT_EDIT_WINDOW_SECONDS,
    otherwise: `needs an edit window of at most ${SHORT_EDIT_WINDOW_SECONDS} s`,
  },
};

/** null: the check can be made. */
function reasonToSkip({ needs }: Check, run: Run, before: readonly CheckResult[]): string | null {
  for (const need of needs) {
    if (typeof need === 'string' && !NEEDS[need].isMet(run)) return NEEDS[need].otherwise;
    if (typeof need === 'string') continue;
    const passed = before.some(({ id, verdict }) => id === need.check && verdict === 'PASS');
    if (!passed) return `${need.check} did not pass`;
  }
  return null;
}

function option(value: (given: Run['given']) => string | null, name: string) {
  return { isMet: ({ given }: Run) => value(given) !== null, otherwise: `needs ${name}` };
}

function capability(name: string) {
  return { isMet: ({ declared }: Run) => declared.has(name), otherwise: `${name} is not declared` };
}

/** What a conformance check of a bridge is: data with a question to the bridge. */
type Verdict = 'PASS' | 'FAIL' | 'WARN' | 'SKIP';

/** What a check cannot do without: an option, something the bridge declares, somebody at the messenger, another check. */
export type Need =
  | 'channel'
  | 'missing-channel'
  | 'handle'
  | 'unknown-handle'
  | 'second-token'
  | 'listener'
  | 'person'
  | 'events'
  | 'buttons'
  | 'delete'
  | 'bot_can_start'
  | 'private_answers'
  | 'thread_messages'
  | 'deletion_events'
  | 'user_lookup'
  | 'poll'
  | 'short_edit_window'
  | { readonly check: string };

export interface Check {
  readonly id: string;
  readonly needs: readonly Need[];
  /** What must be is a FAIL otherwise; what should be, a WARN. */
  readonly level: 'must' | 'should';
  /** The rule, for reports and the documentation. */
  readonly text: string;
  /** @throws Unmet */
  run(run: Run): Promise<void>;
}
