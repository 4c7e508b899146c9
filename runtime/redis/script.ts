import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Client } from './link.ts';

/** A Lua script that the server keeps under its hash. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export type ScriptName = 'beat' | 'assign' | 'release' | 'leave';

/** Reads a script from `scripts/`, with what all of them begin with. */
export function readScript(name: ScriptName): Script {
  const [common, own] = ['common', name].map((file) =>
    readFileSync(path.join(import.meta.dirname, 'scripts', `${file}.lua`), 'utf8'),
  );
  const lua = `${common}\n${own}`;
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/** Runs it by its hash, and by its text when the server does not know it (yet, or after a flush). */
export async function runScript(
  client: Client,
  { lua, sha }: Script,
  keys: readonly string[],
  words: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.evalsha(sha, keys.length, ...keys, ...words);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return await client.eval(lua, keys.length, ...keys, ...words);
  }
}
