/** Tests with one mutation of the source, named by `MUTATION`. */
import path from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';
import { MUTATIONS } from './mutations.ts';

const root = path.resolve(import.meta.dirname, '../..');

function mutated(id: string): Plugin {
  const mutation = MUTATIONS.find((one) => one.id === id);
  if (!mutation) throw new Error(`There is no mutation ${id}.`);
  const { file, find, replace } = mutation;
  return {
    name: 'mutation',
    enforce: 'pre',
    transform: (code, module) =>
      module === path.join(root, file) ? { code: code.replace(find, () => replace), map: null } : null,
  };
}

export default defineConfig({
  root,
  plugins: [mutated(process.env.MUTATION ?? '')],
  test: {
    name: 'mutated',
    include: ['{runtime,actors,http}/**/*.test.ts'],
    exclude: ['**/*.pg.test.ts', '**/*.redis.test.ts', '**/ingestion-model.test.ts', '**/proxy.test.ts'],
    isolate: false,
    bail: 1,
    testTimeout: 10_000,
    maxWorkers: 2,
    env: { UWS_HTTP_MAX_HEADERS_SIZE: '16384' },
  },
});
