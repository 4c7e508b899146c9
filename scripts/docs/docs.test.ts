/** The built docs: no dead link, no page that nobody finds, nothing that the Content-Security-Policy refuses. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import MiniSearch from 'minisearch';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { everyCommand } from '../../runtime/cli/every-command.ts';
import { everyOperation } from '../../test/every-operation.ts';
import { PAGES } from '../../ui/src/app/pages.ts';
import { buildDocs, ROOT } from './build.ts';
import { renderMarkdown, slugOf } from './markdown.ts';
import { addressOf, sectionsOf } from './navigation.ts';
import { SEARCH_OPTIONS, type SearchEntry } from './search.ts';

const out = mkdtempSync(path.join(tmpdir(), 'tocsin-docs-'));
/** HTML by address. */
let pages: ReadonlyMap<string, string>;

/** A second of work, on a machine that does other things as well. */
const BUILD_PATIENCE_MS = 60_000;

beforeAll(() => {
  buildDocs(out);
  pages = new Map(
    globSync('**/*.html', { cwd: out }).map((file) => [
      `/docs/${file.replace(/\.html$/, '')}`.replace(/\/index$/, ''),
      readFileSync(path.join(out, file), 'utf8'),
    ]),
  );
}, BUILD_PATIENCE_MS);

afterAll(() => rmSync(out, { recursive: true }));

/** Of the UI, which is built beside the docs. */
const OF_UI = new Set([
  '/',
  '/favicon.svg',
  ...PAGES.map(({ pattern }) => pattern),
  ...readdirSync(path.join(ROOT, 'ui/public')).map((file) => `/${file}`),
]);

function faultOf(from: string, href: string): string | null {
  if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(href))
    return `${from} links to ${href}, which nobody checks and which needs internet`;
  const [, address = '', anchor = ''] = /^([^#]*)#?(.*)$/.exec(href) ?? [];
  const to = address === '' ? from : address;
  if (OF_UI.has(to)) return null;
  const page = pages.get(to);
  if (page === undefined) {
    const isFile = to.startsWith('/docs/') && existsSync(path.join(out, to.slice('/docs/'.length)));
    return isFile ? null : `${from} links to ${href}, which is not there`;
  }
  return anchor === '' || page.includes(` id="${anchor}"`)
    ? null
    : `${from} links to ${href}: no such anchor`;
}

test('every link, picture and anchor of the site leads somewhere, and none to another site', () => {
  const links = [...pages].flatMap(([from, html]) =>
    [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, href = '']) => [from, href] as const),
  );
  expect(links.length).toBeGreaterThan(5_000);
  expect(links.map(([from, href]) => faultOf(from, href)).filter((fault) => fault !== null)).toEqual([]);
});

