import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { type Received, type SendOptions, startHttp } from '../../test/http-server.ts';
import { type Operation, operation } from '../operation.ts';
import { conflict, preconditionFailed } from '../problem.ts';
import { pageQuery } from '../schema/page.ts';

const ID = 'RT9X2QF4H7NJC0';

/** A resource as the table describes one: version 3, every kind of check. */
const things: readonly Operation[] = [
  operation({
    id: 'getThing',
    method: 'GET',
    path: '/things/{thing_id}',
    tag: 'Test',
    summary: 'Read',
    needs: 'alert-groups:read',
    ids: { thing_id: 'RT' },
    query: v.object({
      status: v.optional(v.array(v.picklist(['firing', 'snoozed']))),
      limit: v.optional(v.pipe(v.string(), v.transform(Number), v.minValue(1, 'out_of_range'))),
      q: v.optional(v.pipe(v.string(), v.minLength(2))),
    }),
    answers: { 200: { description: 'It', schema: v.unknown(), etag: true } },
    handle: async ({ params, query }) => ({ status: 200, body: { ...params, ...query }, etag: 3 }),
  }),
  operation({
    id: 'updateThing',
    method: 'PUT',
    path: '/things/{thing_id}',
    tag: 'Test',
    summary: 'Change',
    needs: 'organization:write',
    ids: { thing_id: 'RT' },
    ifMatch: 'required',
    body: v.object({
      name: v.pipe(v.string(), v.minLength(1), v.maxLength(5)),
      count: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(9))),
      kind: v.optional(v.picklist(['a', 'b'])),
      tags: v.optional(v.array(v.pipe(v.string(), v.regex(/^[a-z]+$/, 'duplicate')))),
      'a/b~c': v.optional(v.string()),
      deep: v.optional(v.unknown()),
    }),
    answers: { 200: { description: 'It', schema: v.unknown(), etag: true } },
    refusals: [[409, 'conflict', 'name_taken']],
    async handle({ body, ifMatch }) {
      if (!ifMatch?.matches(3)) return preconditionFailed();
      return body.name === 'taken' ? conflict('name_taken', 'Taken.') : { status: 200, body, etag: 4 };
    },
  }),
  operation({
    id: 'commandThing',
    method: 'POST',
    path: '/things/{thing_id}/command',
    tag: 'Test',
    summary: 'Act',
    needs: 'alert-groups:resolve',
    ids: { thing_id: 'RT' },
    validatesFirst: true,
    bodyOptional: true,
    body: v.object({ note: v.optional(v.string()) }),
    answers: { 200: { description: 'Done', schema: v.unknown() } },
    handle: async ({ body, principal }) => ({ status: 200, body: { body, by: principal() } }),
  }),
  operation({
    id: 'listThings',
    method: 'GET',
    path: '/things',
    tag: 'Test',
    summary: 'List',
    needs: 'alert-groups:read',
    query: v.object({ ...pageQuery, q: v.optional(v.string()) }),
    answers: { 200: { description: 'A page', schema: v.unknown() } },
    handle: async ({ query }) => ({
      status: 200,
      body: {
        items: query.q === 'long' ? new Array(1_000).fill('long') : [query.q, query.cursor],
        next_cursor: query.cursor === undefined ? 'c/1' : null,
      },
    }),
  }),
];

const PATH = `/api/v1/things/${ID}`;

async function start() {
  const server = await startHttp({ operations: [things] });
  const admin = await server.signIn('admin');
  const put = (body: unknown, options: Omit<SendOptions, 'body'> = {}) =>
    server.send('PUT', PATH, {
      as: admin,
      body,
      ...options,
      headers: { 'if-match': '"3"', ...options.headers },
    });
  return { ...server, admin, put };
}

/** `pointer code` of every field error. */
function faults(answer: Received): readonly string[] {
  const { errors = [] } = answer.json as { errors?: { pointer: string; code: string }[] };
  return errors.map(({ pointer, code }) => `${pointer} ${code}`);
}

test('a page says in the header Link where the next one is, until the last', async () => {
  const { send, admin } = await start();
  const first = await send('GET', '/api/v1/things?q=a%20b', { as: admin });
  const [, next = ''] = /^<(.+)>; rel="next"$/.exec(String(first.headers.link)) ?? [];
  const second = await send('GET', next, { as: admin });
  expect(second.json).toEqual({ items: ['a b', 'c/1'], next_cursor: null });
  expect(second.headers.link).toBeUndefined();
});

