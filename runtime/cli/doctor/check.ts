/** What a check of `tocsin doctor` is, and how checks are run: one after the other, each within its time. */
import { type Clock, DAY, HOUR, MINUTE, type Micros, SECOND } from '../../clock.ts';
import type { Mask } from '../../secrets/masking.ts';

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

/** A result without secrets, on one line, and without what a terminal would obey. */
export function presentable(result: CheckResult, mask: Mask): CheckResult {
  return {
    ...result,
    detail: mask(result.detail)
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
  };
}

export function lineOf({ name, verdict, detail }: CheckResult): string {
  return `${verdict} ${name}: ${detail}`;
}

/** `ok` is false when anything failed; warnings leave it true. */
export function jsonOf(results: readonly CheckResult[]): string {
  return JSON.stringify({
    ok: isWell(results),
    checks: results.map(({ name, verdict, detail }) => ({ name, status: verdict, detail })),
  });
}

export function isWell(results: readonly CheckResult[]): boolean {
  return results.every(({ verdict }) => verdict !== 'FAIL');
}

/** Durations, lists and instants for people. */
const UNITS = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'min'],
  [SECOND, 's'],
] as const;

/** `45 s`, `12 min`, `3 h`, `2 d`: whole numbers of the largest unit that it fills. */
export function duration(micros: Micros): string {
  const [unit, name] = UNITS.find(([size]) => micros >= size) ?? [SECOND, 's'];
  return `${Math.max(0, Math.floor(micros / unit))} ${name}`;
}

/** Milliseconds with one decimal. */
export function milliseconds(micros: Micros): string {
  return `${(micros / 1000).toFixed(1)} ms`;
}

const SHOWN = 5;

/** The first few by name, the others counted. */
export function some(names: readonly (string | number)[]): string {
  const shown = names.slice(0, SHOWN).join(', ');
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}

/** `1 replica`, `3 replicas`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