test('every link of a Markdown file is to a file that is there', () => {
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
  const missing = files.flatMap((file) => {
    if (!existsSync(path.join(ROOT, file))) return [];
    const links = readFileSync(path.join(ROOT, file), 'utf8')
      .replaceAll(/^```[\s\S]*?^```|`[^`\n]*`/gm, '')
      .matchAll(/\]\((?!\/|#)([^)#\s]+)(?:#[^)]*)?\)/g);
    const targets = [...links].map(([, to = '']) => path.posix.join(path.posix.dirname(file), to));
    return targets.filter((to) => !existsSync(path.join(ROOT, to))).map((to) => `${file} links to ${to}`);
  });
  expect(missing).toEqual([]);
});

test('every page is in the navigation, under its title', () => {
  const listed = [...(pages.get('/docs') ?? '').matchAll(/<li><a href="(\/docs[^"#]*)"/g)].map(
    ([, to]) => to,
  );
  const expected = [...pages.keys()].filter((address) => address !== '/docs/404');
  expect(expected.length).toBeGreaterThan(80);
  expect([...new Set(listed)].sort()).toEqual(expected.sort());
  for (const [, html] of pages) expect(html).toMatch(/<title>.+ · Tocsin<\/title>/);
});

test('a page without a place in the navigation, and a link to nothing or to another site, fail the build', () => {
  const all = [...pages.keys()];
  expect(() => sectionsOf([...all, 'docs/forgotten.md'])).toThrow('docs/forgotten.md');
  const nothing = () => {
    throw new Error('nothing there');
  };
  expect(() => renderMarkdown('docs/a.md', '# A\n\n[b](b.md)', nothing)).toThrow('nothing there');
  const outside = '# A\n\n[b](https://b.example.org)';
  expect(() => renderMarkdown('docs/a.md', outside, nothing)).toThrow('links to https://b.example.org');
});

test('no page has a script or a style that the policy of the UI refuses, or markup that Markdown brought', () => {
  for (const [address, html] of pages) {
    const refused = html.match(
      /<script(?![^>]* src="\/docs\/)|<style| style=| on[a-z]+=|(?:href|src)="javascript:|src="(?!\/)/g,
    );
    expect([address, refused]).toEqual([address, null]);
  }
  const { html } = renderMarkdown('a.md', '# A\n\n<script>x</script> <b onclick="y">z</b> <id>', () => ({
    href: null,
  }));
  expect(html).not.toMatch(/<(script|b|id)\b/);
});

const search = () => {
  const text = readFileSync(path.join(out, 'assets', 'search.json'), 'utf8');
  return MiniSearch.loadJSON<SearchEntry>(text, SEARCH_OPTIONS);
};

test.each([
  ['SVC_DATABASE_URL', '/docs/settings'],
  ['SvcDown', '/docs/runbooks/SvcDown'],
  ['acknowlege group', '/docs/api-reference/alert-groups'],
  ['quickstart', '/docs/cli'],
  ['discussion group telegram', '/docs/telegram'],
  ['replaying', '/docs/operating#replaying-snapshots'],
])('the search finds %j', (words, address) => {
  const found = search().search(words).slice(0, 12);
  expect(found.map(({ id }) => String(id)).filter((id) => id.startsWith(address))).not.toEqual([]);
});

test.each(['settings#svc_ingest_url', 'metrics#svc_ingest_failed_snapshots_total'])(
  '%s is the first that its name finds',
  (row) => {
    expect(search().search(row.replace(/.*#/, ''))[0]?.id).toBe(`/docs/${row}`);
  },
);

test('the API reference has every operation with its Permission, the command line every command', () => {
  const reference = [...pages].filter(([address]) => address.startsWith('/docs/api-reference/'));
  const text = reference.map(([, html]) => html).join('\n');
  const operations = everyOperation();
  expect(operations.length).toBeGreaterThan(140);
  for (const { id, path: of } of operations) {
    expect(text).toContain(`<code>${id}</code>`);
    expect(text).toContain(`/api/v1${of}</code>`);
  }
  expect(text).toContain('Permission: <code>alert-groups:acknowledge</code>');
  const commands = pages.get('/docs/cli') ?? '';
  for (const { name } of everyCommand(async () => '')) {
    expect(commands).toContain(`<h2 id="${slugOf(`tocsin ${name}`)}"`);
  }
});

test('a heading has the anchor that the repository gives it', () => {
  expect(slugOf('Routes: moving, previews, suggestions, Storms')).toBe(
    'routes-moving-previews-suggestions-storms',
  );
  expect(slugOf('1.1 `ui` & more_words')).toBe('11-ui--more_words');
  expect(addressOf('docs/contract/README.md')).toBe('/docs/contract');
});

test('each issue form asks at least one question, and each of its questions has a name', () => {
  const folder = path.join(ROOT, '.github/ISSUE_TEMPLATE');
  const forms = readdirSync(folder).filter((file) => file !== 'config.yml');
  expect(forms.length).toBeGreaterThan(1);
  for (const form of forms) {
    const { name, description, body } = parse(readFileSync(path.join(folder, form), 'utf8'));
    expect([name, description]).toEqual([expect.any(String), expect.any(String)]);
    const asked: { type: string; id?: string }[] = body.filter(
      ({ type }: { type: string }) => type !== 'markdown',
    );
    expect(asked.length).toBeGreaterThan(0);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length);
  }
});
