/** This API as an OpenAPI 3.1 document, derived from the operation table (api §18). */
import { createHash } from 'node:crypto';
import { isPermission } from './admission.ts';
import { PROBLEM_BASE } from './errors.ts';
import { MACHINE_OPERATIONS, type MachineOperation } from './openapi-machine.ts';
import { answerSchema, bodySchema, queryParameters } from './openapi-schema.ts';
import { describedWebhooks } from './openapi-webhook.ts';
import type { Needs, Operation } from './operation.ts';
import { FIELD_ERROR_CODES, PROBLEM_TYPES } from './problem.ts';
import type { ApiDescription } from './resources/system.ts';
import { parameterNames } from './router.ts';
import { toYaml } from './yaml.ts';

type Json = Readonly<Record<string, unknown>>;

const API = '/api/v1';
const PROBLEM = 'application/problem+json';

export function describeApi(operations: readonly Operation[], version: string): ApiDescription {
  const document = openApiDocument(operations, version);
  const json = JSON.stringify(document);
  const hash = createHash('sha256').update(json).digest('base64url').slice(0, 22);
  return { json, yaml: toYaml(document), etag: `"${hash}"` };
}

export function openApiDocument(operations: readonly Operation[], version: string): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tocsin',
      version,
      description: 'Alert grouping and on-call. Conventions shared by all operations: docs/api.md.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths: pathsOf([
      ...operations.map((operation) =>
        entry(API + operation.path, operation.method, apiOperation(operation)),
      ),
      ...MACHINE_OPERATIONS.map((described) =>
        entry(described.path, described.method, machineOperation(described)),
      ),
    ]),
    webhooks: describedWebhooks(),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: { Problem: problemSchema(), FieldError: FIELD_ERROR },
    },
  };
}

interface PathEntry {
  readonly path: string;
  readonly method: string;
  readonly described: Json;
}

function entry(path: string, method: string, described: Json): PathEntry {
  return { path, method: method.toLowerCase(), described };
}

function pathsOf(entries: readonly PathEntry[]): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { path, method, described } of entries) {
    paths[path] = { ...paths[path], [method]: described };
  }
  return paths;
}

function apiOperation(operation: Operation): Json {
  const { id, tag, summary, needs, query, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    'x-permission': permissionWord(needs),
    ...(operation.mayAlsoNeed ? { 'x-may-also-need': operation.mayAlsoNeed } : {}),
    security: securityOf(operation),
    parameters: [
      ...parameterNames(operation.path).map((name) => pathParameter(operation, name)),
      ...(query ? queryParameters(query) : []),
      ...(operation.ifMatch ? [ifMatchParameter(operation.ifMatch === 'required')] : []),
    ],
    ...(body
      ? {
          requestBody: {
            required: operation.bodyOptional !== true,
            content: { 'application/json': { schema: bodySchema(body) } },
          },
        }
      : {}),
    responses: { ...answersOf(operation), ...refusalsOf(operation) },
  };
}

function permissionWord(needs: Needs): string {
  if (isPermission(needs) || needs === 'none' || needs === 'integration-token') return needs;
  return 'authenticated';
}

function securityOf({ needs, credential }: Operation): readonly Json[] {
  if (needs === 'none') return [];
  const sessionOnly = needs === 'session' || needs === 'cookie' || credential === 'session';
  return sessionOnly ? [{ session: [] }] : [{ session: [] }, { token: [] }];
}

const SECURITY_SCHEMES = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_session',
    description:
      'Web session; mutations also need the header X-CSRF-Token with the csrf_token of the Session.',
  },
  token: { type: 'http', scheme: 'bearer', description: 'Personal access token or Service account token.' },
  integrationToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'Integration token; it may also end the path.',
  },
};

function pathParameter({ ids, words }: Pick<Operation, 'ids' | 'words'>, name: string): Json {
  const prefix = ids?.[name];
  const known = words?.[name];
  const id = name.endsWith('_id');
  return {
    name,
    in: 'path',
    required: true,
    ...(prefix ? { description: `PublicId with the prefix ${prefix}` } : {}),
    schema: {
      type: 'string',
      ...(id && prefix ? { pattern: PUBLIC_ID } : {}),
      ...(known ? { enum: known } : {}),
    },
  };
}

const PUBLIC_ID = '^[A-HJKMNP-TV-Za-hjkmnp-tv-z]{1,2}[0-9A-TV-Za-tv-z]{12}$';

