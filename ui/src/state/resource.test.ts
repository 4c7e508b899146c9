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
