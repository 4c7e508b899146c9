/** Runs one operation for one request, with every check in the order of api §1.3. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sourceKey } from '../../actors/access/throttle.ts';
import type { DirectorySource } from '../../actors/directory.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import {
  INTERNAL,
  type IsUnavailable,
  NOT_FOUND,
  PAYLOAD_TOO_LARGE,
  problemOfError,
  problemReply,
  UNAVAILABLE,
  within,
} from '../errors.ts';
import {
  type Answer,
  type Call,
  etagOf,
  type Identity,
  type IfMatch,
  type Operation,
  parseIfMatch,
} from '../operation.ts';
import type { Problem } from '../problem.ts';
import { isPaged, nextLink } from '../schema/page.ts';
import type { BodyBudgets, BodyHold } from '../server/body-budget.ts';
import {
  ANONYMOUS_BODY_LIMIT,
  APP_BODY_LIMIT,
  acceptedEncodings,
  type ClientAddress,
  type HeaderList,
  isSafe,
  type Reply,
  type Request,
} from '../server/exchange.ts';
import { type Caller, callerFault, crossSiteFault, permissionFault, principalOf } from './admission.ts';
import { type Authenticate, type CsrfTokens, readSessionCookie } from './credentials.ts';
import type { Match } from './router.ts';
import { type Validation, validateRequest } from './validate.ts';

const USER_AGENT_BYTES = 512;
/** JSON answers of at least so many bytes are compressed (api §1.2 rule 14). */
const COMPRESSED_FROM = 4_096;
const GZIP_LEVEL = 4;
const zip = promisify(gzip);

export interface DispatchDeps {
  readonly authenticate: Authenticate;
  readonly csrf: CsrfTokens;
  readonly directory: DirectorySource;
  /** Resolves when {@link directory} shows what is stored now, whichever replica stored it. */
  readonly upToDate: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly clientAddress: ClientAddress;
  readonly bodies: BodyBudgets;
  readonly isUnavailable: IsUnavailable;
  /** Security headers of every answer. */
  readonly headers: HeaderList;
}

/** Answers a request; null when the client is gone. Never rejects. */
export type Dispatch = (match: Match | null, request: Request) => Promise<Reply | null>;

