import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const text = readFileSync(path.join(import.meta.dirname, 'grafana', 'tocsin.json'), 'utf8');
const FILE = path.join(import.meta.dirname, 'dashboard-under-test.ts');

/** What the compiler says of a dashboard's text, held against Grafana's own types. */
function complaints(dashboard: string): string[] {
  const source = `import type { DashboardFile } from './dashboard.fixture.ts';
export const dashboard: DashboardFile = ${dashboard};`;
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, skipLibCheck: true, types: [], allowImportingTsExtensions: true },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext },
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === FILE || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === FILE ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([FILE], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test('the dashboard is one by the types that Grafana publishes', () => {
  expect(complaints(text)).toEqual([]);
});

test.each([
  ['an unknown name', '"colorMode"', '"colourMode"'],
  ['an unknown value', '"textMode": "auto"', '"textMode": "most"'],
  ['a wrong type', '"schemaVersion": 39', '"schemaVersion": "39"'],
  ['an unknown member of a query', '"legendFormat"', '"legend"'],
])('%s is noticed', (_name, right, wrong) => {
  expect(complaints(text.replace(right, wrong))).not.toEqual([]);
});