test('a long answer is compressed for whoever accepts it, and one that has an ETag, is short or tells of a change is not', async () => {
  const { send, admin, put } = await start();
  const accepting = (coding: string) => ({ as: admin, headers: { 'accept-encoding': coding } });
  const long = '/api/v1/things?q=long';
  const plain = await send('GET', long, accepting('identity'));
  expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'Accept-Encoding']);
  const packed = await send('GET', long, accepting('gzip, deflate, br'));
  expect([packed.headers['content-encoding'], packed.headers.vary]).toEqual(['gzip', 'Accept-Encoding']);
  expect(packed.bytes.length).toBeLessThan(300);
  expect(packed.text).toBe(plain.text);
  const head = await send('HEAD', long, accepting('gzip'));
  expect(head.headers['content-length']).toBe(packed.headers['content-length']);
  for (const refusing of ['gzip;q=0', 'br']) {
    const { headers } = await send('GET', long, accepting(refusing));
    expect(headers['content-encoding'], refusing).toBeUndefined();
  }
  const others = [
    await send('GET', '/api/v1/things?q=x', accepting('gzip')),
    await send('GET', `${PATH}?q=${'x'.repeat(4_096)}`, accepting('gzip')),
    await put({ name: 'a', deep: 'x'.repeat(4_096) }, accepting('gzip')),
  ];
  for (const { headers } of others)
    expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined]);
});

describe('ids', () => {
  test('are read in any case, with O for 0, and answered in upper case', async () => {
    const { send, admin } = await start();
    const answer = await send('GET', '/api/v1/things/rt9x2qf4h7njco', { as: admin });
    expect(answer.json).toEqual({ thing_id: ID });
  });

  test('of another type are 404, malformed ones 400', async () => {
    const { send, admin } = await start();
    expect((await send('GET', '/api/v1/things/AGK7M3QX9P2RTA', { as: admin })).status).toBe(404);
    for (const id of ['x', '%zz', '%00', 'RT9X2QF4H7NJC0X']) {
      const answer = await send('GET', `/api/v1/things/${id}`, { as: admin });
      expect([id, answer.status, faults(answer)]).toEqual([id, 400, ['/path/thing_id invalid_format']]);
    }
  });
});

describe('queries', () => {
  test.each([
    ['status=firing&status=snoozed&limit=5&unknown=1', 200, []],
    ['status=firing%2Csnoozed', 400, ['/query/status/0 invalid_format']],
    ['limit=1&limit=2', 400, ['/query/limit invalid_format']],
    ['limit=0&q=x', 400, ['/query/limit out_of_range', '/query/q too_short']],
    ['q=', 200, []],
    ['q=%zz&status=%ff', 400, ['/query/status invalid_format', '/query/q invalid_format']],
    ['q=100%25+sure%21&other=%zz', 200, []],
    ['q=a%00b&status=%00', 400, ['/query/status/0 invalid_format', '/query/q invalid_format']],
  ])('%s → %i %j', async (query, status, errors) => {
    const { send, admin } = await start();
    const answer = await send('GET', `${PATH}?${query}`, { as: admin });
    expect([answer.status, faults(answer)]).toEqual([status, errors]);
  });
});

describe('bodies', () => {
  test.each<[string, unknown, readonly string[]]>([
    ['nothing', undefined, [' required']],
    ['broken JSON', '{', [' invalid_format']],
    ['a list', '[]', [' invalid_format']],
    ['a text', '"x"', [' invalid_format']],
    ['bad UTF-8', Buffer.from('{"name":"\xff"}', 'latin1'), [' invalid_format']],
    ['no required field', {}, ['/name required']],
    ['null where a text is needed', { name: null }, ['/name invalid_format']],
    ['an empty text', { name: '' }, ['/name too_short']],
    ['a long text', { name: 'sixsix' }, ['/name too_long']],
    [
      'several faults',
      { count: 10, kind: 'c', tags: ['ok', 'NO'], 'a/b~c': 1 },
      [
        '/name required',
        '/count out_of_range',
        '/kind invalid_format',
        '/tags/1 duplicate',
        '/a~1b~0c invalid_format',
      ],
    ],
    ['a fraction', { name: 'x', count: 1.5 }, ['/count invalid_format']],
    [
      'half a surrogate pair',
      '{"name":"a\\ud83d","deep":{"k\\udca9":["\\ud800"]},"tags":["\\ud83d\\ude00"]}',
      ['/name invalid_format', '/deep invalid_format', '/deep/k\udca9/0 invalid_format'],
    ],
    ['U+0000', { name: 'a\0', deep: { 'k\0': ['\0'] } }, ['/name invalid_format', '/deep invalid_format']],
  ])('%s is 400 naming the fields', async (_name, body, errors) => {
    const { put } = await start();
    const answer = await put(body);
    expect(answer.status).toBe(400);
    expect(faults(answer).slice(0, errors.length)).toEqual(errors);
  });

  test('unknown fields are ignored, 64 levels pass, 65 do not', async () => {
    const { put } = await start();
    const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    const answer = await put({ name: 'x', etag: '"3"', deep: nested(63) });
    expect(answer.status).toBe(200);
    expect(answer.json, 'the body that the operation got').toEqual({ name: 'x', deep: nested(63) });
    expect(faults(await put({ name: 'x', deep: nested(64) }))).toEqual([' invalid_format']);
  });

  test('must be JSON by their content type, parameters aside', async () => {
    const { put } = await start();
    const typed = (type: string) => put({ name: 'x' }, { headers: { 'content-type': type } });
    expect((await typed('Application/JSON; charset=utf-8')).status).toBe(200);
    expect(faults(await typed('text/plain'))).toEqual([' unsupported']);
  });

  test('a refused value is never repeated', async () => {
    const { put } = await start();
    expect((await put({ name: 'hunter2-secret' })).text).not.toContain('hunter2');
  });
});

