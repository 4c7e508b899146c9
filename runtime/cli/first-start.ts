/**
 * What quickstart makes up for a first start is shown once, and only hashes of it go to the database. Until it was
 * shown it waits in a file of the data folder, so that a start that fails half-way locks nobody out.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newIntegrationToken } from '../../actors/integration/snippets.ts';
import { createWhole } from './write-whole.ts';

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
