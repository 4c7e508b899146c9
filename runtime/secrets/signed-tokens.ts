/** What Tocsin signs for others to send back: the data of messenger buttons (secrets §6) and CSRF tokens (secrets §3.3). */
import { createHmac } from 'node:crypto';
import { type PublicId, parsePublicId } from '../public-id.ts';
import { equalSecrets, type Keyring } from './keyring.ts';

const VERSION = 1;
/** By their codes, from 1. */
const SUBJECTS = ['root_message', 'thread_reply', 'test_message', 'account_link'] as const;
const COMMANDS = [
  'acknowledge',
  'unacknowledge',
  'resolve',
  'snooze',
  'unsnooze',
  'still_on_it',
  'unlink',
] as const;

const ID_BYTES = 14;
const ARGUMENT_AT = 3 + ID_BYTES;
const PREFIX_AT = ARGUMENT_AT + 4;
const MAC_AT = PREFIX_AT + 4;
const MAC_BYTES = 16;
const TEXT = /^[A-Za-z0-9_-]{55}$/;

export type ButtonSubject = Exclude<(typeof SUBJECTS)[number], 'account_link'>;
export type ButtonCommand = Exclude<(typeof COMMANDS)[number], 'unlink'>;

export interface MessageButtonData {
  readonly subject: ButtonSubject;
  /** Of the Alert Group; of the Destination for a test message. */
  readonly id: PublicId;
  readonly command: ButtonCommand;
  /** Of a Snooze; 0 for every other Command. */
  readonly seconds: number;
}

/** Ends an Account link, for whoever holds the account (account-links §8). */
export interface UnlinkButtonData {
  readonly subject: 'account_link';
  /** Of the link. */
  readonly id: PublicId;
  readonly command: 'unlink';
  readonly seconds: 0;
}

export type ButtonData = MessageButtonData | UnlinkButtonData;

export type ReadButtonData =
  | { readonly ok: true; readonly button: ButtonData; readonly keyId: string }
  /** `expired`: signed with a key that is no longer held; everything else is `invalid`. */
  | { readonly ok: false; readonly reason: 'invalid' | 'expired' };

/** The text of a button, signed with the active key. */
export function buttonData(keyring: Keyring, { subject, id, command, seconds }: ButtonData): string {
  const signed = Buffer.alloc(MAC_AT);
  signed.set([VERSION, SUBJECTS.indexOf(subject) + 1]);
  signed.write(id, 2, 'latin1');
  signed[2 + ID_BYTES] = COMMANDS.indexOf(command) + 1;
  signed.writeUInt32BE(seconds, ARGUMENT_AT);
  prefixOf(keyring.activeKeyId).copy(signed, PREFIX_AT);
  const mac = macOf(keyring, keyring.activeKeyId, signed);
  return Buffer.concat([signed, mac]).toString('base64url');
}

/**
 * Proves that a button was sent through this Connection. Other messengers show the text of the same button to people, so
 * it proves nothing where the sender of a press does not (secrets §6).
 */
export function buttonProof(keyring: Keyring, keyId: string, connectionId: PublicId, text: string): string {
  return macOf(keyring, keyId, Buffer.from(`${connectionId} ${text}`)).toString('base64url');
}

/** Reads what came back with a press. Nothing is known of it before its signature holds. */
export function readButtonData(keyring: Keyring, text: string): ReadButtonData {
  const bytes = TEXT.test(text) ? Buffer.from(text, 'base64url') : null;
  if (bytes?.toString('base64url') !== text) return { ok: false, reason: 'invalid' };
  const button = fieldsOf(bytes);
  if (button === null) return { ok: false, reason: 'invalid' };

  const prefix = bytes.subarray(PREFIX_AT, MAC_AT);
  const candidates = keyring.heldKeyIds.filter((keyId) => prefixOf(keyId).equals(prefix));
  if (candidates.length === 0) return { ok: false, reason: 'expired' };
  const signed = bytes.subarray(0, MAC_AT);
  const mac = bytes.subarray(MAC_AT);
  const [keyId] = candidates.filter((candidate) => equalSecrets(macOf(keyring, candidate, signed), mac));
  return keyId === undefined ? { ok: false, reason: 'invalid' } : { ok: true, button, keyId };
}

function fieldsOf(bytes: Buffer): ButtonData | null {
  const subject = SUBJECTS[(bytes[1] ?? 0) - 1];
  const id = bytes.toString('latin1', 2, 2 + ID_BYTES);
  const command = COMMANDS[(bytes[2 + ID_BYTES] ?? 0) - 1];
  const known = parsePublicId(id);
  if (bytes[0] !== VERSION || !subject || !command || known !== id) return null;
  if (subject === 'account_link' || command === 'unlink') {
    const isUnlink = subject === 'account_link' && command === 'unlink';
    return isUnlink ? { subject, id: known, command, seconds: 0 } : null;
  }
  return { subject, id: known, command, seconds: bytes.readUInt32BE(ARGUMENT_AT) };
}

/** The first half of the key id's digits. */
function prefixOf(keyId: string): Buffer {
  return Buffer.from(keyId.slice(2, 10), 'hex');
}

function macOf(keyring: Keyring, keyId: string, signed: Uint8Array): Buffer {
  const key = keyring.subKey(keyId, 'button-signature');
  if (key === null) throw new Error(`The key ${keyId} is not held.`);
  return createHmac('sha256', key).update(signed).digest().subarray(0, MAC_BYTES);
}

/** The token of a session, `<key id>.<base64url MAC>`, made with the active key. `session` is the raw session value. */
export function csrfToken(keyring: Keyring, session: Uint8Array): string {
  return tokenOf(keyring, keyring.activeKeyId, session) ?? unreachable(keyring.activeKeyId);
}

/** Whether `token` belongs to the session, under any key that is still held. */
export function verifyCsrfToken(keyring: Keyring, session: Uint8Array, token: string): boolean {
  const keyId = token.slice(0, Math.max(0, token.indexOf('.')));
  const expected = tokenOf(keyring, keyId, session);
  return expected !== null && equalSecrets(expected, token);
}

function tokenOf(keyring: Keyring, keyId: string, session: Uint8Array): string | null {
  const key = keyring.subKey(keyId, 'csrf');
  return key && `${keyId}.${createHmac('sha256', key).update(session).digest('base64url')}`;
}

function unreachable(keyId: string): never {
  throw new Error(`The active key ${keyId} is not held.`);
}
