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

/** The types of all named schemas and of answers without a name, read-only. */
export async function schemaTypes(): Promise<string> {
  const { openapi, info, paths, components } = openApiDocument(
    everyOperation(),
    '0.0.0',
  ) as unknown as Document;
  const schemas = { ...components.schemas, ...unnamedAnswers(paths) };
  const document = { openapi, info, components: { schemas } };
  return HEADER + astToString(await openapiTS(JSON.stringify(document), { immutable: true }));
}

interface Document {
  readonly openapi: string;
  readonly info: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: object };
}

interface Described {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, { schema: object }> }>>;
}

/** Answers whose schema has no name, by one made of their operation: `GetSignInOptionsAnswer`. */
function unnamedAnswers(paths: Document['paths']): Readonly<Record<string, object>> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) => {
      const schema = content?.['application/json']?.schema;
      const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Answer`;
      return status.startsWith('2') && schema && !('$ref' in schema) ? [[name, schema]] : [];
    }),
  );
  return Object.fromEntries(answers);
}

if (import.meta.main) await writeFile(TYPES_FILE, await schemaTypes());
