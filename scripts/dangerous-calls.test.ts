/** What no product code does, or does in named places only. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const ROOMS = ['actors', 'http', 'runtime', 'storage', 'ui'];

/** Every source file of the product by path; tests, fixtures and built files are left out. */
const sources = new Map(
  ROOMS.flatMap((room) =>
    readdirSync(path.join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .map((file) => path.join(room, file))
      .filter(
        (file) => /\.(ts|svelte|eta)$/.test(file) && !/(\.test|\.fixture)\.ts$|^ui\/(dist|dev)\//.test(file),
      )
      .map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')] as const),
  ),
);

/** Files in which the pattern is found, each once. */
function filesWith(pattern: RegExp, rooms = ROOMS): readonly string[] {
  return [...sources]
    .filter(([file, text]) => rooms.some((room) => file.startsWith(`${room}/`)) && pattern.test(text))
    .map(([file]) => file)
    .sort();
}

/** What is called, in how many words it is found, and a line that the pattern must find. */
const NOWHERE: readonly (readonly [name: string, pattern: RegExp, example: string])[] = [
  ['eval', /(?<![.\w])eval\(/, 'eval(text)'],
  ['a function made of text', /new Function\(/, 'new Function(text)'],
  ['a timer with text', /set(Timeout|Interval)\(\s*['"`]/, "setTimeout('run()')"],
  ['a virtual machine', /node:vm/, "import vm from 'node:vm'"],
  ['an import of a name that is not written there', /\bimport\((?!\s*['"])/, 'await import(name)'],
  ['a shell', /\bshell: (?!false)|\bexecSync\(|\bexec\b.*from 'node:child_process'/, '{ shell: true }'],
  ['HTML as it is', /\{@html|insertAdjacentHTML|outerHTML =|document\.write\(/, '{@html text}'],
  ['a hash or cipher that is broken', /'(md5|sha-?1|des|rc4|[\w-]*-ecb|[\w-]*-cbc)'/i, "createHash('md5')"],
];

/** Redis names a script by SHA-1 and takes no other name. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'a hash or cipher that is broken': ['runtime/redis/coordination.ts'],
};

test.each(NOWHERE)('no product code has %s', (name, pattern, example) => {
  expect(example).toMatch(pattern);
  expect(filesWith(pattern)).toEqual(REQUIRED[name] ?? []);
});

test('hashes, MACs and ciphers are SHA-256, HMAC of it and AES-256-GCM of the platform', () => {
  const used = [...sources].flatMap(([file, text]) => {
    if (REQUIRED['a hash or cipher that is broken']?.includes(file)) return [];
    return [...text.matchAll(/create(?:Hash|Hmac|Cipheriv|Decipheriv)\(([^,)]*)/g)].map(([, name]) => name);
  });
  expect([...new Set(used)].sort()).toEqual(["'aes-256-gcm'", "'sha256'"]);
});

test('chance that can be guessed spreads retries and names tabs, and nothing else', () => {
  expect(filesWith(/Math\.random/)).toEqual([
    'runtime/redis/index.ts',
    'ui/src/live/hub-link.ts',
    'ui/src/live/hub.ts',
    'ui/src/live/stream.svelte.ts',
  ]);
});

test('programs are started, without a shell, by the embedded PostgreSQL only', () => {
  expect(filesWith(/child_process/)).toEqual([
    'storage/postgres/embedded/cluster.ts',
    'storage/postgres/embedded/server.ts',
  ]);
});

test('statements are made of text by migrations, partitions and the list of sealed columns only', () => {
  // Whoever counts statements passes on what it is given.
  expect(filesWith(/\.unsafe\(/)).toEqual([
    'storage/keys/sealed-values.ts',
    'storage/migrate.ts',
    'storage/postgres/connection.ts',
    'storage/postgres/partitions.ts',
  ]);
});

test('pages take markup as it is from runbooks and from their own parts only', () => {
  const raw = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/<%~(?!\s*include\()\s*(.*?)\s*-?%>/g)].map(([, inserted]) => `${file}: ${inserted}`),
  );
  expect(raw.sort()).toEqual([
    'http/documents/page.eta: it.body',
    'runtime/cli/bridge-reference/documents/content.eta: html',
    'runtime/cli/bridge-reference/documents/page.eta: it.body',
  ]);
  expect(filesWith(/innerHTML/)).toEqual(['runtime/cli/bridge-reference/page.ts']);
});
