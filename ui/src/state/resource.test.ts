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
  expect(resource).toMatchObject({ value: null, problem: { type: 'unreachable' }, reading: false });
  expect(reportError.mock.calls).toEqual([[error]]);
  await resource.read();
  expect(resource).toMatchObject({ value: 'read', problem: null, reading: false });
});

it('a read that another one overtakes ends with that one: what it goes on with is not older', async () => {
  const answers: ((value: string) => void)[] = [];
  const resource = createResource<string>(
    () => new Promise((resolve) => answers.push((value) => resolve({ ok: true, value, etag: null }))),
  );
  const overtaken = resource.read().then(() => resource.value);
  const latest = resource.read();
  answers[0]!('old');
  await new Promise((resolve) => setImmediate(resolve));
  expect(resource.value).toBe(null);
  answers[1]!('new');
  await latest;
  expect(await overtaken).toBe('new');
  const again = resource.read().then(() => resource.value);
  resource.put('put');
  answers[2]!('older');
  answers[3]!('newest');
  expect(await again).toBe('newest');
});
