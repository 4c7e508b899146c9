/**
 * Master keys and what is made of them (secrets §1 to §3): reading the key list, sub-keys, sealing and opening. A
 * master key itself encrypts and signs nothing.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { Log } from '../log.ts';
import type { SealedFieldName } from './sealed-fields.ts';

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export type KeyPurpose = 'encryption' | 'button-signature' | 'csrf';

export interface MasterKey {
  /** `k-` and 16 hex digits; public. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** `<key id>:<base64 of nonce, ciphertext and tag>`, the text of a sealed column. */
export type Sealed = string & { readonly __sealed: unique symbol };

export type Opened =
  | { readonly ok: true; readonly value: string }
  /** Damaged, of another field or owner, or its key is not held. */
  | { readonly ok: false; readonly keyId: string };

/** Encrypts with one key. */
export interface Sealer {
  readonly keyId: string;
  /** For one field of one owner. Every call gives another text. */
  seal(field: string, owner: string, plaintext: string): Sealed;
}

export interface Keyring {
  /** The key that signs, as far as this process knows; what a save seals with, it asks the database (storage/keys/keyring.ts). */
  readonly activeKeyId: string;
  /** In the order of the key list. */
  readonly heldKeyIds: readonly string[];
  /** @throws when the key is not held */
  sealer(keyId: string): Sealer;
  open(field: string, owner: string, sealed: Sealed): Opened;
  /** A 32-byte sub-key, or null when the key is not held. */
  subKey(keyId: string, purpose: KeyPurpose): Buffer | null;
}

/** The keyring of a process, which follows the key that is active in the database. */
export interface SwitchableKeyring extends Keyring {
  /** From now on this key signs. @returns false when it is not held; then nothing changes */
  activate(keyId: string): boolean;
}

/**
 * Makes the keyring of a process.
 * @param activeKeyId the key that encrypts and signs, as stored in the database
 * @throws when the active key is not among `keys`
 */
export function createKeyring(
  keys: readonly MasterKey[],
  activeKeyId: string,
  random: (size: number) => Uint8Array = randomBytes,
): SwitchableKeyring {
  const subKeys = new Map(keys.map((key) => [key.id, subKeysOf(key)]));
  if (!subKeys.has(activeKeyId)) throw new Error(`The active key ${activeKeyId} is not held.`);
  let active = activeKeyId;

  return {
    get activeKeyId() {
      return active;
    },
    heldKeyIds: keys.map((key) => key.id),
    activate(keyId) {
      if (!subKeys.has(keyId)) return false;
      active = keyId;
      return true;
    },
    sealer(keyId) {
      const key = subKeys.get(keyId);
      if (!key) throw new Error(`The key ${keyId} is not held.`);
      return {
        keyId,
        seal: (field, owner, plaintext) =>
          encrypt(keyId, key.encryption, associatedData(field, owner), plaintext, random(NONCE_BYTES)),
      };
    },
    open(field, owner, sealed) {
      const [keyId = '', text = ''] = sealed.split(':', 2);
      const key = subKeys.get(keyId);
      if (!key) return { ok: false, keyId };
      const value = decrypt(key.encryption, associatedData(field, owner), Buffer.from(text, 'base64'));
      return value === null ? { ok: false, keyId } : { ok: true, value };
    },
    subKey: (keyId, purpose) => subKeys.get(keyId)?.[purpose] ?? null,
  };
}

export function masterKey(bytes: Buffer): MasterKey {
  const digest = createHash('sha256').update(bytes).digest('hex');
  return { id: `k-${digest.slice(0, 16)}`, bytes };
}

/** The key id that a sealed text names. */
export function sealedKeyId(sealed: Sealed): string {
  return sealed.slice(0, sealed.indexOf(':'));
}

function subKeysOf(key: MasterKey): Readonly<Record<KeyPurpose, Buffer>> {
  const derive = (purpose: KeyPurpose): Buffer =>
    Buffer.from(hkdfSync('sha256', key.bytes, Buffer.alloc(0), `tocsin keyring v1 ${purpose}`, KEY_BYTES));
  return {
    encryption: derive('encryption'),
    'button-signature': derive('button-signature'),
    csrf: derive('csrf'),
  };
}

/** Binds a value to its place: copied to another field or owner it does not open. */
function associatedData(field: string, owner: string): Buffer {
  return Buffer.from(`${field}\0${owner}`, 'utf8');
}

function encrypt(keyId: string, key: Buffer, aad: Buffer, plaintext: string, nonce: Uint8Array): Sealed {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(aad);
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  const envelope = Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]);
  return `${keyId}:${envelope.toString('base64')}` as Sealed;
}

function decrypt(key: Buffer, aad: Buffer, envelope: Buffer): string | null {
  if (envelope.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, envelope.subarray(0, NONCE_BYTES));
  decipher.setAAD(aad);
  decipher.setAuthTag(envelope.subarray(-TAG_BYTES));
  const head = decipher.update(envelope.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([head, decipher.final()]).toString('utf8');
  } catch {
    // A wrong tag is an answer here, not a defect: the value is damaged or was copied from elsewhere.
    return null;
  }
}

/** Compares two secrets in time that depends on neither: digests first, so that lengths do not show (secrets §8). */
export function equalSecrets(a: string | Uint8Array, b: string | Uint8Array): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(value: string | Uint8Array): Buffer {
  return createHash('sha256').update(value).digest();
}

/** Follows the key that is active in the database, whoever saw it there (secrets §5, operations §5.7). */
export interface KeySwitchDeps {
  readonly keyring: SwitchableKeyring;
  readonly log: Log;
  readonly onSwitched: () => void;
  /** Called once: this process cannot seal what the others seal, and must end. */
  readonly onNotHeld: () => void;
}

export function createKeySwitch({ keyring, log, onSwitched, onNotHeld }: KeySwitchDeps) {
  let isMissing = false;
  return (activeKeyId: string): void => {
    if (activeKeyId === keyring.activeKeyId) return;
    if (keyring.activate(activeKeyId)) {
      log('key_switched', { active: activeKeyId });
      onSwitched();
      return;
    }
    if (isMissing) return;
    isMissing = true;
    log('active_key_not_held');
    onNotHeld();
  };
}

/** Opens a stored value for one operation; one that does not open is a mistake of the configuration (secrets §3.5). */
export interface Opener {
  readonly keyring: Pick<Keyring, 'open'>;
  readonly log: Log;
}

/** Null when none of the held keys opens it; the log then names field, owner and key. */
export function openSecret(
  { keyring, log }: Opener,
  field: SealedFieldName,
  owner: string,
  sealed: Sealed,
): string | null {
  const opened = keyring.open(field, owner, sealed);
  if (opened.ok) return opened.value;
  log('secret_unreadable', { field, owner, key_id: opened.keyId });
  return null;
}
