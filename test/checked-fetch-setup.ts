/** Every test with a server sends with the checked `fetch`, and fails when a page was answered what is not described. */
import { afterEach } from 'vitest';
// Keeps the platform's own before it is replaced.
import './harness/plain-fetch.ts';

/** Loaded by the first request: it loads the service's modules, which a test file may mock before that. */
let checks: Promise<typeof import('./harness/checked-fetch.ts')> | null = null;

globalThis.fetch = async (...request) => {
  checks ??= import('./harness/checked-fetch.ts');
  return (await checks).checkedFetch(...request);
};

afterEach(async () => {
  if (checks === null) return;
  const [fault] = await (await checks).laterFaults();
  if (fault !== undefined) throw fault;
});
