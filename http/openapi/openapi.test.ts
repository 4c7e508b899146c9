import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { BODY_EXAMPLES } from '../../actors/destination/webhook-examples.fixture.ts';
import { everyOperation, otherOperations } from '../../test/every-operation.ts';
import { startHttp } from '../../test/http-server.ts';
import {
  addressesWithoutFormat,
  bodiesWithoutExample,
  operationsOf,
  tagsOfNavigation,
  textsForNumbers,
  timesWithoutFormat,
  undescribed,
  type Whole,
  wordsUnexplained,
} from '../../test/openapi-gaps.ts';
import { type Operation, operation } from '../operation.ts';
import { assembleOperations } from '../request/router.ts';
import { extending, named } from '../schema/described.ts';
import { MACHINE_OPERATIONS } from './machine-operations.ts';
import { describeApi, openApiDocument } from './openapi.ts';
import { WebhookBodyShape } from './webhook.ts';

interface Described {
  readonly operationId: string;
  readonly 'x-permission': string;
  readonly security: readonly object[];
  readonly parameters: readonly { name: string; in: string; required: boolean }[];
  readonly responses: Readonly<Record<string, { description: string; content?: object }>>;
}
interface Document {
  readonly paths: Paths;
  readonly components: Readonly<Record<string, Readonly<Record<string, { description: string }>>>>;
}

/** What a `$ref` into the components refers to; anything else is itself. */
function resolved(
  document: Document,
  value: { description: string; $ref?: string },
): { description: string } {
  const [, , kind = '', name = ''] = value.$ref?.split('/') ?? [];
  return document.components[kind]?.[name] ?? value;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>;

const write: Operation = operation({
  id: 'updateThing',
  method: 'PUT',
  path: '/things/{thing_id}',
  tag: 'Test',
  summary: 'Change',
  needs: 'routes:write',
  ids: { thing_id: 'RT' },
  ifMatch: 'required',
  query: v.object({
    mode: v.picklist(['a', 'b']),
    label: v.optional(v.array(v.string())),
    limit: v.optional(v.pipe(v.string(), v.transform(Number))),
  }),
  body: v.object({ name: v.pipe(v.string(), v.trim(), v.maxLength(200)) }),
  answers: { 200: { description: 'It', schema: v.object({ name: v.string() }), etag: true } },
  refusals: [[409, 'conflict', 'name_taken']],
  handle: async () => ({ status: 200 }),
});

describe('the document', () => {
  test('is served as YAML and JSON with one content, without credentials, and cached by its tag', async () => {
    const { send } = await startHttp();
    const yaml = await send('GET', '/api/v1/openapi.yaml');
    const json = await send('GET', '/api/v1/openapi.json');
    expect(yaml.headers['content-type']).toBe('application/yaml');
    expect(json.headers['content-type']).toBe('application/json');
    expect(parse(yaml.text)).toEqual(json.json);
    expect(json.json.openapi).toBe('3.1.1');
    expect(yaml.headers.etag).toMatch(/^"[\w-]{22}"$/);
    const headers = { 'if-none-match': yaml.headers.etag ?? '' };
    expect((await send('GET', '/api/v1/openapi.yaml', { headers })).status).toBe(304);
  });

  test('means the same to parsers of YAML 1.1, some of which take a plain = for a tag', () => {
    const { json, yaml } = describeApi(everyOperation(), '0.0.0');
    expect(parse(yaml, { version: '1.1' })).toEqual(JSON.parse(json));
    expect(yaml).toContain('- "="\n');
  });

  test('holds every route of the server and nothing else', async () => {
    const { http, send } = await startHttp({ operations: otherOperations() });
    const { paths } = (await send('GET', '/api/v1/openapi.json')).json as { paths: Paths };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
      ),
    );
    const served = [
      ...http.operations.map(({ id, method, path }) => `${id} ${method} /api/v1${path}`),
      ...MACHINE_OPERATIONS.map(({ id, method, path }) => `${id} ${method} ${path}`),
    ];
    expect(described.sort()).toEqual(served.sort());
  });

  test('each operation that is described answers on its listener, and is not the 404 of an unknown path', async () => {
    const { send } = await startHttp();
    for (const { path, method } of MACHINE_OPERATIONS.filter(({ tag }) => tag !== 'Ingestion')) {
      const listener = path.startsWith('/api/') ? 'ingest' : 'internal';
      const answer = await send(method, path.replaceAll(/\{[^}]+\}/g, 'CN0000000000AA'), { listener });
      const expected = /\/(bridge|channel-bot)\//.test(path) ? 401 : 200;
      expect([path, answer.status]).toEqual([path, expected]);
    }
  });

  test('says what an operation needs, takes, answers and refuses', () => {
    const document = openApiDocument([write], '1.2.3') as unknown as Document;
    const described = document.paths['/api/v1/things/{thing_id}']?.put;
    expect(described).toMatchObject({
      operationId: 'updateThing',
      'x-permission': 'routes:write',
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: { name: { type: 'string', maxLength: 200 } },
              required: ['name'],
            },
          },
        },
      },
    });
    expect(described?.parameters.map(({ name, in: place, required }) => [place, name, required])).toEqual([
      ['path', 'thing_id', true],
      ['query', 'mode', true],
      ['query', 'label', undefined],
      ['query', 'limit', undefined],
      ['header', 'If-Match', true],
    ]);
    const answers = Object.entries(described?.responses ?? {}).map(([status, response]) => [
      status,
      resolved(document, response).description,
    ]);
    expect(Object.fromEntries(answers)).toEqual({
      200: 'It',
      400: 'Validation failed.',
      401: 'Unauthenticated: `session_expired`, `oidc_session_ended`, `invalid_credentials`, `oidc_recheck_required`.',
      403: 'Forbidden: `totp_required`, `totp_enrolment_required`, `csrf_invalid`.',
      404: 'Not found.',
      409: 'Conflict: `name_taken`.',
      412: 'Precondition failed.',
      422: 'Validation failed.',
      428: 'Precondition required.',
      429: 'Rate limited.',
      503: 'Temporarily unavailable.',
      default: 'Payload too large. Internal error.',
    });
  });

  test('has no operation that answers 501: each is there', () => {
    const document = openApiDocument(everyOperation(), '1.2.3') as unknown as Document;
    const answers = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ responses }) => Object.keys(responses ?? {})),
    );
    expect(answers).toContain('404');
    expect(answers).not.toContain('501');
  });

  test('gives each operation one of the words for its needs', async () => {
    const { send } = await startHttp();
    const { paths } = (await send('GET', '/api/v1/openapi.json')).json as { paths: Paths };
    for (const methods of Object.values(paths)) {
      for (const { 'x-permission': word } of Object.values(methods)) {
        expect(word).toMatch(/^(none|authenticated|integration-token|[a-z-]+:[a-z]+)$/);
      }
    }
  });
});

