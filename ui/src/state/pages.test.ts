import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPages } from './pages.svelte.ts';

const reportError = vi.fn();

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
  vi.stubGlobal('reportError', reportError.mockReset());
});

afterEach(() => void vi.unstubAllGlobals());

it('a page whose read throws is reported and shown as a problem, and can be read again', async () => {
  const error = new TypeError('an answer of something else');
  const page = (items: readonly number[], next_cursor: string | null) => ({
    ...{ ok: true, value: { items, next_cursor }, etag: null },
  });
  const request = vi
    .fn()
    .mockRejectedValueOnce(error)
    .mockResolvedValueOnce(page([1], 'A'));
  request.mockRejectedValueOnce(error).mockResolvedValueOnce(page([2], null));
  const pages = createPages<number>(request, 1);
  await pages.read();
  expect(pages).toMatchObject({ items: null, problem: { type: 'defect' }, reading: 'nothing' });
  await pages.read();
  expect(pages).toMatchObject({ items: [1], problem: null, reading: 'nothing' });
  await pages.more();
  expect(pages).toMatchObject({ items: [1], problem: { type: 'defect' }, reading: 'nothing' });
  await pages.more();
  expect(pages).toMatchObject({ items: [1, 2], problem: null, hasMore: false });
  expect(reportError.mock.calls).toEqual([[error], [error]]);
});
