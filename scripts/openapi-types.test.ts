import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { schemaTypes, TYPES_FILE } from './openapi-types.ts';

test('the types that the UI is built on are those of the API description (npm run openapi)', async () => {
  expect(await readFile(TYPES_FILE, 'utf8')).toBe(await schemaTypes());
});
