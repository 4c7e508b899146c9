/** Makes one events-mode request: fills in Secrets, signs, and knows what must be masked (webhooks §1.1, §3.1, §5). */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { ProxyRoute } from '../../runtime/outbound/proxy.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Keyring, Sealed } from '../../runtime/secrets/keyring.ts';
import type { SealedFieldName } from '../../runtime/secrets/sealed-fields.ts';
import { type ProxyFields, proxyRoute } from '../proxy/proxy-config.ts';
import { parseSecretTemplate, renderSecretTemplate } from './secret-template.ts';
import { webhookSignature } from './signature.ts';
import { callableUrl, type EventsConfig } from './webhook-config.ts';

/** A Destination's settings with its Secrets still sealed. */
export interface WebhookSettings {
  readonly id: PublicId;
  readonly events: EventsConfig;
  /** By name; null for one whose value was lost with its master key. */
  readonly secrets: ReadonlyMap<string, Sealed | null>;
  /** Null only after its master key was lost. */
  readonly signingSecret: Sealed | null;
  readonly previousSigningSecret: Sealed | null;
  readonly proxy: ProxyFields;
  readonly proxyPassword: Sealed | null;
  /** Changes with every save of the Destination and of its Secrets. */
  readonly version: string;
}

export type BuiltRequest =
  | {
      readonly outcome: 'ready';
      readonly url: URL;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly proxy: ProxyRoute | null;
      /** Every secret of the Destination, and what its URL says of a user. */
      readonly secrets: readonly string[];
      /** Names of headers made of Secrets, in small letters. */
      readonly secretHeaders: ReadonlySet<string>;
    }
  | { readonly outcome: 'template_error'; readonly error: string; readonly secrets: readonly string[] }
  | {
      readonly outcome: 'secret_unreadable';
      readonly field: string;
      readonly owner: string;
      /** The key it needs; null when nothing is left to open. */
      readonly keyId: string | null;
    };

export interface RequestParts {
  readonly settings: WebhookSettings;
  readonly keyring: Keyring;
  readonly eventId: string;
  readonly body: Buffer;
  readonly now: Micros;
}

const NOTHING_LEFT = { ok: false, keyId: null } as const;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** Builds the request with the settings of this moment. */
export function buildWebhookRequest(parts: RequestParts): BuiltRequest {
  const opening = createOpening(parts);
  try {
    return build(parts, opening);
  } catch (error) {
    if (error instanceof Unrenderable) {
      return { outcome: 'template_error', error: error.message, secrets: opening.everything() };
    }
    if (error instanceof Unreadable) return error.result;
    throw error;
  }
}

function build(parts: RequestParts, opening: Opening): BuiltRequest {
  const { settings, eventId, body, now } = parts;
  const headers = settings.events.headers.map(({ name, value }, index) => {
    const place = `/events/headers/${index}/value`;
    const rendered = opening.renderHeader(name, value, place);
    if (!HEADER_VALUE.test(rendered))
      throw new Unrenderable(`${place}: a header value must be printable ASCII`);
    return [name, rendered] as const;
  });
  const url = callableUrl(opening.render(settings.events.url, '/events/url'));
  if (!url) throw new Unrenderable('/events/url: this is not an absolute http or https URL');

  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const basic = takeUserInformation(url, opening);
  const timestamp = Math.floor(now / SECOND);
  const proxy = opening.proxy();
  const signature = webhookSignature(opening.signingSecrets(), eventId, timestamp, body);
  opening.opened.push(...signature.split(' ').map((one) => one.slice(one.indexOf(',') + 1)));
  return {
    outcome: 'ready',
    url,
    headers: [
      ...headers,
      ...(basic && !names.has('authorization') ? [['Authorization', basic] as const] : []),
      ['Content-Type', 'application/json'],
      ['webhook-id', eventId],
      ['webhook-timestamp', String(timestamp)],
      ['webhook-signature', signature],
    ],
    proxy,
    secrets: opening.everything(),
    secretHeaders: opening.secretHeaders,
  };
}

