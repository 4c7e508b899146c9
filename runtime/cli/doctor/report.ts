/** How `tocsin doctor` tells what it found: a line a check, or one JSON object. */
import type { Mask } from '../../secrets/masking.ts';
import type { CheckResult } from './check.ts';

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
