/**
 * What quickstart makes up for a first start is shown once, and only hashes of it go to the database. Until it was
 * shown it waits in a file of the data folder, so that a start that fails half-way locks nobody out.
 */
import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newIntegrationToken } from '../../actors/integration/snippets.ts';

export interface FirstStart {
  readonly password: string;
  readonly token: string;
  /** Whether an earlier start ended before it could show them. */
  readonly wasPending: boolean;
}

const fileIn = (folder: string) => path.join(folder, 'first-start');

/** What has yet to be shown; null once it was. */
export async function readFirstStart(folder: string): Promise<FirstStart | null> {
  const kept = await readFile(fileIn(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (kept === '') return null;
  if (kept !== null) return { ...(JSON.parse(kept) as Omit<FirstStart, 'wasPending'>), wasPending: true };
  const made = { password: randomBytes(12).toString('base64url'), token: newIntegrationToken(randomBytes) };
  await createWhole(fileIn(folder), JSON.stringify(made));
  return { ...made, wasPending: false };
}

/** They were shown: from now on only their hashes are known. */
export async function forgetFirstStart(folder: string): Promise<void> {
  await writeFile(fileIn(folder), '', { mode: 0o600 });
}

/**
 * Creates a file that only its owner may read. It is written beside and linked when it is on disk: a crash or a full disk leaves no half-written
 * file under its name.
 * @throws {NodeJS.ErrnoException} EEXIST: there is one already; it is unchanged
 */
export async function createWhole(file: string, text: string): Promise<void> {
  const beside = `${file}.new`;
  // A start that was interrupted may have left one.
  await rm(beside, { force: true });
  try {
    const written = await open(beside, 'wx', 0o600);
    try {
      await written.writeFile(text);
      await written.sync();
    } finally {
      await written.close();
    }
    await link(beside, file);
  } finally {
    await rm(beside, { force: true });
  }
}
