/** README and docs say what is so: their commands are taken by the program, their figures are those of the code. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runCommandLine } from '../runtime/cli/command.ts';
import { everyCommand } from '../runtime/cli/every-command.ts';
import type { ConnectionPurpose } from '../runtime/compose/database.ts';
import { settingOf, variableNames } from '../runtime/config-settings.ts';
import { EXPLAINED, FIGURES, figureOf, MEASURED } from './documented-figures.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const inside = (folder: string) =>
  readdirSync(path.join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const PAGES = [
  'README.md',
  ...['CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...inside('docs'),
  ...inside('docs/runbooks'),
  'deploy/README.md',
];

/** Lines of fenced blocks that are typed: all of `sh`, those after a prompt elsewhere. Continued lines are joined. */
function typedLines(page: string): readonly string[] {
  const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)];
  return blocks.flatMap(([, language, text = '']) => {
    const lines = text.replaceAll(/\\\n\s*/g, ' ').split('\n');
    if (language === 'sh') return lines;
    return lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  });
}

/** The words of each command of a line; quotes are taken away, comments and assignments before a command as well. */
function commandsOf(line: string): readonly (readonly string[])[] {
  const tokens = [...line.matchAll(/\s#.*$|&&|\|\||[|;]|(?:'[^']*'|"[^"]*"|<[^>]*>|[^\s|;&'"])+/g)].map(
    ([token]) => token,
  );
  const commands: string[][] = [[]];
  for (const token of tokens) {
    if (/^\s#/.test(token)) break;
    if (/^(&&|\|\||[|;])$/.test(token)) commands.push([]);
    else commands.at(-1)?.push(token.replaceAll(/['"]/g, ''));
  }
  return commands.map((words) => words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word))));
}

/** What follows the name of the program, however it is called; null for another program. */
function wordsOfTocsin(words: readonly string[]): readonly string[] | null {
  const rest = words[0] === 'npx' ? words.slice(1) : words;
  if (rest[0] === 'tocsin') return rest.slice(1);
  if (rest[0] === 'node' && rest[1] === 'runtime/main.ts') return rest.slice(2);
  return null;
}

const STUBBED = everyCommand(async () => 'secret').map((command) => ({ ...command, run: async () => 0 }));

async function problemOf(words: readonly string[]): Promise<string | null> {
  const said: string[] = [];
  const io = { env: {}, out: () => undefined, err: (line: string) => said.push(line) };
  return (await runCommandLine(words, STUBBED, io)) === 0 ? null : said.join(' ');
}

const typed = PAGES.flatMap((page) =>
  typedLines(read(page)).flatMap((line) => commandsOf(line).map((words) => ({ page, words }))),
);

test('the program takes every command of its own that a page has somebody type', async () => {
  const own = typed.flatMap(({ page, words }) => {
    const rest = wordsOfTocsin(words);
    return rest ? [{ page, words: rest }] : [];
  });
  expect(own.length).toBeGreaterThan(10);
  for (const { page, words } of own)
    expect([page, words, await problemOf(words)]).toEqual([page, words, null]);
});

test('every npm script that a page names exists', () => {
  const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
  const npm = typed.filter(({ words }) => words[0] === 'npm');
  expect(npm.length).toBeGreaterThan(4);
  for (const { page, words } of npm) {
    const script = words[1] === 'run' ? words[2] : words[1];
    expect([page, ['ci', 'install', ...scripts]]).toEqual([page, expect.arrayContaining([script])]);
  }
});

/** Who sees to what somebody types. */
const SEEN_TO: Readonly<Record<string, readonly string[]>> = {
  'the tests above': ['tocsin', 'npm', 'npx', 'node'],
  'test/smoke/release.test.ts': ['~/tocsin/node_modules/.bin/tocsin'],
  'test/smoke/documented-commands.test.ts': ['curl', 'openssl', 'cp', 'mkdir', 'chmod', 'cd', 'tr', 'sed'],
  'variables that exist, by the test below': ['export'],
  'an editor': ['vi'],
  'Docker and a cluster; files and services are those of deploy/*.test.ts': ['docker', 'kubectl', 'helm'],
  'the shell': ['for', 'do', 'done'],
  'test/peers/prometheus-rules.test.ts': ['promtool'],
};

test('every program that somebody types is one that is seen to', () => {
  const known = Object.values(SEEN_TO).flat();
  const others = typed.filter(
    ({ words: [first] }) => first !== undefined && first !== '' && !first.startsWith('#'),
  );
  expect(others.filter(({ words: [first] }) => !known.includes(first ?? ''))).toEqual([]);
});

/** Connections are called `tocsin <purpose>` in the database. */
const PURPOSES: readonly string[] = ['main', 'commits', 'ingestion', 'lock'] satisfies ConnectionPurpose[];

test('every command that a page names in its text exists', () => {
  const names = STUBBED.map(({ name }) => name);
  const families = new Set(names.map((name) => name.split(' ')[0]));
  for (const page of PAGES) {
    for (const [, first = '', second = ''] of read(page).matchAll(
      /`tocsin ([a-z-]+)(?: ([a-z-]+))?[^`\n]*`/g,
    )) {
      if (PURPOSES.includes(first)) continue;
      const isKnown = names.includes(`${first} ${second}`) || names.includes(first);
      const isFamily = second === '' && families.has(first);
      expect([page, first, second, isKnown || isFamily]).toEqual([page, first, second, true]);
    }
  }
});

test('every variable that a page names exists', () => {
  // The last is a setting of `npm run dev`.
  const known = new Set([...variableNames(), 'SVC_INSPECT']);
  for (const page of PAGES) {
    for (const [name] of read(page).matchAll(/\bSVC_[A-Z_]+[A-Z]\b(?![_*])/g)) {
      expect([page, name, known.has(name)]).toEqual([page, name, true]);
    }
  }
});

test.each([
  ['app', 'SVC_LISTEN_APP'],
  ['ingest', 'SVC_LISTEN_INGEST'],
  ['internal', 'SVC_LISTEN_INTERNAL'],
] as const)('docs/operating.md states where %s listens', (listener, setting) => {
  expect(read('docs/operating.md')).toContain(`| ${listener} | \`${settingOf(setting).fallback}\` |`);
});

/** A page as a reader sees it: in one line, without fenced blocks, typographic apostrophes made plain. */
const proseOf = (page: string) =>
  read(page)
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll('’', "'")
    .replaceAll(/\s+/g, ' ');

/** Ports have no comma. */
const written = (figure: number, says: string) =>
  says.includes('`http:') || says.includes('--port')
    ? String(figure)
    : figure.toLocaleString('en-US', { maximumFractionDigits: 3 });

/** Where a row states its figures, from and to; null when the page does not say so. */
function placeOf(prose: string, says: string, figures: readonly number[]): readonly [number, number] | null {
  let text = says;
  for (const figure of figures) text = text.replace('#', written(figure, says));
  const from = prose.indexOf(text);
  return from < 0 ? null : [from, from + text.length];
}

const rows = Object.entries(FIGURES).flatMap(([page, ofPage]) =>
  ofPage.map(([says, ...sources]) => ({ page, says, sources })),
);

test.each(rows)('$page states as the code has it: $says', ({ page, says, sources }) => {
  expect(says.split('#').length - 1).toBe(sources.length);
  const figures = sources.map(figureOf);
  const place = placeOf(proseOf(page), says, figures);
  expect([figures, place]).toEqual([figures, [expect.any(Number), expect.any(Number)]]);
});

/** A number with a unit, or one that something says to be a bound. */
const FIGURE =
  /(?<![\w.\-/§#:&])\d[\d,]*(?:\.\d+)? ?(?:ms|s|min|h|d|seconds?|minutes?|hours?|days?|months?|bytes?|KiB|MiB|GiB|kB|MB|GB|%|characters?|code points?|levels?|entries|items?|shards|times|requests?|Alerts|Snapshots?|bits|connections?|messages?|records?|errors?|rows|columns|values?|tables|tokens?|users|actors?|turns|asks|attempts|failures|calls?|lists)\b|(?:[Aa]t most|[Uu]p to|[Aa]t least|newest|the last|the first) (?:a width of )?\d[\d,]*/g;

/** Runbooks say what to do about an alert, whose figures are those of its rule (deploy/monitoring.test.ts). */
test('the figures of every page are looked at, but of pages of measurements', () => {
  const pages = PAGES.filter((page) => !page.startsWith('docs/runbooks/'));
  expect([...Object.keys(FIGURES), ...MEASURED].sort()).toEqual(pages.sort());
});

test.each(Object.keys(FIGURES))('every figure of %s is read from the code', (page) => {
  const prose = proseOf(page);
  const places = (FIGURES[page] ?? []).map(([says, ...sources]) =>
    placeOf(prose, says, sources.map(figureOf)),
  );
  const explained = EXPLAINED.filter(([of]) => of === page).map(([, text]) => {
    const found = text.exec(prose);
    return found && ([found.index, found.index + found[0].length] as const);
  });
  expect(explained).not.toContain(null);
  const isKnown = (from: number, to: number) =>
    [...places, ...explained].some((place) => place !== null && place[0] < to && from < place[1]);
  const unknown = [...prose.matchAll(FIGURE)]
    .filter(({ 0: text, index }) => !isKnown(index, index + text.length))
    .map(({ index }) => prose.slice(Math.max(0, index - 40), index + 40));
  expect(unknown).toEqual([]);
});

/** Where a term of ours is used: the contract, and the code with its comments. */
const SPOKEN = execFileSync(
  'git',
  ['ls-files', 'docs/contract', 'actors', 'http', 'runtime', 'storage', 'ui/src'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => /\.(md|ts|svelte)$/.test(file))
  .map(read)
  .join('\n')
  .replaceAll(/\n\s*(?:\*|\/\/)?\s*/g, ' ');

const terms = [...read('docs/glossary.md').matchAll(/^\| \*\*(.+?)\*\* \|/gm)].map(([, term = '']) => term);

test('the glossary has its terms in the order of the alphabet, each once in a table', () => {
  const tables = read('docs/glossary.md').split(/^## /m).slice(1);
  for (const table of tables) {
    const listed = [...table.matchAll(/^\| \*\*(.+?)\*\* \|/gm)].map(([, term = '']) => term);
    expect(listed).toEqual(listed.toSorted((one, other) => one.localeCompare(other, 'en')));
  }
  expect(new Set(terms).size).toBe(terms.length);
  expect(terms.length).toBeGreaterThan(100);
});

test.each(terms)('the contract or the code speaks of %s', (term) => {
  expect(new RegExp(`\\b${term}s?\\b`, 'i').test(SPOKEN)).toBe(true);
});

test('every page of the docs that the UI leads to is there', () => {
  const sources = execFileSync('git', ['ls-files', 'ui/src'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.(ts|svelte)$/.test(file) && existsSync(path.join(ROOT, file)));
  const pages = sources.flatMap((file) =>
    [...read(file).matchAll(/["']\/docs\/([\w/-]+)["'#]/g)].map(([, page = '']) => page),
  );
  expect(pages).toContain('templates');
  expect(pages.filter((page) => !existsSync(path.join(ROOT, 'docs', `${page}.md`)))).toEqual([]);
});

test('every module that a page, a README or a comment names is there', () => {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => existsSync(path.join(ROOT, file)));
  const isThere = (name: string) => files.some((file) => file === name || file.endsWith(`/${name}`));
  const missing = files.flatMap((file) => {
    const pattern = /\.md$/.test(file)
      ? /`((?:[\w-]+\/)*[\w-][\w.-]*\.(?:ts|svelte))`/g
      : /(?<=^\s*(?:\/\/|\/?\*)(?:.*[\s`({])?)((?:[\w-]+\/)*[\w-][\w.-]*\.ts)\b/gm;
    if (!/\.(md|ts|svelte)$/.test(file)) return [];
    return [...read(file).matchAll(pattern)]
      .map(([, name = '']) => name)
      .filter((name) => !isThere(name))
      .map((name) => `${file} names ${name}`);
  });
  expect(missing).toEqual([]);
});
