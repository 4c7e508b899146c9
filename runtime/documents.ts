/**
 * The service's own documents (pages, drawings, snippets), from Eta templates that are read and compiled once, when the
 * module that owns them is loaded. What people write is never a template here, only data.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Eta } from 'eta/core';

/**
 * @param folder holds `NAME.eta`; templates refer to each other as `@NAME`
 * @param escapeFunction what `<%= %>` does to a value; by default what text and quoted attributes of HTML and XML need
 * @returns the document of a name, of its data
 * @throws {EtaParseError} when a template is not well-formed
 */
export function readDocuments<Data extends Readonly<Record<string, object>>>(
  folder: string,
  escapeFunction?: (value: unknown) => string,
): <Name extends keyof Data & string>(name: Name, data: Data[Name]) => string {
  const eta = new Eta({ autoEscape: true, autoTrim: false, ...(escapeFunction && { escapeFunction }) });
  for (const file of readdirSync(folder)) {
    if (!file.endsWith('.eta')) continue;
    eta.loadTemplate(`@${path.basename(file, '.eta')}`, readFileSync(path.join(folder, file), 'utf8'));
  }
  return (name, data) => eta.render(`@${name}`, data);
}
