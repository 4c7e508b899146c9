/** Tests with one mutation of the source, named by `MUTATION`. */
import path from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';
import { MUTATIONS, type Mutation } from './mutations.ts';

const root = path.resolve(import.meta.dirname, '../..');

const mutation = MUTATIONS.find(({ id }) => id === process.env.MUTATION);
if (!mutation) throw new Error(`There is no mutation ${process.env.MUTATION}.`);
/** Takes longer than the rest together: only where a mutation names it. */
const MODEL = 'actors/feed/ingestion-model.test.ts';

function mutated({ file, find, replace }: Mutation): Plugin {
  return {
    name: 'mutation',
    enforce: 'pre',
    transform: (code, module) =>
      module === path.join(root, file) ? { code: code.replace(find, () => replace), map: null } : null,
  };
}

export default defineConfig({
  root,
  plugins: [mutated(mutation)],
  test: {
    name: 'mutated',
    include: ['{runtime,actors,http}/**/*.test.ts'],
    exclude: [
      ...['**/*.pg.test.ts', '**/*.redis.test.ts', '**/proxy.test.ts'],
      ...(mutation.tests.includes(MODEL) ? [] : [MODEL]),
    ],
    isolate: false,
    bail: 1,
    testTimeout: 10_000,
    maxWorkers: 2,
    env: { UWS_HTTP_MAX_HEADERS_SIZE: '16640' },
  },
});
