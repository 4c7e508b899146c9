import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createReadSecret } from './read-secret.ts';

const read = (...chunks: readonly Buffer[]) =>
  createReadSecret(Readable.from(chunks), () => undefined)('New password: ');

test.each<[string, readonly Buffer[], string | null]>([
  ['the first line', [Buffer.from('one\ntwo\n')], 'one'],
  ['a line without an end', [Buffer.from('one')], 'one'],
  ['a line that Windows ended', [Buffer.from('one\r\n')], 'one'],
  ['a character that arrives in two pieces', [Buffer.from([0xc3]), Buffer.from([0xa9, 0x0a])], 'é'],
  ['nothing', [], null],
  ['a line of more than 4,096 bytes', [Buffer.alloc(4_097, 'x')], null],
  ['bytes that are no UTF-8, which nobody could type again', [Buffer.from([0x70, 0xff, 0x0a])], null],
])('a secret from a pipe is %s', async (_, chunks, secret) => {
  expect(await read(...chunks)).toBe(secret);
});
