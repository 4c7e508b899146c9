/**
 * Writes the types of the API that the UI is built on, from the operation table: `npm run openapi`. They are committed,
 * so that the UI compiles without a step before it; a test fails while they are not those of the table.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { openApiDocument } from '../http/openapi/openapi.ts';
import { everyOperation } from '../test/every-operation.ts';

export const TYPES_FILE = path.join(import.meta.dirname, '../ui/src/api/openapi.ts');

const HEADER = `/**
 * The schemas of the API as types. Made from its description; do not edit. \`npm run openapi\` writes it anew.
 */
`;

/** The types of all named schemas, read-only. */
export async function schemaTypes(): Promise<string> {
  const { openapi, info, components } = openApiDocument(everyOperation(), '0.0.0') as unknown as Document;
  const schemas = { openapi, info, components: { schemas: components.schemas } };
  return HEADER + astToString(await openapiTS(JSON.stringify(schemas), { immutable: true }));
}

interface Document {
  readonly openapi: string;
  readonly info: object;
  readonly components: { readonly schemas: object };
}

if (import.meta.main) await writeFile(TYPES_FILE, await schemaTypes());
