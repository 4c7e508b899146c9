/**
 * One entry of the operation table. Routing, validation, permission checks, the OpenAPI document and the permission
 * tests are all derived from it; nothing about an operation is said twice.
 */
import type * as v from 'valibot';
import type { SessionState } from '../actors/access/session.ts';
import type { Authorship } from '../actors/audit.ts';
import type { Directory, UserConfig } from '../actors/directory.ts';
import type { Principal, Transport } from '../actors/model.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { Permission } from './permissions.ts';
import type { Problem, ProblemType } from './problem.ts';
import type { Schema } from './schema/described.ts';

export type { SessionState };

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Who may call: a Permission, or one of the words of the API description. */
export type Needs =
  | Permission
  /** Any signed-in identity. */
  | 'authenticated'
  /** A User: Service account tokens are refused. */
  | 'user'
  /** A web session in the active state. */
  | 'session'
  /** A web session in any state. */
  | 'cookie'
  | 'integration-token'
  | 'none';

export interface OperationShape<Query extends Schema | undefined, Body extends Schema | undefined> {
  /** camelCase, unique; the operationId of the API description. */
  readonly id: string;
  readonly method: Method;
  /** Below /api/v1, with `{name}` for parameters. A `{…_id}` parameter is a PublicId. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** What the summary does not say: rules, effects, limits. Markdown. A test asks it of every operation of the API. */
  readonly description?: string;
  readonly needs: Needs;
  /** Kind of credential demanded besides a Permission: `session` is judged before it, `user` after it (routes §7). */
  readonly credential?: 'session' | 'user';
  /** Limited sessions that may call it, too. With `needs: 'cookie'` every state may. */
  readonly alsoIn?: readonly SessionState[];
  /** Further Permissions by which the body may raise what is needed; checked by the handler. */
  readonly mayAlsoNeed?: readonly Permission[];
  /** Prefix of each `{…_id}`: an id of another type is 404. */
  readonly ids?: Readonly<Record<string, string>>;
  /** What path parameters other than ids mean. */
  readonly paths?: Readonly<Record<string, string>>;
  /** Path parameters that are one of some words; any other is 404, before anything else of the request is judged. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** Other path parameters (`{name}`) are plain text. */
  readonly query?: Query;
  /** Never 400 for its query: what cannot be read, or is given twice, counts as not given. */
  readonly takesAnyQuery?: true;
  readonly body?: Body;
  /** The body may be left out; it then counts as `{}`. */
  readonly bodyOptional?: true;
  readonly ifMatch?: 'required' | 'optional';
  /** Commands of Alert Groups: shape (400) is judged before the Permission (403). */
  readonly validatesFirst?: true;
  /** The Command of an Alert Group that it is: refused for want of its Permission, it is logged (alert-groups §6.1). */
  readonly command?: string;
  readonly answers: Readonly<Record<number, AnswerShape>>;
  /** Codes of refusals besides those every operation of its form has: `[status, type, code]`. */
  readonly refusals?: readonly (readonly [number, ProblemType, string])[];
}

export interface AnswerShape {
  readonly description: string;
  readonly schema?: Schema;
  readonly contentType?: string;
  /** Carries the header ETag; a 201 then carries Location, too. */
  readonly etag?: true;
  /** Further headers, by name, with what they say. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Operation<
  Query extends Schema | undefined = Schema | undefined,
  Body extends Schema | undefined = Schema | undefined,
> extends OperationShape<Query, Body> {
  readonly handle: (call: Call<Output<Query>, Output<Body>>) => Promise<Answer>;
}

type Output<S extends Schema | undefined> = S extends Schema ? v.InferOutput<S> : undefined;

/** Declares an operation with its handler's argument types inferred from its schemas. */
export function operation<Query extends Schema | undefined, Body extends Schema | undefined>(
  shape: Operation<Query, Body>,
): Operation {
  return shape as unknown as Operation;
}

/** One validated request. */
export interface Call<Query = unknown, Body = unknown> {
  /** Path parameters; `…_id` ones are normalised PublicIds. */
  readonly params: Readonly<Record<string, PublicId>>;
  readonly query: Query;
  readonly body: Body;
  readonly ifMatch: IfMatch | null;
  readonly identity: Identity | null;
  /** The caller as actors and the Audit log record it. @throws when the operation needs no identity */
  readonly principal: () => Principal;
  readonly directory: Directory;
  readonly now: Micros;
  /** Client address after trusted proxies, and the first 512 bytes of the user agent. */
  readonly address: string;
  readonly userAgent: string | null;
  /** Value of the session cookie, for the few operations that work on it. */
  readonly cookie: string | null;
  /** Reads a further header, by lower-case name. */
  readonly header: (name: string) => string | null;
}

/** Compares an `If-Match` header with a version. */
export interface IfMatch {
  matches(version: number): boolean;
}

export interface Identity {
  readonly kind: 'user' | 'service_account';
  readonly id: PublicId;
  readonly name: string;
  readonly user: UserConfig | null;
  readonly permissions: ReadonlySet<Permission>;
  readonly transport: Transport;
  readonly session: { readonly id: PublicId; readonly state: SessionState } | null;
  /** What it called with, unless that was a web session. */
  readonly token: { readonly id: PublicId; readonly name: string } | null;
}

export type Answer =
  | {
      readonly status: number;
      readonly body?: unknown;
      /** Version; sent as `ETag: "<version>"`. */
      readonly etag?: number;
      readonly location?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Each sent as a Set-Cookie of its own. */
      readonly cookies?: readonly string[];
      /** Sent as it is in place of `body`. */
      readonly text?: { readonly contentType: string; readonly content: string };
      /** Keeps the answer open and hands over its writing end; nothing else is sent. */
      readonly stream?: (output: OutputStream) => void;
    }
  | { readonly problem: Problem };

/** The writing end of an answer without an end of its own. */
export interface OutputStream {
  /** @returns false when the reader does not keep up: what was given is kept, more should wait for `onDrained` */
  write(text: string): boolean;
  onDrained(listener: () => void): void;
  /** Called once, whoever ended it. */
  onClosed(listener: () => void): void;
  close(): void;
}

/** Whom the Audit log names for what a call changes. @throws when the operation needs no identity */
export function authorOf(call: Pick<Call, 'principal' | 'now' | 'address'>): Authorship {
  return { by: call.principal(), at: call.now, address: call.address };
}

/** Entity tags: the version of a resource in quotes (api §1.6). */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** Reads an If-Match header: one tag or a list, weak forms too, `*`; what cannot be read matches nothing. */
export function parseIfMatch(header: string): IfMatch {
  const text = header.trim();
  if (text === '*') return { matches: () => true };
  const tags = readTags(text);
  return { matches: (version) => tags.includes(String(version)) };
}

/** Whether an If-None-Match header covers a strong tag given with its quotes. */
export function noneMatchCovers(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === '*') return true;
  return readTags(header).includes(etag.slice(1, -1));
}

function readTags(text: string): readonly string[] {
  const tags: string[] = [];
  for (const part of text.split(',')) {
    const match = /^(?:W\/)?"([^"]*)"$/.exec(part.trim());
    if (!match) return [];
    tags.push(match[1] ?? '');
  }
  return tags;
}
