/** A folder that becomes a file system of its own, so that a test can fill it. Mounting needs root. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export class SmallVolume {
  readonly #folder: string;
  readonly #ballast: string;

  /** @param folder exists; what it holds, its owner and its mode stay */
  constructor(folder: string, mebibytes: number) {
    this.#folder = folder;
    this.#ballast = path.join(folder, 'ballast');
    const { uid, gid, mode } = statSync(folder);
    const aside = mkdtempSync(path.join(tmpdir(), 'tocsin-volume-'));
    execFileSync('cp', ['-a', `${folder}/.`, aside]);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder]);
    execFileSync('cp', ['-a', `${aside}/.`, folder]);
    rmSync(aside, { recursive: true });
    chownSync(folder, uid, gid);
    chmodSync(folder, mode & 0o7777);
  }

  /** Takes all room there is. */
  fill(): void {
    const file = openSync(this.#ballast, 'w');
    const piece = Buffer.alloc(65_536);
    try {
      for (let written = piece.length; written === piece.length; ) written = writeSync(file, piece);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Gives back what {@link fill} took. */
  makeRoom(): void {
    rmSync(this.#ballast);
  }

  unmount(): void {
    execFileSync('umount', [this.#folder]);
  }
}
