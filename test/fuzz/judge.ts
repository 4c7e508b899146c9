/** What must hold of every answer, whatever was asked. */
import { FIELD_ERROR_LIMIT, POINTER_LIMIT } from '../../http/problem.ts';
import { checkAt } from '../harness/checked-fetch.ts';
import type { Answered, Sent } from './send.ts';

/** Largest answer of a refused request and of any other, bytes. */
const REFUSAL_LIMIT = 65_536;
const ANSWER_LIMIT = 16 * 1024 * 1024;
/** Statements, hashes and outbound calls have bounds of their own below it, ms. */
const TIME_LIMIT = 25_000;

/** What is wrong with an answer; null when nothing is. */
export function faultOf(sent: Sent, answer: Answered): string | null {
  if (answer.milliseconds > TIME_LIMIT) return `answered after ${Math.round(answer.milliseconds)} ms`;
  if (answer.status < 400 && answer.bytes > ANSWER_LIMIT) return `answered ${answer.bytes} bytes`;
  if (answer.status >= 400 && answer.bytes > REFUSAL_LIMIT) return `refused with ${answer.bytes} bytes`;
  if (sent.to === 'raw') return rawFault(answer);
  if (answer.status === 500) return `500: ${answer.text.slice(0, 300)}`;
  const fault = sent.to === 'ingest' ? ingestFault(sent, answer) : problemFault(answer);
  return fault ?? undescribedFault(sent, answer);
}

/** What the API description does not allow, additional properties included. */
function undescribedFault(
  { method, target }: Sent,
  { status, headers, text, bytes }: Answered,
): string | null {
  const path = target.split('?')[0] ?? '';
  const isWhole = Buffer.byteLength(text) === bytes;
  const isJson = /json/.test(String(headers['content-type'] ?? ''));
  try {
    const body = isWhole && isJson && text !== '' ? JSON.parse(text) : undefined;
    const header = (name: string) => headers[name]?.toString();
    if (status !== 0) checkAt(path)(method, path, { status, header, body });
    return null;
  } catch (error) {
    return String(error);
  }
}

function rawFault({ text }: Answered): string | null {
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
  return statuses.includes(500) ? `500: ${text.slice(0, 300)}` : null;
}

/** By the path of the ingest listener: what it may answer (ingestion §3, §12; api §19). 0 is a connection that ended. */
const INGEST_STATUSES: readonly (readonly [path: RegExp, statuses: readonly number[]])[] = [
  // A sender loses a notification by any other 4xx.
  [/^\/api\/v1\/ingest(\/|$)/, [0, 202, 401, 404, 413, 503]],
  [/^\/api\/v1\/heartbeat(\/|$)/, [0, 204, 401, 404, 413, 503]],
  [/^\/api\/v1\/callbacks\/bridge\//, [0, 204, 400, 401, 404, 503]],
  // A chat server shows the text of an answer, so every press has one.
  [/^\/api\/v1\/callbacks\/chat-server\//, [0, 200, 404, 413, 503]],
  [/^\/api\/v1\/callbacks\/channel-bot\//, [0, 200, 400, 401, 404, 503]],
  [/^\/api\/v1\/callbacks\//, [0, 404]],
  // Probes and metrics are on another listener.
  [/^\//, [0, 404]],
];

function ingestFault(sent: Sent, { status, text }: Answered): string | null {
  const path = sent.target.split('?')[0] ?? '';
  const allowed = INGEST_STATUSES.find(([pattern]) => pattern.test(path))?.[1] ?? [];
  if (allowed.includes(status)) return null;
  // What a body means on a safe method is unclear, so nothing of it is taken: 400 with no word (api §1.2 rule 11).
  if (status === 400 && text === '' && sent.body !== '' && SAFE_METHODS.has(sent.method)) return null;
  return `${path} of the ingest listener answered ${status}`;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

interface Problem {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly status?: unknown;
  readonly errors?: readonly { readonly pointer: string; readonly code: string }[];
}

function problemFault({ status, headers, text }: Answered): string | null {
  if (status < 400) return null;
  // The library's own, which never reach the service.
  if (status === 431 || (status === 400 && headers['content-type'] === undefined)) return null;
  if (headers['content-type'] !== 'application/problem+json') return `${status} is no problem document`;
  const problem = JSON.parse(text) as Problem;
  if (problem.status !== status || typeof problem.type !== 'string' || typeof problem.title !== 'string') {
    return `${status} is not what its document says: ${text.slice(0, 300)}`;
  }
  const errors = problem.errors ?? [];
  if (errors.length > FIELD_ERROR_LIMIT) return `${errors.length} errors in one answer`;
  const long = errors.find(({ pointer }) => pointer.length > POINTER_LIMIT);
  return long ? `a pointer of ${long.pointer.length} characters` : null;
}
