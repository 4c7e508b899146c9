/** One operation of the table as the API description shows it, with every refusal that it may answer. */
import * as v from 'valibot';
import { PROBLEM_BASE } from '../errors.ts';
import type { AnswerShape, Needs, Operation } from '../operation.ts';
import {
  FIELD_ERROR_LIMIT,
  FIELD_ERRORS,
  POINTER_LIMIT,
  PROBLEM_TYPES,
  type ProblemType,
} from '../problem.ts';
import { isPermission } from '../request/admission.ts';
import { parameterNames } from '../request/router.ts';
import { ANY_ID, count, described, documented, idComponent, named, words } from '../schema/described.ts';
import { isPaged } from '../schema/page.ts';
import { AlertGroupRef, EntityRef } from '../schema/shapes.ts';
import { type Json, mapped, type SchemaReader, SHARED_NAMES } from './schema.ts';

export function describedOperation(operation: Operation, reader: SchemaReader): Json {
  const { id, tag, summary, description, needs, query, body } = operation;
  const parameters = [
    ...parameterNames(operation.path).map((name) => pathParameter(operation, name, reader)),
    ...(query ? reader.query(query) : []),
    ...(operation.ifMatch ? [IF_MATCH[operation.ifMatch]] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    'x-permission': permissionWord(needs),
    ...(operation.mayAlsoNeed ? { 'x-may-also-need': operation.mayAlsoNeed } : {}),
    ...(securityOf(operation) === ANY_CREDENTIAL ? {} : { security: securityOf(operation) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body
      ? {
          requestBody: {
            ...(operation.bodyOptional ? {} : { required: true }),
            content: { 'application/json': { schema: reader.body(body) } },
          },
        }
      : {}),
    responses: {
      ...answersOf(operation, reader),
      ...problemResponses(refusalsOf(operation)),
      default: DEFAULT_RESPONSE,
    },
  };
}

function permissionWord(needs: Needs): string {
  if (isPermission(needs) || needs === 'none' || needs === 'integration-token') return needs;
  return 'authenticated';
}

/** What operations take that say nothing else. */
export const ANY_CREDENTIAL: readonly Json[] = [{ session: [] }, { token: [] }];

function securityOf({ needs, credential }: Operation): readonly Json[] {
  if (needs === 'none') return [];
  const sessionOnly = needs === 'session' || needs === 'cookie' || credential === 'session';
  return sessionOnly ? [{ session: [] }] : ANY_CREDENTIAL;
}

export function pathParameter(
  { ids, words, paths }: Pick<Operation, 'ids' | 'words' | 'paths'>,
  name: string,
  reader: SchemaReader,
): Json {
  const known = words?.[name];
  const ofId = name.endsWith('_id') && known === undefined;
  const type = idComponent(ids?.[name] ?? '');
  const description = paths?.[name] ?? (ofId ? `Id of the ${nounOf(name)}.` : undefined);
  return {
    name,
    in: 'path',
    required: true,
    ...(description === undefined ? {} : { description }),
    schema: ofId ? reader.answer(type ?? ANY_ID) : { type: 'string', ...(known ? { enum: known } : {}) },
  };
}

/** `link_rule_id` → `Link rule`, as the documents write it. */
function nounOf(name: string): string {
  const noun = name.slice(0, -'_id'.length).replaceAll('_', ' ');
  if (noun === 'alert group') return 'Alert Group';
  return noun === 'token' ? noun : `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
}

const IF_MATCH = {
  required: {
    name: 'If-Match',
    in: 'header',
    required: true,
    description: 'The `ETag` that was read. A stale one is 412, none is 428; `*` matches whatever is there.',
    schema: { type: 'string', examples: ['"3"'] },
  },
  optional: {
    name: 'If-Match',
    in: 'header',
    description: 'The `ETag` that was read. A stale one is 412; left out, nothing is compared.',
    schema: { type: 'string', examples: ['"3"'] },
  },
};

function answersOf({ answers, query }: Operation, reader: SchemaReader): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      answerOf(Number(status), answer, isPaged(query), reader),
    ]),
  );
}

function answerOf(status: number, answer: AnswerShape, paged: boolean, reader: SchemaReader): Json {
  const { description, schema, contentType = 'application/json', etag, headers = {} } = answer;
  const declared = {
    ...(paged ? { Link: { $ref: '#/components/headers/Link' } } : {}),
    ...(etag ? { ETag: { $ref: '#/components/headers/ETag' } } : {}),
    ...(etag && status === 201 ? { Location: { $ref: '#/components/headers/Location' } } : {}),
    ...Object.fromEntries(
      Object.entries(headers).map(([name, text]) => [
        name,
        { description: text, schema: { type: 'string' } },
      ]),
    ),
  };
  const content = schema || answer.contentType ? contentOf(contentType, answer, reader) : null;
  return {
    ...(schema ? { [SHARED_NAMES]: sharedNames(content?.schema as Json) } : {}),
    description,
    ...(Object.keys(declared).length === 0 ? {} : { headers: declared }),
    ...(schema || answer.contentType
      ? { content: { [contentType]: contentOf(contentType, answer, reader) } }
      : {}),
  };
}

/** An answer is shared under the name of its schema. */
function sharedNames({ $ref }: Json): readonly string[] {
  const name = typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
  return name === undefined ? [] : [name, `${name}Created`];
}

function contentOf(contentType: string, { schema }: AnswerShape, reader: SchemaReader): Json {
  if (!schema) return { schema: { type: 'string' } };
  if (contentType === 'application/json') return { schema: reader.answer(schema) };
  return { schema: { type: 'string', contentMediaType: contentType, contentSchema: reader.answer(schema) } };
}

/** The problem document as clients see it (api §1.8). */
const line = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)));

export const FieldErrorShape = named(
  'FieldError',
  v.object({
    pointer: described(
      v.pipe(v.string(), v.maxLength(POINTER_LIMIT)),
      'The field: an RFC 6901 pointer into the body (empty for the whole body), `/query/<name>` or `/path/<name>`. Ends in an ellipsis where it was cut.',
      '/policy/storm_threshold',
    ),
    code: words('FieldErrorCode', FIELD_ERRORS, 'What is wrong. Stable; branch on it.'),
    detail: described(v.optional(v.string()), 'A sentence in English that may change between releases.'),
    line: described(line, 'Line of a mistake in a template, from 1. Absent elsewhere.'),
    column: described(line, 'Column of a mistake in a template, from 1. Absent elsewhere.'),
  }),
  'One field that was refused.',
);

const ProblemTypeShape = documented(
  v.picklist(Object.keys(PROBLEM_TYPES).map((name) => PROBLEM_BASE + name)),
  {
    component: 'ProblemType',
    description: 'The type of a problem: a constant, never fetched. Stable; branch on it. By its last part:',
    enumDescriptions: mapped(PROBLEM_TYPES, ([, meaning]) => meaning),
  },
);

export const ProblemShape = named(
  'Problem',
  v.object({
    type: ProblemTypeShape,
    title: described(v.string(), 'The title of the type, in English.', 'Validation failed'),
    status: described(v.pipe(v.number(), v.integer()), 'The HTTP status.'),
    detail: described(v.optional(v.string()), 'What to do, in English. It may change between releases.'),
    instance: described(v.optional(v.string()), 'The path of the request. Absent on the ingest listener.'),
    code: described(v.optional(v.string()), 'Refines the type. Stable; branch on it.', 'name_taken'),
    errors: described(
      v.optional(v.pipe(v.array(FieldErrorShape), v.maxLength(FIELD_ERROR_LIMIT))),
      'The first 50 fields that failed, on `validation-failed` only.',
    ),
    retry_after_seconds: described(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      'The same as the header `Retry-After`, on 429 and 503.',
    ),
    open_alert_group_count: v.optional(
      count('Open Alert Groups of the Route, on `route-has-open-alert-groups`.'),
    ),
    related_alert_group: described(
      v.optional(AlertGroupRef),
      'The newer one that stands in the way, with `newer_alert_group_exists`.',
    ),
    link_rules: described(
      v.optional(v.array(EntityRef)),
      'The Link rules that read the Lookup table, with the code `in_use`; the first 50.',
    ),
  }),
  'A refusal (RFC 9457).',
);

/** `[status, type, code]`; an empty code, or that of the type, says nothing more. */
export type Refusal = readonly [number, string, string];

const OVER = ['session_expired', 'oidc_session_ended'];
const TOTP = ['totp_required', 'totp_enrolment_required'];

/** Refusals of every operation, whatever it does; described as `default`. */
export const DEFAULT_REFUSALS: readonly Refusal[] = [
  [413, 'payload-too-large', ''],
  [500, 'internal', ''],
];

/** The response of {@link DEFAULT_REFUSALS}. */
export const DEFAULT_RESPONSE: Json = {
  ...problemResponse('Other', [
    { type: 'payload-too-large', codes: [] },
    { type: 'internal', codes: [] },
  ]),
};

/** What an operation may refuse: what every one of its form does, and what it adds. */
function refusalsOf(operation: Operation): readonly Refusal[] {
  return [...commonRefusals(operation), ...(operation.refusals ?? [])];
}

function commonRefusals(operation: Operation): readonly Refusal[] {
  const { method, body, query, path, ifMatch } = operation;
  const inPath = path.includes('{');
  const found: Refusal[] = [[503, 'coordination-unavailable', ''], ...credentialRefusals(operation)];
  if (method !== 'GET') found.push([403, 'forbidden', 'csrf_invalid']);
  if (body || (query && !operation.takesAnyQuery) || inPath) found.push([400, 'validation-failed', '']);
  if (body) found.push([422, 'validation-failed', '']);
  if (inPath) found.push([404, 'not-found', '']);
  if (ifMatch) found.push([412, 'precondition-failed', '']);
  if (ifMatch === 'required') found.push([428, 'precondition-required', '']);
  return found;
}

function credentialRefusals({ needs, credential }: Operation): readonly Refusal[] {
  if (needs === 'none') return [[413, 'payload-too-large', '']];
  const anyState = needs === 'cookie';
  const sessionOnly = needs === 'session' || anyState || credential === 'session';
  const usersOnly = needs === 'user' || credential === 'user';
  return [
    [401, 'unauthenticated', ''],
    ...OVER.map((code) => [401, 'unauthenticated', code] as const),
    ...(sessionOnly
      ? []
      : ['invalid_credentials', 'oidc_recheck_required'].map(
          (code) => [401, 'unauthenticated', code] as const,
        )),
    [403, 'forbidden', ''],
    ...(anyState ? [] : TOTP.map((code) => [403, 'forbidden', code] as const)),
    ...(sessionOnly
      ? [[403, 'forbidden', 'session_required'] as const]
      : [[429, 'rate-limited', ''] as const]),
    ...(usersOnly ? [[403, 'forbidden', 'service_account_not_allowed'] as const] : []),
  ];
}

/** One response for each status. */
export function problemResponses(refusals: readonly Refusal[]): Readonly<Record<string, Json>> {
  const byStatus = new Map<number, Map<string, Set<string>>>();
  for (const [status, type, code] of refusals) {
    const types = byStatus.get(status) ?? new Map<string, Set<string>>();
    const codes = types.get(type) ?? new Set();
    if (code !== '' && code !== type) codes.add(code);
    byStatus.set(status, types.set(type, codes));
  }
  return Object.fromEntries(
    [...byStatus].map(([status, types]) => [
      status,
      problemResponse(
        status,
        [...types].map(([type, codes]) => ({ type, codes: [...codes] })),
      ),
    ]),
  );
}

interface ProblemsOfType {
  readonly type: string;
  readonly codes: readonly string[];
}

function problemResponse(status: number | 'Other', problems: readonly ProblemsOfType[]): Json {
  return {
    [SHARED_NAMES]: [
      status === 'Other' ? status : `E${status}`,
      `E${status}${camelCase(...tellingCodes(problems).slice(0, 1))}`,
      `E${status}${camelCase(...tellingCodes(problems))}`,
      `E${status}SignIn`,
    ],
    description: problems.map(({ type, codes }) => sentence(type, codes)).join(' '),
    'x-problems': problems.map(({ type, codes }) => (codes.length === 0 ? { type } : { type, codes })),
    ...(status === 429 || status === 503
      ? { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } }
      : {}),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

/** Codes that say more about an operation than that it asks who calls. */
function tellingCodes(problems: readonly ProblemsOfType[]): readonly string[] {
  const codes = problems.flatMap(({ type, codes }) => (codes.length === 0 ? [type] : codes));
  return codes.filter((code) => !OVER.includes(code) && !TOTP.includes(code));
}

function sentence(type: string, codes: readonly string[]): string {
  const [title] = PROBLEM_TYPES[type as ProblemType];
  const listed = codes.map((code) => `\`${code}\``).join(', ');
  return `${title}${listed === '' ? '' : `: ${listed}`}.`;
}

function camelCase(...names: readonly string[]): string {
  return names
    .flatMap((name) => name.split(/[-_]/))
    .map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`)
    .join('');
}
