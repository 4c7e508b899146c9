/**
 * Calls operations as the app listener would, from credentials to the answer, without a socket. An answer that the API
 * description does not allow fails the call.
 */
import type { DirectorySource } from '../actors/directory.ts';
import type { Identity, Operation } from '../http/operation.ts';
import { ROLE_PERMISSIONS, type Role } from '../http/permissions.ts';
import { createDispatch } from '../http/request/dispatch.ts';
import { createRouter } from '../http/request/router.ts';
import { createBodyBudgets } from '../http/server/body-budget.ts';
import type { Request } from '../http/server/exchange.ts';
import type { Clock } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { answerCheck } from './answer-check.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers by hand
  readonly body: any;
}

export interface OperationClient {
  get(path: string): Promise<Answered>;
  post(path: string, body?: unknown): Promise<Answered>;
  /** @param ifMatch the header as sent; left out when undefined */
  put(path: string, body: unknown, ifMatch?: string): Promise<Answered>;
  delete(path: string, ifMatch?: string): Promise<Answered>;
  /** The same operations as seen by another Role. */
  as(role: Role): OperationClient;
}

export interface OperationClientDeps {
  readonly operations: readonly Operation[];
  readonly directory: DirectorySource;
  readonly clock: Clock;
}

/** A client signed in with a web session; its person is named after the Role. Paths are below /api/v1. */
export function operationClient(deps: OperationClientDeps, role: Role = 'admin'): OperationClient {
  const router = createRouter(deps.operations);
  const dispatch = createDispatch({
    ...deps,
    authenticate: async () => ({ kind: 'identity', identity: person(role), session: null }),
    upToDate: async () => undefined,
    csrf: { issue: () => '', verify: () => true },
    log: (event, fields) => {
      if (event === 'api_request_failed') throw new Error(`${event}: ${JSON.stringify(fields)}`);
    },
    clientAddress: (socket) => socket,
    bodies: createBodyBudgets(),
    isUnavailable: () => false,
    headers: [],
  });

  const call = async (
    method: string,
    target: string,
    body?: unknown,
    ifMatch?: string,
  ): Promise<Answered> => {
    const [path = '', query = ''] = target.split('?', 2);
    const request = requestOf(method, path, query, body, ifMatch);
    const reply = await dispatch(router.match(method, path), request);
    if (!reply || 'stream' in reply) throw new Error(`${method} ${target} gave no finished answer`);
    const headers = Object.fromEntries(reply.headers.map(([name, value]) => [name.toLowerCase(), value]));
    const answered = {
      status: reply.status,
      headers,
      body: reply.content && JSON.parse(String(reply.content)),
    };
    answerCheck(deps.operations)(method, `/api/v1${path}`, { ...answered, header: (name) => headers[name] });
    return answered;
  };

  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body, ifMatch) => call('PUT', path, body, ifMatch),
    delete: (path, ifMatch) => call('DELETE', path, undefined, ifMatch),
    as: (other) => operationClient(deps, other),
  };
}

function person(role: Role): Identity {
  const id = `SR${role
    .toUpperCase()
    .replaceAll(/[ILOU]/g, '0')
    .padEnd(12, '0')
    .slice(0, 12)}` as PublicId;
  const user = { id, name: role, login: role, status: 'active', timeZone: null } as const;
  return {
    kind: 'user',
    id,
    name: role,
    user,
    permissions: ROLE_PERMISSIONS[role],
    transport: 'ui',
    session: { id: 'SN000000000000' as PublicId, state: 'active' },
    token: null,
  };
}

function requestOf(method: string, path: string, query: string, body: unknown, ifMatch?: string): Request {
  const headers: Record<string, string | undefined> = {
    'content-type': body === undefined ? undefined : 'application/json',
    'if-match': ifMatch,
  };
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  return {
    method,
    path,
    query,
    socketAddress: '192.0.2.7',
    bodyLength: bytes.length,
    header: (name) => headers[name] ?? null,
    body: async () => ({ kind: 'bytes', bytes }),
  };
}