export function createDispatch(deps: DispatchDeps): Dispatch {
  const problem = (request: Request, found: Problem) => problemReply(found, request.path, deps.headers);

  return async (match, request) => {
    try {
      const answer = await answerTo(deps, match, request);
      if (answer === null) return null;
      if ('problem' in answer) return problem(request, answer.problem);
      const link = isPaged(match?.operation.query) ? nextLink(request, answer.body) : null;
      const reply = replyOf(answer, link === null ? deps.headers : [['Link', link], ...deps.headers]);
      return await compressed(request, answer, reply);
    } catch (error) {
      const found = problemOfError(error, deps.isUnavailable);
      if (found === INTERNAL) {
        deps.log('api_request_failed', { operation: match?.operation.id, error: describe(error) });
      }
      return problem(request, found);
    }
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

type Refused = { readonly problem: Problem };

async function answerTo(
  deps: DispatchDeps,
  match: Match | null,
  request: Request,
): Promise<Answer | Refused | null> {
  if (!match || (request.method === 'HEAD' && isStream(match.operation))) return refused(NOT_FOUND);
  const { operation } = match;
  const foreign = crossSiteFault(request);
  if (foreign) return refused(foreign);

  const limit = bodyLimit(operation);
  if ((request.bodyLength ?? 0) > limit) return refused(PAYLOAD_TOO_LARGE);
  const hold = openHold(deps, operation, request);
  // Begins here and goes on while the credentials are looked up; who has none is answered before the body is complete.
  const reading = request.body(limit, hold);
  const caller = await callerOf(deps, operation, request);
  if (caller && 'problem' in caller) return caller;
  const fault = caller && callerFault(operation, caller, request, deps.csrf);
  if (fault) return refused(fault);
  if (caller && !hold.move('signed_in', caller.identity.id)) return refused(UNAVAILABLE);

  const read = await reading;
  if (read.kind === 'aborted') return null;
  if (read.kind === 'too_large') return refused(PAYLOAD_TOO_LARGE);
  if (read.kind === 'no_room') return refused(UNAVAILABLE);
  // The caller sees every change that was answered (api §1.2 rule 10).
  if (caller) await within(deps.clock, deps.upToDate());
  const now = deps.clock.now();

  const shape = {
    params: match.params,
    query: request.query,
    contentType: request.header('content-type'),
    body: read.bytes,
  };
  const early = operation.validatesFirst ? validateRequest(operation, shape) : null;
  if (early?.outcome === 'invalid') return refused(invalidRequest(early));
  const forbidden = caller && permissionFault(operation, caller.identity);
  if (forbidden) {
    if (operation.command !== undefined) logForbidden(deps.log, operation.command, match, caller.identity);
    return refused(forbidden);
  }

  const ifMatch = readIfMatch(operation, request);
  if (ifMatch === 'missing') return refused(MISSING_IF_MATCH);
  const valid = early ?? validateRequest(operation, shape);
  if (valid.outcome === 'invalid') return refused(invalidRequest(valid));
  if (valid.outcome === 'not_found') return refused(NOT_FOUND);

  return operation.handle(callOf(deps, caller, request, valid, ifMatch, now));
}

function logForbidden(log: Log, command: string, { params }: Match, { id, transport }: Identity): void {
  const group = params.alert_group_id;
  log('command_refused', { command, group, actor: id, transport, code: 'forbidden' });
}

/** Bodies are counted by client address until it is proven who sends them. */
function openHold(deps: DispatchDeps, { needs }: Operation, request: Request): BodyHold {
  const address = deps.clientAddress(request.socketAddress, request.header('x-forwarded-for'));
  return deps.bodies.open(needs === 'none' ? 'anonymous' : 'unproven', sourceKey(address));
}

/** Largest body that is read of a request, bytes. */
function bodyLimit({ needs }: Operation): number {
  return needs === 'none' ? ANONYMOUS_BODY_LIMIT : APP_BODY_LIMIT;
}

function refused(problem: Problem): Refused {
  return { problem };
}

function isStream(operation: Operation): boolean {
  return operation.answers[200]?.contentType === 'text/event-stream';
}

/** The caller; null for a public operation. */
async function callerOf(
  deps: DispatchDeps,
  operation: Operation,
  request: Request,
): Promise<Caller | Refused | null> {
  if (operation.needs === 'none') return null;
  const found = await within(deps.clock, deps.authenticate(request, deps.clock.now()));
  if (found.kind === 'identity') return found;
  return refused(found.kind === 'refused' ? found.problem : NOT_SIGNED_IN);
}

const NOT_SIGNED_IN: Problem = { status: 401, type: 'unauthenticated', detail: 'Sign in first.' };

const MISSING_IF_MATCH: Problem = {
  status: 428,
  type: 'precondition-required',
  detail: 'Send the header If-Match with the ETag you read.',
};

function readIfMatch(operation: Operation, request: Request): IfMatch | null | 'missing' {
  if (!operation.ifMatch) return null;
  const header = request.header('if-match');
  if (header !== null) return parseIfMatch(header);
  return operation.ifMatch === 'required' ? 'missing' : null;
}

function invalidRequest({ errors }: Extract<Validation, { outcome: 'invalid' }>): Problem {
  return {
    status: 400,
    type: 'validation-failed',
    detail: 'Some fields are not as they must be.',
    errors,
  };
}

function callOf(
  deps: DispatchDeps,
  caller: Caller | null,
  request: Request,
  valid: Extract<Validation, { outcome: 'valid' }>,
  ifMatch: IfMatch | null,
  now: number,
): Call {
  const identity = caller?.identity ?? null;
  return {
    params: valid.params,
    query: valid.query,
    body: valid.body,
    ifMatch,
    identity,
    principal: () => {
      if (!identity) throw new Error('a public operation has no principal');
      return principalOf(identity);
    },
    directory: deps.directory.current(),
    now,
    address: deps.clientAddress(request.socketAddress, request.header('x-forwarded-for')),
    userAgent: cut(request.header('user-agent')),
    cookie: readSessionCookie(request.header('cookie')),
    header: (name) => request.header(name),
  };
}

function cut(userAgent: string | null): string | null {
  if (userAgent === null || userAgent === '') return null;
  const bytes = Buffer.from(userAgent);
  return bytes.length <= USER_AGENT_BYTES ? userAgent : bytes.toString('utf8', 0, USER_AGENT_BYTES);
}

function replyOf(answer: Exclude<Answer, { problem: Problem }>, base: HeaderList): Reply {
  const { status, stream } = answer;
  const headers = [...answerHeaders(answer), ...base];
  if (stream) return { status, headers, stream };
  const { text, body } = answer;
  return { status, headers, content: text?.content ?? (body === undefined ? null : JSON.stringify(body)) };
}

/**
 * Not what changes something, since a secret that is told once is in such an answer, and not what has an ETag, which is
 * that of the plain form.
 */
async function compressed(
  request: Request,
  { body, etag }: Exclude<Answer, { problem: Problem }>,
  reply: Reply,
) {
  if (!isSafe(request.method) || body === undefined || etag !== undefined) return reply;
  if ('stream' in reply || typeof reply.content !== 'string') return reply;
  const plain = Buffer.from(reply.content);
  if (plain.length < COMPRESSED_FROM) return reply;
  const varies: HeaderList = [['Vary', 'Accept-Encoding'], ...reply.headers];
  if (!acceptedEncodings(request.header('accept-encoding')).has('gzip')) return { ...reply, headers: varies };
  const content = await zip(plain, { level: GZIP_LEVEL });
  return { ...reply, headers: [['Content-Encoding', 'gzip'] as const, ...varies], content };
}

function answerHeaders(answer: Exclude<Answer, { problem: Problem }>): (readonly [string, string])[] {
  const own = Object.entries(answer.headers ?? {});
  const set = new Set(own.map(([name]) => name.toLowerCase()));
  const cookies = (answer.cookies ?? []).map((cookie) => ['Set-Cookie', cookie] as const);
  const headers: (readonly [string, string])[] = [...own, ...cookies];
  if (answer.text) headers.push(['Content-Type', answer.text.contentType]);
  else if (answer.body !== undefined) headers.push(['Content-Type', 'application/json; charset=utf-8']);
  if (answer.etag !== undefined) headers.push(['ETag', etagOf(answer.etag)]);
  if (answer.location !== undefined) headers.push(['Location', answer.location]);
  if (!set.has('cache-control')) headers.push(['Cache-Control', 'no-store']);
  return headers;
}
