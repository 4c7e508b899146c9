import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWhole } from './first-start.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'write-whole-'));
  file = path.join(folder, 'secret-keys');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('only the owner may read it, and nothing else is left', async () => {
  await createWhole(file, 'key\n');
  expect(await readFile(file, 'utf8')).toBe('key\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['secret-keys']);
});

test('a file that exists is kept', async () => {
  await writeFile(file, 'old');
  await expect(createWhole(file, 'new')).rejects.toMatchObject({ code: 'EEXIST' });
  expect(await readFile(file, 'utf8')).toBe('old');
  expect(await readdir(folder)).toEqual(['secret-keys']);
});

test('what an interrupted start left, readable by all, is neither used nor kept', async () => {
  await writeFile(`${file}.new`, 'ha', { mode: 0o644 });
  await createWhole(file, 'whole');
  expect(await readFile(file, 'utf8')).toBe('whole');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('without room for all of it there is none of it', () => {
  const script = `
    import { createWhole } from ${JSON.stringify(path.resolve(import.meta.dirname, 'first-start.ts'))};
    await createWhole(process.argv[1], 'x'.repeat(100_000)).catch((error) => console.log(error.code));`;
  // The shell lets no file grow beyond 8 blocks; a write past that fails as on a full disk.
  const limited = 'trap "" XFSZ; ulimit -f 8; exec "$0" --input-type=module -e "$1" "$2"';
  const printed = execFileSync('bash', ['-c', limited, process.execPath, script, file], { encoding: 'utf8' });
  expect(printed.trim()).toBe('EFBIG');
  expect(execFileSync('ls', ['-A', folder], { encoding: 'utf8' })).toBe('');
});
