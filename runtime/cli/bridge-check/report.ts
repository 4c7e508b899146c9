/** How the checker tells what it found: lines for people, one JSON object for programs. */
import type { Mask } from '../../secrets/masking.ts';
import type { Exchange } from './client.ts';
import type { CheckResult } from './run.ts';

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
