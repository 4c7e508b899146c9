/** Reads one line that nobody should see: typed without an echo, or from a pipe. */
import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';

const LONGEST_BYTES = 4_096;

/** @returns null when it is too long or no UTF-8, or nothing came at all */
export type ReadSecret = (prompt: string) => Promise<string | null>;

type Input = Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };

/** @param show writes the prompt, where the result of the command does not go */
export function createReadSecret(input: Input, show: (text: string) => void): ReadSecret {
  return async (prompt) => {
    if (!input.isTTY || !input.setRawMode) return readLine(input);
    show(prompt);
    input.setRawMode(true);
    try {
      return await readTyped(input);
    } finally {
      input.setRawMode(false);
      show('\n');
    }
  };
}

/** The first line, without its end. */
async function readLine(input: Readable): Promise<string | null> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of input) {
    bytes = Buffer.concat([bytes, Buffer.from(chunk)]);
    const end = bytes.indexOf('\n');
    if (end >= 0) return lineOf(bytes.subarray(0, end));
    if (bytes.length > LONGEST_BYTES) return null;
  }
  return bytes.length === 0 ? null : lineOf(bytes);
}

/** What is no UTF-8 would be another secret than the one that was meant. */
function lineOf(bytes: Buffer): string | null {
  return bytes.length > LONGEST_BYTES || !isUtf8(bytes) ? null : bytes.toString('utf8').replace(/\r$/, '');
}

const ENTER = /[\r\n]/;
const BACKSPACE = new Set(['\x7f', '\b']);
const GIVE_UP = new Set(['\x03', '\x04']);

/** Keys arrive one by one; Ctrl+C and Ctrl+D give up. */
async function readTyped(input: Readable): Promise<string | null> {
  let typed: string[] = [];
  for await (const chunk of input) {
    for (const key of String(chunk)) {
      if (ENTER.test(key)) return lineOf(Buffer.from(typed.join('')));
      if (GIVE_UP.has(key)) return null;
      typed = BACKSPACE.has(key) ? typed.slice(0, -1) : [...typed, key];
    }
  }
  return null;
}
