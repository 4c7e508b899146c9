/** Requests to every operation of the API, generated from the description that the service itself serves. */
import type { Random } from '../simulation/random.ts';
import { changed, type Json, oddNumber, oddText, oddValue } from './values.ts';

/** A JSON Schema, as far as the description of the API uses it. */
// biome-ignore lint/suspicious/noExplicitAny: read from a document whose form the tests of the description check
type Schema = any;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
  readonly description?: string;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | null;
  readonly isIngest: boolean;
}

export interface Grammar {
  readonly operations: readonly Operation[];
  /** Ids that were seen in answers; requests refer to them. */
  readonly ids: Set<string>;
  request(operation: Operation, random: Random): GeneratedRequest;
}

export interface GeneratedRequest {
  readonly method: string;
  /** With the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const METHODS = ['get', 'post', 'put', 'delete'];

/** @param description what `/api/v1/openapi.json` answers */
export function createGrammar(description: Schema): Grammar {
  const ids = new Set<string>();
  const resolve = (schema: Schema): Schema => {
    if (typeof schema?.$ref !== 'string') return schema ?? {};
    const found = schema.$ref
      .slice(2)
      .split('/')
      .reduce((at: Schema, key: string) => at[key], description);
    return resolve(found);
  };
  const operations = operationsOf(description, resolve);
  const prefixes = prefixesOf(operations);
  /** Mostly an id of the type that the name of the field asks for. */
  const idFor = (name: string, random: Random): string => {
    const prefix = prefixes.get(name.replace(/_ids$/, '_id')) ?? '';
    const fitting = [...ids].filter((id) => id.startsWith(prefix));
    return random.pick(fitting.length > 0 && random.chance(0.9) ? fitting : [...ids]);
  };

  /** A value of the schema; below a few levels only what is required. */
  const generate = (given: Schema, random: Random, name: string, depth: number): Json => {
    const schema = resolve(given);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return random.pick(schema.enum);
    const options = schema.anyOf ?? schema.oneOf;
    if (options) return generate(random.pick(options), random, name, depth);
    if (schema.allOf)
      return Object.assign({}, ...schema.allOf.map((part: Schema) => generate(part, random, name, depth)));
    const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
    switch (type) {
      case 'object':
        return objectOf(schema, random, depth);
      case 'array': {
        const least = schema.minItems ?? 0;
        const most = Math.min(schema.maxItems ?? least + 3, least + 3);
        const length = least + random.int(most - least + 1);
        return Array.from({ length }, () =>
          generate(schema.items, random, name.replace(/s$/, ''), depth + 1),
        );
      }
      case 'integer':
      case 'number':
        return random.chance(0.7) ? boundary(schema, random) : oddNumber(random);
      case 'boolean':
        return random.chance(0.5);
      case 'null':
        return null;
      case 'string':
        return textOf(schema, random, name);
      default:
        return oddValue(random);
    }
  };
  const objectOf = (schema: Schema, random: Random, depth: number): Json => {
    const fields = Object.entries(schema.properties ?? {}).filter(
      ([key]) => schema.required?.includes(key) || (depth < 6 && random.chance(0.7)),
    );
    return Object.fromEntries(fields.map(([key, field]) => [key, generate(field, random, key, depth + 1)]));
  };
  const textOf = (schema: Schema, random: Random, name: string): string => {
    const isId = /_ids?$/.test(name) || String(schema.pattern ?? '').includes('HJKMNP-TV-Z');
    if (isId && ids.size > 0 && random.chance(0.8)) return idFor(name, random);
    if (/url/.test(name) && random.chance(0.7)) return 'http://127.0.0.1:1/';
    if (random.chance(0.5)) return `name ${random.int(1_000_000)}`;
    if (schema.maxLength !== undefined && random.chance(0.3))
      return 'x'.repeat(schema.maxLength + random.int(3) - 1);
    return oddText(random);
  };

  return {
    operations,
    ids,
    request(operation, random) {
      const query: string[] = [];
      let path = operation.path;
      const headers: Record<string, string> = {};
      for (const { name, in: place, schema } of operation.parameters) {
        if (place === 'path') {
          const value = random.chance(0.9) ? textOf(resolve(schema), random, name) : oddText(random);
          path = path.replace(
            `{${name}}`,
            encode(resolve(schema).enum && random.chance(0.9) ? random.pick(resolve(schema).enum) : value),
          );
        } else if (place === 'query' && random.chance(0.4)) {
          const value = random.chance(0.6) ? generate(schema, random, name, 0) : oddText(random);
          for (const item of Array.isArray(value) ? value : [value])
            query.push(`${name}=${encode(String(item))}`);
        } else if (name === 'If-Match' && random.chance(0.95)) {
          headers['if-match'] = random.pick([
            '*',
            '"1"',
            '"1"',
            '"2"',
            'W/"1"',
            '1',
            '"',
            '"99999999999999999999"',
          ]);
        }
      }
      const sends = operation.body !== null && random.chance(0.97);
      if (sends) headers['content-type'] = random.chance(0.98) ? 'application/json' : 'text/plain';
      return {
        method: operation.method,
        target: query.length > 0 ? `${path}?${query.join('&')}` : path,
        headers,
        body: sends ? bodyOf(operation, random) : null,
      };
    },
  };

  function bodyOf({ id, body }: Operation, random: Random): string {
    let value = generate(body, random, '', 0);
    for (let times = random.pick([0, 0, 1, 1, 2, 5]); times > 0; times--) value = changed(value, random);
    const text = JSON.stringify(harmless(id, value));
    return random.chance(0.97) ? text : broken(text, random);
  }
}

/** Of what a body may change, what would shut the fuzzer itself out is left alone. */
function harmless(operationId: string, value: Json): Json {
  if (operationId !== 'updateOrganization' || typeof value !== 'object' || value === null) return value;
  return 'totp_required' in value ? { ...value, totp_required: 'nobody' } : value;
}

function broken(text: string, random: Random): string {
  const at = random.int(text.length + 1);
  return random.pick([
    text.slice(0, at),
    `${text.slice(0, at)}${oddText(random)}${text.slice(at)}`,
    `${text}${text}`,
    `[${text}]`,
    '['.repeat(10_000),
    `{"a":${'9'.repeat(5_000)}}`,
  ]);
}

function boundary(schema: Schema, random: Random): number {
  const low = schema.minimum ?? schema.exclusiveMinimum ?? 0;
  const high = schema.maximum ?? schema.exclusiveMaximum ?? low + 1_000;
  return random.pick([low, low - 1, low + 1, high, high - 1, high + 1, Math.floor((low + high) / 2)]);
}

/** As `encodeURIComponent`, which bears no half surrogate pairs. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'))
    .slice(0, 3_000)
    .replace(/%[0-9A-F]?$/, '');
}

function operationsOf(description: Schema, resolve: (schema: Schema) => Schema): readonly Operation[] {
  const base = new URL(description.servers?.[0]?.url ?? '/', 'http://tocsin').pathname.replace(/\/$/, '');
  return Object.entries<Schema>(description.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined && !isStream(item[method], resolve)).map(
      (method) => ({
        id: item[method].operationId,
        method: method.toUpperCase(),
        path: base + path,
        parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map(resolve),
        body: item[method].requestBody
          ? resolve(resolve(item[method].requestBody).content?.['application/json']?.schema ?? {})
          : null,
        isIngest: /\/(ingest|heartbeat|callbacks)(\/|$)/.test(path) || /^\/(health|metrics)/.test(path),
      }),
    ),
  );
}

/** The two letters that ids begin with, by the parameters that the description says it of. */
function prefixesOf(operations: readonly Operation[]): ReadonlyMap<string, string> {
  const named = operations.flatMap(({ parameters }) => parameters);
  return new Map(
    named.flatMap(({ name, schema, description }) => {
      const [, prefix] = /\b([A-Z]{2})\b/.exec(`${description ?? ''} ${schema?.description ?? ''}`) ?? [];
      return prefix === undefined ? [] : [[name, prefix]];
    }),
  );
}

/** An answer that does not end. */
function isStream(operation: Schema, resolve: (schema: Schema) => Schema): boolean {
  return resolve(operation.responses?.['200'])?.content?.['text/event-stream'] !== undefined;
}
