/** What this build calls itself. */
import { readFileSync } from 'node:fs';

export interface Version {
  readonly version: string;
  /** The commit it was built from, or `unknown` outside an image. */
  readonly commit: string;
}

/** Reads the version from package.json; the commit comes from the image build (`TOCSIN_COMMIT`). */
export function readVersion(env: Readonly<Record<string, string | undefined>>): Version {
  const file = new URL('../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return { version, commit: env.TOCSIN_COMMIT ?? 'unknown' };
}
