/** Reads the list of master keys (secrets §1, §1.1). Every refusal names the variable and the line, never the content. */
import { KEY_BYTES, type MasterKey, masterKey } from './keyring.ts';

export const MAKE_A_KEY = 'openssl rand -base64 32';

const MOST_BYTES = 64 * 1024;
const MOST_KEYS = 64;
const BASE64_OF_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;

/** Keys printed in documentation and tests: fine for trying out, never for a real installation. */
const PRINTED_KEYS: readonly string[] = ['AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='];

export interface KeyListOptions {
  /** Name of the setting, for messages. */
  readonly variable: string;
  /** The file has a key a line; the inline setting is comma-separated. */
  readonly separator: 'line' | 'comma';
  /** Quickstart and tests accept keys that are printed somewhere. */
  readonly acceptPrinted: boolean;
}

export type KeyList =
  | { readonly ok: true; readonly keys: readonly MasterKey[] }
  | { readonly ok: false; readonly problem: string };

/** Parses a key list. The keys come in the order of the list, at least one. */
export function parseKeyList(text: string, options: KeyListOptions): KeyList {
  const { variable } = options;
  if (Buffer.byteLength(text) > MOST_BYTES) return refused(`${variable} is larger than 64 KiB.`);
  const firstLine = new Map<string, number>();
  const keys: MasterKey[] = [];

  for (const [index, raw] of text.split(options.separator === 'line' ? '\n' : ',').entries()) {
    const line = raw.replace(/^[ \t\r]+|[ \t\r]+$/g, '');
    if (line === '' || line.startsWith('#')) continue;
    const where = `${variable}, ${options.separator === 'line' ? 'line' : 'entry'} ${index + 1}`;
    const problem = lineProblem(line, options.acceptPrinted);
    if (problem) return refused(`${where}: ${problem}`);
    const key = masterKey(Buffer.from(line, 'base64'));
    const before = firstLine.get(key.id);
    if (before !== undefined) return refused(`${where}: the same key as in line ${before}.`);
    firstLine.set(key.id, index + 1);
    keys.push(key);
  }

  if (keys.length === 0) return refused(`${variable} holds no key. Make one with: ${MAKE_A_KEY}`);
  if (keys.length > MOST_KEYS) return refused(`${variable} holds more than ${MOST_KEYS} keys.`);
  return { ok: true, keys };
}

function lineProblem(line: string, acceptPrinted: boolean): string | null {
  if (line.startsWith('REPLACE')) return `a placeholder. Make a key with: ${MAKE_A_KEY}`;
  const bytes = Buffer.from(line, 'base64');
  const exact = BASE64_OF_32_BYTES.test(line) && bytes.length === KEY_BYTES;
  if (!exact || bytes.toString('base64') !== line) {
    return `not the base64 of exactly 32 bytes. Make a key with: ${MAKE_A_KEY}`;
  }
  if (bytes.every((byte) => byte === bytes[0])) return `a placeholder. Make a key with: ${MAKE_A_KEY}`;
  if (!acceptPrinted && PRINTED_KEYS.includes(line)) {
    return `a key that is printed in documentation. Make your own with: ${MAKE_A_KEY}`;
  }
  return null;
}

function refused(problem: string): KeyList {
  return { ok: false, problem };
}
