/** `npm run docs`: the docs as static pages with a search, beside the built UI, which serves them at `/docs` (ui §1.1). */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import MiniSearch from 'minisearch';
import { readDocuments } from '../../runtime/documents.ts';
import { apiPages } from './api-pages.ts';
import { cliPage } from './cli-page.ts';
import { type Heading, type Rendered, renderMarkdown, type Target, textOf } from './markdown.ts';
import { addressOf, MADE, type Section, sectionsOf } from './navigation.ts';
import { SEARCH_OPTIONS, type SearchEntry } from './search.ts';

export const ROOT = path.resolve(import.meta.dirname, '..', '..');
const OUT = path.join(ROOT, 'ui', 'dist', 'docs');
const SOURCES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'deploy/README.md',
  'docs/**/*.md',
];
/** What pages show or offer beside text. */
const SHOWN = /^docs\/(images|machines)\/[^/]+\.(png|svg|mmd|json)$/;
const OUTLINED = 2;

interface Documents extends Record<string, object> {
  readonly page: {
    readonly title: string;
    readonly address: string;
    readonly body: string;
    readonly outline: readonly Heading[];
    readonly sections: readonly {
      readonly title: string;
      readonly isOpen: boolean;
      readonly pages: readonly { readonly address: string; readonly title: string }[];
    }[];
  };
}

const render = readDocuments<Documents>(import.meta.dirname);

const NOT_FOUND = `# This page is not here

The docs of this version have no page of that name. Search for a word of it, or begin at the [first page](/docs).
`;

/** Markdown by file, what the build makes included. */
function sources(): ReadonlyMap<string, string> {
  const files = globSync(SOURCES, { cwd: ROOT }).sort();
  const written = files.map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')] as const);
  return new Map([...written, ...apiPages(), [MADE.cli, cliPage()]]);
}

/**
 * Writes the docs.
 * @param out a folder, made anew
 * @throws {Error} a page that is not in the navigation; a link to a file of `docs/` that is not there
 */
export function buildDocs(out: string): void {
  const markdown = sources();
  const copied = new Set<string>();

  function locate(file: string, anchor: string): Target {
    if (markdown.has(file)) return { href: `${addressOf(file)}${anchor}` };
    if (SHOWN.test(file)) {
      copied.add(file);
      return { href: `/${file}` };
    }
    if (file.startsWith('docs/')) throw new Error(`A page of the docs links to ${file}, which is not there`);
    return { href: null };
  }

  const pages = new Map([...markdown].map(([file, text]) => [file, renderMarkdown(file, text, locate)]));
  const sections = sectionsOf([...pages.keys()]);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(path.join(out, 'assets'), { recursive: true });
  for (const [file, page] of pages)
    write(out, addressOf(file), pageOf(addressOf(file), page, sections, pages));
  const nowhere = renderMarkdown('404.md', NOT_FOUND, locate);
  write(out, '/docs/404', pageOf('/docs/404', nowhere, sections, pages));
  for (const file of copied) cpSync(path.join(ROOT, file), path.join(out, path.relative('docs', file)));
  writeAssets(path.join(out, 'assets'), pages);
}

function write(out: string, address: string, html: string): void {
  const file = path.join(out, `${path.posix.relative('/docs', address) || 'index'}.html`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, html);
}

function pageOf(
  address: string,
  { html, title, headings }: Rendered,
  sections: readonly Section[],
  pages: ReadonlyMap<string, Rendered>,
): string {
  const listed = sections.map((section) => ({
    title: section.title,
    isOpen: section.files.some((file) => addressOf(file) === address),
    pages: section.files.map((file) => ({ address: addressOf(file), title: pages.get(file)?.title ?? file })),
  }));
  const outline = headings.filter(({ level }) => level === OUTLINED);
  return render('page', { title, address, body: html, outline, sections: listed });
}

/** A script of the browser: types are erased, and its package is the file beside it. */
function scriptOf(file: string): string {
  const code = stripTypeScriptTypes(readFileSync(path.join(import.meta.dirname, file), 'utf8'));
  return code.replaceAll(/'(?:minisearch|\.\.\/search\.ts)'/g, (name) =>
    name.includes('mini') ? "'/docs/assets/minisearch.js'" : "'/docs/assets/search.js'",
  );
}

function writeAssets(folder: string, pages: ReadonlyMap<string, Rendered>): void {
  const styles = ['ui/src/styles/tokens.css', 'scripts/docs/docs.css'];
  const css = styles.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
  const file = (name: string) => path.join(folder, name);
  writeFileSync(file('docs.css'), css);
  cpSync(path.join(ROOT, 'ui/public/start.js'), file('theme.js'));
  writeFileSync(file('docs.js'), scriptOf('browser/docs.ts'));
  writeFileSync(file('search.js'), scriptOf('search.ts'));
  cpSync(path.join(ROOT, 'node_modules/minisearch/dist/es/index.js'), file('minisearch.js'));
  const index = new MiniSearch<SearchEntry>(SEARCH_OPTIONS);
  index.addAll([...pages].flatMap(([of, page]) => entriesOf(addressOf(of), page)));
  writeFileSync(file('search.json'), JSON.stringify(index));
}

/** What the search finds: the parts of a page, each below its heading, and the rows that have a name. */
function entriesOf(address: string, { html, title }: Rendered): readonly SearchEntry[] {
  const rows = html.match(/<tr id=.*/g) ?? [];
  return [...html.split(/(?=<h[1-3] id=)/), ...rows].map((part) => {
    const [whole = '', id = '', heading = ''] =
      /^<(?:h[1-3]|tr) id="([^"]*)">(.*?)(?: <a class="anchor".*?)?<\/(?:h|td)/.exec(part) ?? [];
    const text = textOf(part.slice(whole.length).replaceAll('</t', ' </t')).replaceAll(/\s+/g, ' ');
    const own = textOf(heading);
    return { id: own === title ? address : `${address}#${id}`, page: title, heading: own, text };
  });
}

if (import.meta.main) buildDocs(path.resolve(process.argv[2] ?? OUT));