test.each(Object.entries(BODY_EXAMPLES))('the webhook body is described as %s is sent', (_event, body) => {
  expect(v.safeParse(WebhookBodyShape, JSON.parse(body)).issues).toBeUndefined();
});

describe('the description of the whole API', () => {
  const document = openApiDocument(everyOperation(), '1.2.3') as unknown as Whole;

  test('has a sentence for every operation, parameter, schema and property', () => {
    expect(undescribed(document)).toEqual([]);
  });

  test('gives every time its format', () => {
    expect(timesWithoutFormat(document)).toEqual([]);
  });

  test('gives every address its format, where it is a URI', () => {
    expect(addressesWithoutFormat(document)).toEqual([]);
  });

  test('calls query parameters that are read as numbers or booleans by that type', () => {
    expect(textsForNumbers(document, everyOperation())).toEqual([]);
  });

  test('explains each word of every enumeration, in bodies, answers and parameters', () => {
    expect(wordsUnexplained(document)).toEqual([]);
    const other = openApiDocument([write], '1.2.3') as unknown as Whole;
    expect(wordsUnexplained(other).map((place) => place.split(': ')[1])).toEqual(['a', 'b']);
  });

  test('has an example for every body, which its schema takes', () => {
    expect(bodiesWithoutExample(document)).toEqual([]);
  });

  test('is below 384 kB of JSON', () => {
    expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThan(384_000);
  });

  test('names every tag that an operation has, and no other', () => {
    const used = operationsOf(document).flatMap(({ tags }) => tags);
    expect(document.tags.map(({ name }) => name).sort()).toEqual([...new Set(used)].sort());
  });

  test('has its tags in the order of the navigation of the UI', () => {
    const navigation = tagsOfNavigation(document);
    expect(navigation).toHaveLength(14);
    expect(document.tags.map(({ name }) => name).filter((name) => navigation.includes(name))).toEqual(
      navigation,
    );
  });

  test('refers to the schema that another one extends, and lets it leave out or change no field of it', () => {
    const base = named('Base', v.object({ name: v.string(), note: v.optional(v.string()) }), 'A base.');
    const described = (fields: v.ObjectEntries) => {
      const body = extending(base, 'Thing', v.object(fields), 'A thing.');
      return openApiDocument([{ ...write, body }], '1.2.3') as unknown as Whole;
    };
    expect(described({ ...base.entries, size: v.number() }).components.schemas.Thing).toEqual({
      description: 'A thing.',
      allOf: [
        { $ref: '#/components/schemas/Base' },
        { type: 'object', properties: { size: { type: 'number' } }, required: ['size'] },
      ],
    });
    const wrong = 'Thing has not the name of its base';
    expect(() => described({ note: v.optional(v.string()) })).toThrow(wrong);
    expect(() => described({ ...base.entries, name: v.number() })).toThrow(wrong);
    expect(() => described({ ...base.entries, name: v.optional(v.string()) })).toThrow(wrong);
  });

  test('has no two schemas of one name', () => {
    const twice = (text: string) => named('Thing', v.object({ name: v.string() }), text);
    const reads = { ...write, id: 'one', path: '/one', body: twice('One.') };
    const other = { ...write, id: 'other', path: '/other', body: twice('Another.') };
    const [one, another] = [reads, other].map((operation) => ({ ...operation, ids: {} }));
    expect(() => openApiDocument([one as Operation, another as Operation], '1.2.3')).toThrow(
      'two schemas are called Thing',
    );
  });
});

describe('the table', () => {
  test('refuses an operation declared twice, and an id prefix without its parameter', () => {
    const moved = { ...write, path: '/others/{thing_id}' };
    const renamed = { ...write, id: 'other', path: '/things/{id}', ids: {} };
    const stray = { ...write, ids: { route_id: 'RT' } };
    expect(() => assembleOperations([write], [moved])).toThrow('updateThing is declared twice');
    expect(() => assembleOperations([write], [renamed])).toThrow('PUT /things/{} is declared twice');
    expect(() => assembleOperations([stray])).toThrow('no path parameter route_id');
    expect(assembleOperations([write], [{ ...moved, id: 'other' }])).toHaveLength(2);
  });
});
