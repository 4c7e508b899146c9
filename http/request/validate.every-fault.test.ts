/** A refused body names all its faults in the first answer, whatever the operation (api §1.8). */
import { expect, test } from 'vitest';
import { otherOperations } from '../../test/every-operation.ts';
import { startHttp } from '../../test/http-server.ts';
import { pointersOf, valueAt, withValue } from '../../test/json-pointers.ts';
import { type Json, type JsonObject, VALID_BODIES } from '../../test/valid-bodies.ts';
import type { Operation } from '../operation.ts';
import type { Schema } from '../schema/described.ts';
import { validateRequest } from './validate.ts';

async function operationsWithBody(): Promise<readonly Operation[]> {
  const { http } = await startHttp({ operations: otherOperations() });
  return http.operations.filter(({ body }) => body !== undefined);
}

/** Pointers of everything that is 400 about a body; the path of the request is in order. */
function faultsOf(operation: Operation, body: Json): readonly string[] {
  const words = Object.entries(operation.words ?? {}).map(([name, [first = '']]) => [name, first]);
  const params: Readonly<Record<string, string>> = Object.fromEntries(words);
  const request = { params, query: '', contentType: 'application/json' };
  const validated = validateRequest(operation, { ...request, body: Buffer.from(JSON.stringify(body)) });
  return validated.outcome === 'invalid' ? validated.errors.map(({ pointer }) => pointer) : [];
}

/** The field that decides which other fields there are. */
function discriminatorOf(schema: Schema | undefined): string | null {
  return schema?.type === 'variant' && 'key' in schema ? `/${String(schema.key)}` : null;
}

const validBody = (operation: Operation): JsonObject => VALID_BODIES[operation.id] ?? {};
const isContainer = (value: Json | undefined) => typeof value === 'object' && value !== null;

/** What somebody sends next who mends just what the answer named. */
function mended(body: JsonObject, valid: JsonObject, faults: readonly string[]): JsonObject {
  let next = body;
  for (const pointer of faults.flatMap((fault) => (fault === '' ? pointersOf(valid).slice(0, 1) : [fault]))) {
    const value = valueAt(valid, pointer);
    if (value === undefined) continue;
    const isOpened = faults.some((other) => other.startsWith(`${pointer}/`));
    next = withValue(next, pointer, isOpened && !Array.isArray(value) ? {} : value);
  }
  return next;
}

/** Of no type that any field takes. */
const WRONG: Json = [[{ wrong: 0.5 }]];

test('every operation that takes a body has a valid one here', async () => {
  const operations = await operationsWithBody();
  expect(operations.map(({ id }) => id).sort()).toEqual(Object.keys(VALID_BODIES).sort());
  for (const operation of operations) {
    expect([operation.id, faultsOf(operation, validBody(operation))]).toEqual([operation.id, []]);
  }
});

test('whoever sends an empty body and gives what the answer names is not told of more', async () => {
  for (const operation of await operationsWithBody()) {
    const valid = validBody(operation);
    const type = discriminatorOf(operation.body);
    const first = faultsOf(operation, {});
    const shared = mended({}, valid, first);
    // The other fields follow from the discriminator, so that it takes one more answer.
    const last = type === null ? shared : mended(shared, valid, faultsOf(operation, shared));
    expect([operation.id, faultsOf(operation, last)]).toEqual([operation.id, []]);
  }
});

test('every field of every body has a type, and a value of another one is named as its fault', async () => {
  const untyped: string[] = [];
  for (const operation of await operationsWithBody()) {
    const valid = validBody(operation);
    for (const pointer of pointersOf(valid)) {
      const faults = faultsOf(operation, withValue(valid, pointer, WRONG));
      const isNamed = faults.some((fault) => fault === pointer || fault.startsWith(`${pointer}/`));
      if (!isNamed) untyped.push(`${operation.id} ${pointer}`);
    }
  }
  expect(untyped).toEqual([]);
});

test('an object in place of a text is named as its fault', async () => {
  for (const operation of await operationsWithBody()) {
    const valid = validBody(operation);
    for (const pointer of pointersOf(valid).filter((of) => typeof valueAt(valid, of) === 'string')) {
      const faults = faultsOf(operation, withValue(valid, pointer, { a: [{}] }));
      expect([operation.id, faults]).toEqual([operation.id, expect.arrayContaining([pointer])]);
    }
  }
});

test('one wrong field more never hides another', async () => {
  for (const operation of await operationsWithBody()) {
    const valid = validBody(operation);
    const type = discriminatorOf(operation.body);
    let body = valid;
    const expected = new Set<string>();
    for (const pointer of pointersOf(valid)) {
      if (isContainer(valueAt(valid, pointer)) || pointer === type) continue;
      for (const fault of faultsOf(operation, withValue(valid, pointer, WRONG))) expected.add(fault);
      body = withValue(body, pointer, WRONG);
      const named = new Set(faultsOf(operation, body));
      const hidden = [...expected].filter((fault) => !named.has(fault));
      expect([operation.id, hidden]).toEqual([operation.id, []]);
    }
    expect([operation.id, expected.size > 0]).toEqual([operation.id, true]);
  }
});

test('a list that is too long is named although an item of it is wrong', async () => {
  for (const operation of await operationsWithBody()) {
    const valid = validBody(operation);
    for (const pointer of pointersOf(valid)) {
      const list = valueAt(valid, pointer);
      if (!Array.isArray(list) || list.length === 0) continue;
      const long = Array.from({ length: 101 }, () => list[0] as Json);
      if (!faultsOf(operation, withValue(valid, pointer, long)).includes(pointer)) continue;
      const faults = faultsOf(operation, withValue(valid, pointer, [WRONG, ...long]));
      const ofItem = faults.filter((fault) => fault.startsWith(`${pointer}/0`));
      expect([operation.id, faults.includes(pointer), ofItem.length > 0]).toEqual([operation.id, true, true]);
    }
  }
});

test('text that cannot be stored hides no other fault', async () => {
  const operations = await operationsWithBody();
  const createUser = operations.find(({ id }) => id === 'createUser');
  const faults = createUser ? faultsOf(createUser, { name: 'A\0', email: 7, role: 'chief' }) : [];
  expect(faults).toEqual(['/name', '/email', '/role', '/login']);
});
