/**
 * Master keys and what is made of them (secrets §1 to §3): reading the key list, sub-keys, sealing and opening. A
 * master key itself encrypts and signs nothing.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

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

export interface Keyring {
  readonly activeKeyId: string;
  /** In the order of the key list. */
  readonly heldKeyIds: readonly string[];
  /** Encrypts for one field of one owner with the active key. Every call gives another text. */
  seal(field: string, owner: string, plaintext: string): Sealed;
  open(field: string, owner: string, sealed: Sealed): Opened;
  /** A 32-byte sub-key, or null when the key is not held. */
  subKey(keyId: string, purpose: KeyPurpose): Buffer | null;
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
): Keyring {
  const subKeys = new Map(keys.map((key) => [key.id, subKeysOf(key)]));
  const active = subKeys.get(activeKeyId);
  if (!active) throw new Error(`The active key ${activeKeyId} is not held.`);

  return {
    activeKeyId,
    heldKeyIds: keys.map((key) => key.id),
    seal(field, owner, plaintext) {
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', active.encryption, nonce);
      cipher.setAAD(associatedData(field, owner));
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      const envelope = Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]);
      return `${activeKeyId}:${envelope.toString('base64')}` as Sealed;
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

/** A master key from its 32 bytes. */
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
