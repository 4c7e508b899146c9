/** What a check of `tocsin doctor` is, and how checks are run: one after the other, each within its time. */
import { type Clock, type Micros, SECOND } from '../../clock.ts';

export type Verdict = 'OK' | 'WARN' | 'FAIL';

export interface Finding {
  readonly verdict: Verdict;
  /** One sentence or more; says what to do unless it is OK. */
  readonly detail: string;
  /** Which one it is about, when a check looks at several things. */
  readonly subject?: string;
}

export interface Check {
  readonly name: string;
  /** Names of checks without which this one says nothing: when one of them failed, it is not made. */
  readonly needs: readonly string[];
  /** What it means at worst that it could not be made or took too long. */
  readonly atWorst: Exclude<Verdict, 'OK'>;
  /** How long it may take, µs. */
  readonly within: Micros;
  run(): Promise<Finding | readonly Finding[]>;
}

export interface CheckResult {
  readonly name: string;
  readonly verdict: Verdict;
  readonly detail: string;
}

export const ok = (detail: string): Finding => ({ verdict: 'OK', detail });
export const warn = (detail: string): Finding => ({ verdict: 'WARN', detail });
export const fail = (detail: string): Finding => ({ verdict: 'FAIL', detail });

/** WARN with everything that is not as it should be, or OK when nothing is. */
export function unlessWrong(wrong: readonly string[], allWell: string): Finding {
  return wrong.length > 0 ? warn(wrong.join(' ')) : ok(allWell);
}

/** @param report gets every result as soon as it is there */
export async function runChecks(
  checks: readonly Check[],
  clock: Clock,
  report: (result: CheckResult) => void,
): Promise<void> {
  /** Checks that say nothing, with the one whose failure is the reason. */
  const blockedBy = new Map<string, string>();
  for (const check of checks) {
    const culprit = check.needs.map((name) => blockedBy.get(name)).find((name) => name !== undefined);
    const results = culprit === undefined ? await makeCheck(check, clock) : [notMade(check, culprit)];
    if (culprit !== undefined) blockedBy.set(check.name, culprit);
    else if (results.some(({ verdict }) => verdict === 'FAIL')) blockedBy.set(check.name, check.name);
    for (const result of results) report(result);
  }
}

function notMade({ name }: Check, culprit: string): CheckResult {
  return { name, verdict: 'WARN', detail: `not checked, because ${culprit} failed` };
}

async function makeCheck(check: Check, clock: Clock): Promise<readonly CheckResult[]> {
  const found = await findings(check, clock);
  return found.map(({ verdict, detail, subject }) => ({
    name: subject === undefined ? check.name : `${check.name} ${subject}`,
    verdict,
    detail,
  }));
}

async function findings(check: Check, clock: Clock): Promise<readonly Finding[]> {
  try {
    const found = await inTime(check, clock);
    return 'verdict' in found ? [found] : found;
  } catch (error) {
    // Whatever keeps a check from being made is what it found.
    return [{ verdict: check.atWorst, detail: reasonOf(error) }];
  }
}

function inTime(check: Check, clock: Clock): Promise<Finding | readonly Finding[]> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(check.within, () =>
      reject(new Error(`no answer within ${check.within / SECOND} s`)),
    );
    check
      .run()
      .then(resolve, reject)
      .finally(() => timer.cancel());
  });
}

/** What an error says, without a full stop; some errors of the network layer only have a code. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message.replace(/\.+$/, '');
  return 'code' in error ? String(error.code) : error.name;
}
