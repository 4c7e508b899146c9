/** Every test with a server sends with the checked `fetch`, and fails when a page was answered what is not described. */
import { afterEach } from 'vitest';
import { checkedFetch, laterFaults } from './harness/checked-fetch.ts';

globalThis.fetch = checkedFetch;

afterEach(async () => {
  const [fault] = await laterFaults();
  if (fault !== undefined) throw fault;
});
