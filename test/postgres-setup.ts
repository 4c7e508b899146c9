/** Starts the server that all `*.pg.test.ts` files of a run share. */
import type { TestProject } from 'vitest/node';
import { startTestServer } from './postgres.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestServer();
  project.provide('postgres', server.settings);
  return server.stop;
}
