import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { schemaTypes, TYPES_FILE } from './openapi-types.ts';

/** Written by hand, and why. */
const OWN_TYPES = [
  // Envelopes of every list, and the query of a page.
  ...['shapes.ts Page', 'shapes.ts Items', 'shapes.ts PageRequest'],
  // An outcome of the client itself, also where no answer came; what it reads of a body has described types.
  'problem.ts Problem',
  // How requests are made, not what they hold.
  ...['client.ts Answer', 'client.ts RequestOptions', 'client.ts ClientDeps'],
  ...['early.ts EarlyAnswer', 'early.ts Window'],
];

test('the types that the UI is built on are those of the API description (npm run openapi)', async () => {
  expect(await readFile(TYPES_FILE, 'utf8')).toBe(await schemaTypes());
});

test('no type of the API folder of the UI describes a body by hand', () => {
  const folder = path.dirname(TYPES_FILE);
  const files = readdirSync(folder).filter((file) => !/openapi\.ts$|\.test\.ts$/.test(file));
  const found = files.flatMap((file) =>
    ownTypes(readFileSync(path.join(folder, file), 'utf8')).map((name) => `${file} ${name}`),
  );
  expect(found.sort()).toEqual([...OWN_TYPES].sort());
});

test('a body by hand is found as an interface, an alias, the type of an answer and an object that is sent', () => {
  const source = `
    export interface Hand { readonly name: string }
    interface Methods { list(): Promise<void> }
    type Choice = { readonly kind: 'a' } | { readonly kind: 'b' };
    export type Described = Schemas['User'] & { readonly more: string };
    const read = (): Promise<Answer<Items<{ readonly moved: number }>>> => client.get('/x');
    const write = (code: string) => client.post('/x', { body: { code } });
    const described = (code: string) => client.post('/x', { body: { code } satisfies Schemas['TotpCode'] });
  `;
  expect(ownTypes(source)).toEqual([
    'Hand',
    'Choice',
    'Answer<Items<{ readonly moved: number }>>',
    'body: { code }',
  ]);
});

/** Interfaces with fields, aliases of object types alone, object types within an answer, and bodies of no type. */
function ownTypes(source: string): readonly string[] {
  const file = ts.createSourceFile('api.ts', source, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node) && node.members.some(ts.isPropertySignature))
      found.push(node.name.text);
    if (ts.isTypeAliasDeclaration(node) && isByHand(node.type)) found.push(node.name.text);
    if (ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Answer' && holdsLiteral(node))
      found.push(node.getText());
    if (
      ts.isPropertyAssignment(node) &&
      node.name.getText() === 'body' &&
      ts.isObjectLiteralExpression(node.initializer)
    )
      found.push(node.getText());
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isByHand(type: ts.TypeNode): boolean {
  return ts.isTypeLiteralNode(type) || (ts.isUnionTypeNode(type) && type.types.some(isByHand));
}

function holdsLiteral(node: ts.Node): boolean {
  return ts.isTypeLiteralNode(node) || (ts.forEachChild(node, holdsLiteral) ?? false);
}
