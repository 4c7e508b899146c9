/** Makes the docs while the UI is built, into the `docs` folder of the same output, from where the service serves them. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Plugin } from 'vite';

const run = promisify(execFile);

export function docsPlugin(): Plugin {
  let root = '';
  let out = '';
  let made: Promise<string> | null = null;

  /** In a process of its own, on another core; a build of the UI empties its output late. */
  async function make(): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-docs-'));
    const script = path.join(root, '..', 'scripts', 'docs', 'build.ts');
    await run(process.execPath, ['--disable-warning=ExperimentalWarning', script, path.join(folder, 'docs')]);
    return folder;
  }

  return {
    name: 'tocsin-docs',
    apply: 'build',
    configResolved(config) {
      root = config.root;
      out = path.resolve(config.root, config.build.outDir);
    },
    buildStart() {
      made = make();
      // Its failure is that of the build, below.
      made.catch(() => undefined);
    },
    async closeBundle() {
      if (made === null) return;
      const folder = await made;
      await cp(folder, out, { recursive: true });
      await rm(folder, { recursive: true });
    },
  };
}