describe('If-Match', () => {
  test.each([
    ['W/"3"', 200],
    ['*', 200],
    ['"1", "3"', 200],
    ['"2"', 412],
    ['abc', 412],
    ['"3", abc', 412],
    ['"3\xff"', 412],
    ['"3"\xff, "3"', 412],
    ['', 412],
    ['\xff', 412],
  ])('%s at version 3 → %i', async (header, status) => {
    const { put } = await start();
    expect((await put({ name: 'x' }, { headers: { 'if-match': header } })).status).toBe(status);
  });

  test('an answer carries the version as a strong tag', async () => {
    const { put } = await start();
    expect((await put({ name: 'x' })).headers.etag).toBe('"4"');
  });
});

describe('order of checks', () => {
  test('each refusal hides the ones after it', async () => {
    const { send, admin, signIn } = await start();
    const viewer = await signIn('viewer');
    const big = 'x'.repeat(1_048_577);
    const stages: readonly [string, SendOptions, number, string | undefined][] = [
      ['/api/v1/none', { headers: { 'sec-fetch-site': 'cross-site' }, body: big }, 404, undefined],
      [PATH, { headers: { 'sec-fetch-site': 'cross-site' }, body: big }, 403, 'csrf_invalid'],
      [PATH, { body: big }, 413, undefined],
      [PATH, { body: {} }, 401, undefined],
      [PATH, { as: { ...viewer, csrf: 'wrong' }, body: {} }, 403, 'csrf_invalid'],
      [PATH, { as: viewer, body: {} }, 403, undefined],
      ['/api/v1/things/x', { as: admin, body: {} }, 428, undefined],
      [
        '/api/v1/things/AGK7M3QX9P2RTA',
        { as: admin, body: {}, headers: { 'if-match': 'x' } },
        400,
        undefined,
      ],
      [
        '/api/v1/things/AGK7M3QX9P2RTA',
        { as: admin, body: { name: 'x' }, headers: { 'if-match': 'x' } },
        404,
        undefined,
      ],
      [PATH, { as: admin, body: { name: 'taken' }, headers: { 'if-match': 'x' } }, 412, undefined],
      [PATH, { as: admin, body: { name: 'taken' }, headers: { 'if-match': '"3"' } }, 409, 'name_taken'],
    ];
    for (const [path, options, status, code] of stages) {
      const answer = await send('PUT', path, options);
      expect([path, answer.status, answer.json.code]).toEqual([path, status, code]);
    }
  });

  test('a missing Permission is named; a Command is validated before it', async () => {
    const { send, signIn } = await start();
    const viewer = await signIn('viewer');
    const missing = await send('POST', `${PATH}/command`, { as: viewer });
    expect(missing.json).toMatchObject({
      status: 403,
      detail: 'This needs the permission alert-groups:resolve.',
    });
    const shaped = await send('POST', `${PATH}/command`, { as: viewer, body: { note: 1 } });
    expect([shaped.status, faults(shaped)]).toEqual([400, ['/note invalid_format']]);
  });

  test('a handler gets the caller as the Audit log names it, and an absent optional body as {}', async () => {
    const { send, admin } = await start();
    const answer = await send('POST', `${PATH}/command`, { as: admin });
    expect(answer.json).toEqual({
      body: {},
      by: { kind: 'user', id: admin.userId, name: 'admin', login: 'admin', tokenName: null, transport: 'ui' },
    });
  });
});

test('whoever is signed in is answered from what is stored now; others are not worth a look', async () => {
  const picture = { stored: 'new', shown: 'old' };
  const server = await startHttp({
    operations: [
      [
        operation({
          id: 'getPicture',
          method: 'GET',
          path: '/picture',
          tag: 'Test',
          summary: 'Read',
          needs: 'authenticated',
          answers: { 200: { description: 'It', schema: v.unknown() } },
          handle: async () => ({ status: 200, body: { ...picture } }),
        }),
      ],
    ],
    async upToDate() {
      await Promise.resolve();
      picture.shown = picture.stored;
    },
  });
  expect((await server.send('GET', '/api/v1/picture')).status).toBe(401);
  expect(picture.shown).toBe('old');
  const { json } = await server.send('GET', '/api/v1/picture', { as: await server.signIn('viewer') });
  expect(json).toEqual({ stored: 'new', shown: 'new' });
});
