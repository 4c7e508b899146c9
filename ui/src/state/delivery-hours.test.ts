import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ApiClient } from '../api/client.ts';
import { createDeliveryHours } from './delivery-hours.svelte.ts';

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
});

afterEach(() => void vi.unstubAllGlobals());

it('says nothing of what was not read, why it was not, and keeps what was read before', async () => {
  const figures = { destination: { id: 'DS1' }, delivered: 2, failed: 1 };
  const failed = { ok: false, problem: { status: 503 } };
  const answers: unknown[] = [failed, { ok: true, value: { items: [figures] }, etag: null }, failed];
  const hours = createDeliveryHours({ get: async () => answers.shift() } as unknown as ApiClient);
  expect(hours.items).toBeNull();
  await hours.read();
  expect([hours.items, hours.problem, hours.of('DS1')]).toEqual([null, failed.problem, null]);
  await hours.read();
  expect([hours.items, hours.problem, hours.of('DS1')]).toEqual([[figures], null, figures]);
  await hours.read();
  expect([hours.items, hours.problem]).toEqual([[figures], failed.problem]);
  expect(hours.of('DS2')).toBeNull();
});
