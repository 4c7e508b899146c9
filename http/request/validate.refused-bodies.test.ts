/** What a refused body may cost: few errors, short pointers, small answers, little work. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { type Received, startHttp } from '../../test/http-server.ts';
import { type Operation, operation } from '../operation.ts';
import { invalid } from '../problem.ts';

const MIB = 1_048_576;

const shape = {
  tag: 'Test',
  summary: 'Takes anything',
  answers: { 204: { description: 'Done' } },
  body: v.object({
    list: v.optional(v.array(v.object({ id: v.pipe(v.string(), v.maxLength(3)) }))),
    any: v.optional(v.unknown()),
  }),
} as const;

const operations: readonly Operation[] = [
  operation({
    ...{ ...shape, id: 'open', method: 'POST', path: '/open', needs: 'none' },
    handle: async () => ({ status: 204 }),
  }),
  operation({
    ...{ ...shape, id: 'closed', method: 'POST', path: '/closed', needs: 'authenticated' },
    handle: async () => ({ status: 204 }),
  }),
  operation({
    ...{ ...shape, id: 'judged', method: 'POST', path: '/judged', needs: 'authenticated' },
    handle: async () =>
      invalid(
        Array.from({ length: 5_000 }, (_, index) => ({
          pointer: `/${index}/${'\u0001'.repeat(1_000)}`,
          code: 'duplicate',
          detail: '\u0001'.repeat(5_000),
        })),
      ),
  }),
];

interface Fault {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

function faultsOf(answer: Received): readonly Fault[] {
  return (answer.json as unknown as { errors: Fault[] }).errors;
}

/** Just below 1 MiB: one key of half of it, and many faulty values below. */
const longKey = `{"any":{"${'k'.repeat(MIB / 2)}":[${Array(40_000).fill('"\\u0000"').join()}]}}`;
const keyOfControls = `{"any":{"${'\\u0001'.repeat(1_000)}":[${Array(100).fill('"\\u0000"').join()}]}}`;
const manyItems = `{"list":[${Array(MIB / 2 - 20)
  .fill('0')
  .join()}]}`;
const manyObjects = `{"list":[${Array(MIB / 4)
  .fill('{}')
  .join()
  .slice(0, MIB - 50)
  .replace(/[{,]+$/, '')}]}`;

test.each([
  ['many faults below one long key', longKey],
  ['faults below a key that JSON has to escape', keyOfControls],
  ['half a million items of the wrong type', manyItems],
  ['many items without their field', manyObjects],
])('%s: at most 50 errors, pointers of 256 characters, 64 KiB', async (_name, body) => {
  const { send, signIn } = await startHttp({ operations: [operations] });
  const as = await signIn('viewer');
  const answer = await send('POST', '/api/v1/closed', { as, body });
  const faults = faultsOf(answer);
  expect(answer.status).toBe(400);
  expect(faults.length).toBeGreaterThan(0);
  expect(faults.length).toBeLessThanOrEqual(50);
  for (const { pointer } of faults) expect(pointer.length).toBeLessThanOrEqual(256);
  expect(answer.bytes.length).toBeLessThan(65_536);
});

test('a pointer that is cut ends in an ellipsis and begins as the whole one does', async () => {
  const { send, signIn } = await startHttp({ operations: [operations] });
  const body = { any: { [`${'~'.repeat(100)}${'x'.repeat(200)}`]: '\0' } };
  const answer = await send('POST', '/api/v1/closed', { as: await signIn('viewer'), body });
  expect(faultsOf(answer)[0]?.pointer).toBe(`/any/${'~0'.repeat(100)}${'x'.repeat(50)}…`);
});

test('validation of half a million faulty items stops at the bound', async () => {
  let validated = 0;
  const counting = v.array(
    v.pipe(
      v.number(),
      v.check(() => {
        validated += 1;
        return false;
      }),
    ),
  );
  const { send, signIn } = await startHttp({
    operations: [
      [
        operation({
          ...{ ...shape, id: 'counted', method: 'POST', path: '/counted', needs: 'authenticated' },
          body: v.object({ list: counting }),
          handle: async () => ({ status: 204 }),
        }),
      ],
    ],
  });
  const answer = await send('POST', '/api/v1/counted', { as: await signIn('viewer'), body: manyItems });
  expect(faultsOf(answer)).toHaveLength(50);
  expect(validated).toBeLessThan(2_000);
});

test('options of a union that do not fit never spoil a valid body', async () => {
  const either = v.union([v.object({ a: v.string() }), v.object({ b: v.string() })]);
  const { send, signIn } = await startHttp({
    operations: [
      [
        operation({
          ...{ ...shape, id: 'either', method: 'POST', path: '/either', needs: 'authenticated' },
          body: v.object({ list: v.array(either) }),
          answers: { 200: { description: 'How many', schema: v.unknown() } },
          handle: async ({ body }) => ({ status: 200, body: { count: body.list.length } }),
        }),
      ],
    ],
  });
  const body = { list: Array.from({ length: 20_000 }, () => ({ b: 'x' })) };
  const answer = await send('POST', '/api/v1/either', { as: await signIn('viewer'), body });
  expect(answer.json).toEqual({ count: 20_000 });
});

test('what a handler finds is bounded the same way', async () => {
  const { send, signIn } = await startHttp({ operations: [operations] });
  const answer = await send('POST', '/api/v1/judged', { as: await signIn('viewer'), body: {} });
  expect(answer.status).toBe(422);
  expect(faultsOf(answer).length).toBeGreaterThan(0);
  expect(faultsOf(answer).length).toBeLessThanOrEqual(50);
  expect(answer.bytes.length).toBeLessThan(65_536);
});

test('without credentials a body of 16 KiB passes, one byte more is 413, announced or not', async () => {
  const { send } = await startHttp({ operations: [operations] });
  const empty = '{"any":""}';
  const fitting = JSON.stringify({ any: 'x'.repeat(16_384 - empty.length) });
  expect(Buffer.byteLength(fitting)).toBe(16_384);
  expect((await send('POST', '/api/v1/open', { body: fitting })).status).toBe(204);
  expect((await send('POST', '/api/v1/open', { body: `${fitting} ` })).status).toBe(413);
  const headers = { 'transfer-encoding': 'chunked' };
  expect((await send('POST', '/api/v1/open', { body: `${fitting} `, headers })).status).toBe(413);
});
