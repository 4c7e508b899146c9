/** Files with secrets that quickstart makes: readable by the owner only, and complete or not there at all. */
import { link, open, rm } from 'node:fs/promises';

/**
 * Creates a file. It is written beside and linked when it is on disk: a crash or a full disk leaves no half-written
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
