import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createResource } from './resource.svelte.ts';

const reportError = vi.fn();

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
  vi.stubGlobal('reportError', reportError.mockReset());
});

afterEach(() => void vi.unstubAllGlobals());

it('a read that throws is reported and shown as a problem, until the next one is answered', async () => {
  const error = new TypeError('an answer of something else');
  const request = vi.fn().mockRejectedValueOnce(error);
  request.mockResolvedValue({ ok: true, value: 'read', etag: null });
  const resource = createResource(request);
  await resource.read();
  expect(resource).toMatchObject({ value: null, problem: { type: 'defect' }, reading: false });
  expect(reportError.mock.calls).toEqual([[error]]);
  await resource.read();
  expect(resource).toMatchObject({ value: 'read', problem: null, reading: false });
});

/** A resource whose reads are answered when the test says so, by their number from 0 on. */
function setUp() {
  const answers: ((value: string) => Promise<unknown>)[] = [];
  const resource = createResource<string>(
    () =>
      new Promise((resolve) =>
        answers.push((value) => {
          resolve({ ok: true, value, etag: null });
          return new Promise((settled) => setImmediate(settled));
        }),
      ),
  );
  return { resource, answers };
}

it('a read that is overtaken ends by itself', async () => {
  const { resource, answers } = setUp();
  const overtaken = resource.read();
  void resource.read();
  await answers[0]!('old');
  await overtaken;
  expect(resource).toMatchObject({ value: null, reading: true });
});

it('a read to the end goes on with what the latest read gave, however often it is overtaken', async () => {
  const { resource, answers } = setUp();
  let found: string | null = 'none';
  const end = resource.readToEnd().then(() => {
    found = resource.value;
  });
  void resource.read();
  await answers[0]!('old');
  resource.put('put');
  await answers[1]!('older');
  expect(found).toBe('none');
  await answers[2]!('newest');
  await end;
  expect(found).toBe('newest');
});
