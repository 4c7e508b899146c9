/** Makes the checks one after the other and says what came of each. */
import type { Clock } from '../../clock.ts';
import { type Check, Unmet, type Verdict } from './check.ts';
import type { BridgeClient, Exchange } from './client.ts';
import type { BridgeEvent, EventFeed, PolledFeed } from './events.ts';
import type { Arrival, PushInbox } from './inbox.ts';
import type { Declared } from './info.ts';
import { reasonToSkip } from './needs.ts';
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