/** User information never stays in a URL; it is sent as Basic credentials. */
function takeUserInformation(url: URL, opening: Opening): string | null {
  if (url.username === '' && url.password === '') return null;
  const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
  opening.opened.push(credentials, decoded(url.password));
  url.username = '';
  url.password = '';
  return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`;
}

/** URL parsing leaves a lone percent sign as it is; then the text is meant literally. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface Opening {
  readonly opened: string[];
  render(source: string, place: string): string;
  /** The same; a value made of Secrets is one itself, whatever its template made of them. */
  renderHeader(name: string, source: string, place: string): string;
  readonly secretHeaders: ReadonlySet<string>;
  signingSecrets(): readonly string[];
  proxy(): ProxyRoute | null;
  /** What was opened, and what else can be: a receiver may know more than it was sent now. */
  everything(): readonly string[];
}

function createOpening({ keyring, settings, now }: RequestParts): Opening {
  const opened: string[] = [];
  const secretHeaders = new Set<string>();
  const open = (field: SealedFieldName, owner: string, sealed: Sealed | null): string => {
    const result = sealed === null ? NOTHING_LEFT : keyring.open(field, owner, sealed);
    if (!result.ok) throw new Unreadable({ outcome: 'secret_unreadable', field, owner, keyId: result.keyId });
    opened.push(result.value);
    return result.value;
  };
  const secretFor = (name: string, place: string): string => {
    const sealed = settings.secrets.get(name);
    if (sealed === undefined) throw new Unrenderable(`${place}: there is no Secret ${name}`);
    return open('destination.secret', `${settings.id}/${name}`, sealed);
  };

  const render = (source: string, place: string): { text: string; holdsSecret: boolean } => {
    const parsed = parseSecretTemplate(source);
    if (!parsed.ok) throw unrenderable(place, parsed.error);
    const secrets = parsed.reads.map((name) => [name, secretFor(name, place)] as const);
    const rendered = renderSecretTemplate(parsed.template, Object.fromEntries(secrets), now);
    if (!rendered.ok) throw unrenderable(place, rendered.error);
    return { text: rendered.text, holdsSecret: parsed.reads.length > 0 };
  };

  return {
    opened,
    render: (source, place) => render(source, place).text,
    secretHeaders,
    renderHeader(name, source, place) {
      const { text, holdsSecret } = render(source, place);
      if (!holdsSecret) return text;
      secretHeaders.add(name.toLowerCase());
      opened.push(text, text.replace(/^\S+ /, ''));
      return text;
    },
    signingSecrets() {
      const { id, signingSecret, previousSigningSecret } = settings;
      const secrets = [
        open('destination.signing_secret', id, signingSecret),
        ...(previousSigningSecret
          ? [open('destination.signing_secret_previous', id, previousSigningSecret)]
          : []),
      ];
      opened.push(...secrets.map((value) => value.replace(/^whsec_/, '')));
      return secrets;
    },
    proxy() {
      const { id, proxy, proxyPassword } = settings;
      if (!proxy.enabled) return null;
      const password = proxyPassword && open('destination.proxy_password', id, proxyPassword);
      return proxyRoute(proxy, password);
    },
    everything() {
      const { id, secrets, proxyPassword } = settings;
      const results = [...secrets].map(([name, sealed]) =>
        sealed === null ? NOTHING_LEFT : keyring.open('destination.secret', `${id}/${name}`, sealed),
      );
      if (proxyPassword) results.push(keyring.open('destination.proxy_password', id, proxyPassword));
      return [...new Set([...opened, ...results.flatMap((result) => (result.ok ? [result.value] : []))])];
    },
  };
}

function unrenderable(
  place: string,
  { line, column, message }: { readonly line: number; readonly column: number; readonly message: string },
): Unrenderable {
  return new Unrenderable(`${place}, line ${line}, column ${column}: ${message}`);
}

class Unrenderable extends Error {
  override readonly name = 'Unrenderable';
}

class Unreadable extends Error {
  override readonly name = 'Unreadable';
  readonly result: Extract<BuiltRequest, { outcome: 'secret_unreadable' }>;

  constructor(result: Extract<BuiltRequest, { outcome: 'secret_unreadable' }>) {
    super(result.outcome);
    this.result = result;
  }
}