function ifMatchParameter(required: boolean): Json {
  return {
    name: 'If-Match',
    in: 'header',
    required,
    description: 'The ETag that was read; a stale one is answered 412.',
    schema: { type: 'string' },
  };
}

function answersOf({ answers, handle }: Operation): Json {
  if (!handle) return {};
  const described = Object.entries(answers).map(([status, answer]) => {
    const type = answer.contentType ?? 'application/json';
    const schema = answer.schema ? answerSchema(answer.schema) : { type: 'string' };
    return [
      status,
      {
        description: answer.description,
        ...(answer.etag ? { headers: { ETag: { schema: { type: 'string' } } } } : {}),
        ...(answer.schema || answer.contentType ? { content: { [type]: { schema } } } : {}),
      },
    ];
  });
  return Object.fromEntries(described);
}

/** Problems by status: what every operation of this form may refuse, and what it adds. */
function refusalsOf(operation: Operation): Json {
  const refusals: (readonly [number, string, string])[] = [
    ...commonRefusals(operation),
    ...(operation.refusals ?? []),
  ];
  const byStatus = new Map<number, Set<string>>();
  for (const [status, type, code] of refusals) {
    const known = byStatus.get(status) ?? new Set();
    byStatus.set(status, known.add(code === '' || code === type ? type : `${type} (${code})`));
  }
  return Object.fromEntries([...byStatus].map(([status, types]) => [status, problemAnswer([...types])]));
}

function commonRefusals(operation: Operation): (readonly [number, string, string])[] {
  const { needs, method, ifMatch } = operation;
  const shaped = operation.body || operation.query || operation.path.includes('{');
  const found: (readonly [number, string, string])[] = [[500, 'internal', '']];
  if (needs !== 'none') found.push([401, 'unauthenticated', ''], [403, 'forbidden', '']);
  if (method !== 'GET') found.push([403, 'forbidden', 'csrf_invalid'], [413, 'payload-too-large', '']);
  if (!operation.handle) return [...found, [501, 'not-implemented', '']];
  found.push([503, 'coordination-unavailable', '']);
  if (shaped) found.push([400, 'validation-failed', '']);
  if (operation.path.includes('{')) found.push([404, 'not-found', '']);
  if (ifMatch) found.push([412, 'precondition-failed', '']);
  if (ifMatch === 'required') found.push([428, 'precondition-required', '']);
  return found;
}

function problemAnswer(types: readonly string[]): Json {
  return {
    description: types.join(', '),
    content: { [PROBLEM]: { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

function machineOperation(described: MachineOperation): Json {
  const { id, tag, summary, needs, answers } = described;
  return {
    operationId: id,
    tags: [tag],
    summary,
    'x-permission': needs,
    security: needs === 'integration-token' ? [{ integrationToken: [] }] : [],
    parameters: parameterNames(described.path).map((name) => pathParameter({}, name)),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, description]) => [status, { description }]),
    ),
  };
}

function problemSchema(): Json {
  return {
    type: 'object',
    required: ['type', 'title', 'status'],
    properties: {
      type: { enum: Object.keys(PROBLEM_TYPES).map((name) => PROBLEM_BASE + name) },
      title: { enum: Object.values(PROBLEM_TYPES) },
      status: { type: 'integer' },
      detail: { type: 'string' },
      instance: { type: 'string' },
      code: { type: 'string', description: 'Refines the type; clients branch on type and code only.' },
      errors: { type: 'array', items: { $ref: '#/components/schemas/FieldError' } },
      retry_after_seconds: { type: 'integer', minimum: 1 },
      open_alert_group_count: { type: 'integer' },
      related_alert_group: {
        type: 'object',
        required: ['id', 'number'],
        properties: { id: { type: 'string' }, number: { type: 'integer' } },
      },
      link_rules: {
        type: 'array',
        items: {
          type: 'object',
          required: ['id', 'name'],
          properties: { id: { type: 'string' }, name: { type: 'string' } },
        },
      },
    },
  };
}

const FIELD_ERROR: Json = {
  type: 'object',
  required: ['pointer', 'code'],
  properties: {
    pointer: { type: 'string', description: 'RFC 6901 into the body, or /query/<name>, /path/<name>' },
    code: { enum: FIELD_ERROR_CODES },
    detail: { type: 'string' },
    line: { type: 'integer', minimum: 1 },
    column: { type: 'integer', minimum: 1 },
  },
};
