/** Opens what a webhook's requests need of its sealed values, signs them, and knows what must be masked (webhooks §1.1, §5, §9). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { ProxyRoute } from '../../../runtime/outbound/proxy.ts';
import type { Keyring, Sealed } from '../../../runtime/secrets/keyring.ts';
import { isSensitiveName } from '../../../runtime/secrets/masking.ts';
import type { SealedFieldName } from '../../../runtime/secrets/sealed-fields.ts';
import type { SealedSettings } from '../../destination/ports.ts';
import { proxyRoute } from '../../proxy-config.ts';
import { webhookSignature } from '../signature.ts';

export interface ReadyRequest {
  readonly outcome: 'ready';
  readonly url: URL;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly proxy: ProxyRoute | null;
  /** Every secret of the Destination, and what its URL says of a user. */
  readonly secrets: readonly string[];
  /** Names of headers made of Secrets, in small letters. */
  readonly secretHeaders: ReadonlySet<string>;
}

/** Nothing is sent. */
export type RefusedRequest =
  | { readonly outcome: 'template_error'; readonly error: string; readonly secrets: readonly string[] }
  | {
      readonly outcome: 'secret_unreadable';
      readonly field: string;
      readonly owner: string;
      /** The key it needs; null when nothing is left to open. */
      readonly keyId: string | null;
    };

export interface Opening {
  /**
   * Values of some Secrets.
   * @param reads names, each with the field, line and column that reads it first
   * @throws {Unrenderable} one is missing
   */
  secrets(reads: ReadonlyMap<string, string>): Readonly<Record<string, string>>;
  /** A header whose value is made of Secrets is one itself, whatever its template made of them. */
  hideHeader(name: string, value: string): void;
  /** Adds credentials, signature and proxy to what templates made. */
  sign(request: UnsignedRequest): ReadyRequest;
}

export interface UnsignedRequest {
  readonly url: URL;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** `webhook-id`. */
  readonly eventId: string;
  readonly body: Buffer;
  readonly now: Micros;
}

/** What `build` makes; what it throws as {@link Unrenderable} is a template error. */
export function withOpened<Built>(
  settings: SealedSettings,
  keyring: Keyring,
  build: (opening: Opening) => Built,
): Built | RefusedRequest {
  const opened = new OpenedSettings(settings, keyring);
  try {
    return build(opened);
  } catch (error) {
    if (error instanceof Unrenderable) {
      return { outcome: 'template_error', error: error.message, secrets: opened.everything() };
    }
    if (error instanceof Unreadable) return error.refused;
    throw error;
  }
}

/** The message says where and why; it may hold secrets. */
export class Unrenderable extends Error {
  override readonly name = 'Unrenderable';
}

class Unreadable extends Error {
  override readonly name = 'Unreadable';
  readonly refused: RefusedRequest;

  constructor(refused: RefusedRequest) {
    super(refused.outcome);
    this.refused = refused;
  }
}

const NOTHING_LEFT = { ok: false, keyId: null } as const;

class OpenedSettings implements Opening {
  readonly #settings: SealedSettings;
  readonly #keyring: Keyring;
  readonly #opened: string[] = [];
  readonly #secretHeaders = new Set<string>();

  constructor(settings: SealedSettings, keyring: Keyring) {
    this.#settings = settings;
    this.#keyring = keyring;
  }

  secrets(reads: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
    const { id, secrets } = this.#settings;
    const values = [...reads].map(([name, place]) => {
      const sealed = secrets.get(name);
      if (sealed === undefined) throw new Unrenderable(`${place}: there is no Secret ${name}`);
      return [name, this.#open('destination.secret', `${id}/${name}`, sealed)] as const;
    });
    return Object.fromEntries(values);
  }

  hideHeader(name: string, value: string): void {
    this.#secretHeaders.add(name.toLowerCase());
    this.#opened.push(value, value.replace(/^\S+ /, ''));
  }

  sign({ url, headers, eventId, body, now }: UnsignedRequest): ReadyRequest {
    const names = new Set(headers.map(([name]) => name.toLowerCase()));
    const basic = this.#takeUserInformation(url);
    this.#hideLiterals(url, headers);
    const timestamp = Math.floor(now / SECOND);
    const proxy = this.#proxy();
    const signature = webhookSignature(this.#signingSecrets(), eventId, timestamp, body);
    this.#opened.push(...signature.split(' ').map((one) => one.slice(one.indexOf(',') + 1)));
    return {
      outcome: 'ready',
      url,
      headers: [
        ...headers,
        ...(basic && !names.has('authorization') ? [['Authorization', basic] as const] : []),
        ['webhook-id', eventId],
        ['webhook-timestamp', String(timestamp)],
        ['webhook-signature', signature],
      ],
      proxy,
      secrets: this.everything(),
      secretHeaders: this.#secretHeaders,
    };
  }

  /** What was opened, and what else can be: a receiver may know more than it was sent now. */
  everything(): readonly string[] {
    const { id, secrets, proxyPassword } = this.#settings;
    const results = [...secrets].map(([name, sealed]) =>
      sealed === null ? NOTHING_LEFT : this.#keyring.open('destination.secret', `${id}/${name}`, sealed),
    );
    if (proxyPassword) results.push(this.#keyring.open('destination.proxy_password', id, proxyPassword));
    return [...new Set([...this.#opened, ...results.flatMap((result) => (result.ok ? [result.value] : []))])];
  }

  #open(field: SealedFieldName, owner: string, sealed: Sealed | null): string {
    const result = sealed === null ? NOTHING_LEFT : this.#keyring.open(field, owner, sealed);
    if (!result.ok) throw new Unreadable({ outcome: 'secret_unreadable', field, owner, keyId: result.keyId });
    this.#opened.push(result.value);
    return result.value;
  }

  #signingSecrets(): readonly string[] {
    const { id, signingSecret, previousSigningSecret: previous } = this.#settings;
    const secrets = [
      this.#open('destination.signing_secret', id, signingSecret),
      ...(previous ? [this.#open('destination.signing_secret_previous', id, previous)] : []),
    ];
    this.#opened.push(...secrets.map((value) => value.replace(/^whsec_/, '')));
    return secrets;
  }

  #proxy(): ProxyRoute | null {
    const { id, proxy, proxyPassword } = this.#settings;
    if (!proxy.enabled) return null;
    const password = proxyPassword && this.#open('destination.proxy_password', id, proxyPassword);
    return proxyRoute(proxy, password);
  }

  /** Credentials that an Admin wrote out are configuration, and in nothing that is told of requests (secrets §9). */
  #hideLiterals(url: URL, headers: UnsignedRequest['headers']): void {
    for (const [name, value] of headers) if (isSensitiveName(name)) this.hideHeader(name, value);
    for (const [name, value] of url.searchParams) if (isSensitiveName(name)) this.#opened.push(value);
  }

  /** User information never stays in a URL; it is sent as Basic credentials. */
  #takeUserInformation(url: URL): string | null {
    if (url.username === '' && url.password === '') return null;
    const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
    this.#opened.push(credentials, decoded(url.password));
    url.username = '';
    url.password = '';
    return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`;
  }
}

/** URL parsing leaves a lone percent sign as it is; then the text is meant literally. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
