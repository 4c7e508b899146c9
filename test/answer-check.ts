/** Holds every answer that a test receives to the API description: status, headers and body, to the last property. */
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { MACHINE_OPERATIONS } from '../http/openapi/machine-operations.ts';
import { openApiDocument } from '../http/openapi/openapi.ts';
import type { Json } from '../http/openapi/schema.ts';
import type { Operation } from '../http/operation.ts';
import { createRouter } from '../http/request/router.ts';

export interface CheckedAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly header: (name: string) => string | null | undefined;
  /** Parsed where it is JSON; undefined where it was not kept. */
  readonly body: unknown;
}

/** @throws {Error} when the description does not allow the answer. @param path whole, without the query */
export type AnswerCheck = (method: string, path: string, answer: CheckedAnswer) => void;

interface Response {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: AnySchema }>>;
}

const ROOT = 'api';
/** Headers that an answer carries exactly where the description names them; the one to a next page where there is one. */
const DECLARED_HEADERS = ['ETag', 'Location', 'Retry-After', 'Link'];
/**
 * Answers before anybody looks for an operation, without a body: a request that is too slow, or whose head is too large.
 * They say nothing of the operation in its path, so the description, which has operations, does not list them.
 */
const BEFORE_OPERATIONS = [408, 431];
/** What `default` stands for. */
const OF_ANY_OPERATION = [413, 500];

/** Checks answers of the app listener; made once for all tables that say the same. */
export function answerCheck(operations: readonly Operation[]): AnswerCheck {
  const known = byTable.get(operations);
  if (known) return known;
  const text = tableText(operations);
  const check = byText.get(text) ?? createCheck(operations);
  byText.set(text, check);
  byTable.set(operations, check);
  return check;
}

const byTable = new WeakMap<readonly Operation[], AnswerCheck>();
const byText = new Map<string, AnswerCheck>();

/** Equal for tables whose operations say the same with the same schemas, whatever their handlers do. */
function tableText(operations: readonly Operation[]): string {
  return JSON.stringify(operations, (_, value: unknown) => {
    if (typeof value === 'function') return 'function';
    return typeof value === 'object' && value !== null && '~standard' in value ? numberOf(value) : value;
  });
}

const numbers = new WeakMap<object, string>();
let schemas = 0;

function numberOf(schema: object): string {
  const number = numbers.get(schema) ?? `schema ${++schemas}`;
  numbers.set(schema, number);
  return number;
}

/** Checks answers of the listeners for machines. Their paths have no answer elsewhere, which is the 404 of no operation. */
export const machineCheck: AnswerCheck = (method, path, answer) => {
  machines ??= checkOf(MACHINE_OPERATIONS, openApiDocument([], '0.0.0'));
  if (answer.status !== 404) machines(method, path, answer);
};
let machines: AnswerCheck | null = null;

function createCheck(operations: readonly Operation[]): AnswerCheck {
  const served = operations.map(({ id, method, path }) => ({ id, method, path: `/api/v1${path}` }));
  return checkOf(served, openApiDocument(operations, '0.0.0'));
}

type Served = Pick<Operation, 'id' | 'method' | 'path'>;

function checkOf(operations: readonly Served[], described: Json): AnswerCheck {
  const { schemas } = described.components as { readonly schemas: Schemas };
  const document = strict(described, schemas) as {
    readonly paths: Readonly<Record<string, Record<string, { responses: Record<string, object> }>>>;
    readonly components: { readonly responses: Readonly<Record<string, Response>> };
  };
  const router = createRouter(operations);
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  addFormats.default(ajv);
  ajv.addFormat('public-id', true);
  ajv.addSchema(document, ROOT);
  const compiled = new Map<AnySchema, ValidateFunction>();
  const faultsOf = (schema: AnySchema, body: unknown): readonly string[] => {
    const validate = compiled.get(schema) ?? ajv.compile(schema);
    compiled.set(schema, validate);
    if (validate(body)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
  const responseTo = ({ path, method }: Served, status: number): Response | null => {
    const responses = document.paths[path]?.[method.toLowerCase()]?.responses ?? {};
    const found = responses[status] ?? (OF_ANY_OPERATION.includes(status) ? responses.default : undefined);
    if (!found) return null;
    const name = '$ref' in found ? String(found.$ref).split('/').at(-1) : undefined;
    return name === undefined ? found : (document.components.responses[name] ?? null);
  };

  return (method, path, answer) => {
    const type = (answer.header('content-type') ?? '').split(';')[0] ?? '';
    const isFraming = answer.status === 400 && type === '';
    if (isFraming || BEFORE_OPERATIONS.includes(answer.status)) return;
    // HEAD is answered as GET is, without the body; a stream has no end and takes no HEAD.
    const operation = router.match(method, path)?.operation;
    if (!operation || (method === 'HEAD' && operation.id === 'streamLiveUpdates')) return;
    const fail = (what: string): never => {
      const body = JSON.stringify(answer.body)?.slice(0, 2_000);
      throw new Error(
        `${operation.id} answered ${answer.status}, which its description does not allow: ${what}\n${body}`,
      );
    };
    const response = responseTo(operation, answer.status) ?? fail('the status is not declared');
    for (const name of DECLARED_HEADERS) {
      const isSent = (answer.header(name.toLowerCase()) ?? null) !== null;
      const isDeclared = Object.hasOwn(response.headers ?? {}, name);
      const isDue = name === 'Link' ? isDeclared && hasNextPage(answer.body) : isDeclared;
      const isKnown = name !== 'Link' || (answer.body !== undefined && method !== 'HEAD');
      if (isKnown && isSent !== isDue) {
        fail(isSent ? `the header ${name} is not due` : `the header ${name} is missing`);
      }
    }
    // Its headers are those of the 200 that it stands for.
    if (answer.status === 304) return;
    const content = response.content?.[type];
    if (!content) {
      if (type !== '' || response.content) fail(`the content type is '${type}'`);
      return;
    }
    if (!type.endsWith('json') || answer.body === undefined || method === 'HEAD') return;
    if (operation.id.startsWith('getOpenApi')) return;
    const faults = faultsOf(content.schema, answer.body);
    if (faults.length > 0) fail(faults.join('; '));
  };
}

function hasNextPage(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'next_cursor' in body && body.next_cursor !== null;
}

type Schemas = Readonly<Record<string, Json>>;

/** The document with its references made absolute, and every object closed to properties that are not described. */
function strict(value: unknown, schemas: Schemas): unknown {
  if (Array.isArray(value)) return value.map((item) => strict(item, schemas));
  if (typeof value !== 'object' || value === null) return value;
  if ('allOf' in value) return strict(merged(value.allOf as readonly Json[], schemas), schemas);
  const members = Object.entries(value).map(([key, member]) => [
    key,
    key === '$ref' && String(member).startsWith('#/components/schemas/')
      ? `${ROOT}${member}`
      : strict(member, schemas),
  ]);
  const closed = 'properties' in value && !('additionalProperties' in value) && isSchema(value);
  return { ...Object.fromEntries(members), ...(closed ? { additionalProperties: false } : {}) };
}

/** One schema of what several must hold together: each closed by itself would refuse the fields of the others. */
function merged(parts: readonly Json[], schemas: Schemas): Json {
  const all = parts.map((part) => schemas[`${part.$ref}`.split('/').at(-1) ?? ''] ?? part);
  return {
    type: 'object',
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required }) => (required ?? []) as readonly string[]),
  };
}

/** A property of an answer may be called `properties`, too; a schema of an object says its type. */
function isSchema(value: object): boolean {
  const type = 'type' in value ? value.type : undefined;
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}
