/** Whether addresses that Tocsin was told resolve, and whether it may call them. Nothing is sent. */
import { isIP } from 'node:net';
import { buildWebhookRequest } from '../../../actors/channels/webhook-events/request.ts';
import { EXAMPLE_GROUP, exampleTelling } from '../../../actors/channels/webhook-template/request-data.ts';
import {
  buildTemplateRequest,
  type WantedRequest,
} from '../../../actors/channels/webhook-template/send-request.ts';
import type { StoredDestination } from '../../../actors/destination/ports.ts';
import { proxyRoute } from '../../../actors/proxy-config.ts';
import { readConnections, type SealedWay } from '../../../storage/configuration/connection-rows.ts';
import {
  readMessengerDestinations,
  readWebhookDestinations,
  type WebhookDestination,
} from '../../../storage/configuration/destination-rows.ts';
import { readOutboundPolicy } from '../../../storage/configuration/organization.ts';
import { readKeyring } from '../../../storage/keys/keyring.ts';
import { type Clock, SECOND } from '../../clock.ts';
import { silentLog } from '../../log.ts';
import { type AddressPolicy, createAddressPolicy, targetHost } from '../../outbound/address-policy.ts';
import { CONNECT_TIMEOUT } from '../../outbound/connect.ts';
import { judgeProxied, permittedAddresses, type Resolve } from '../../outbound/judge-target.ts';
import type { ProxyRoute } from '../../outbound/proxy.ts';
import type { PublicId } from '../../public-id.ts';
import { type Keyring, type MasterKey, openSecret } from '../../secrets/keyring.ts';
import { createMask } from '../../secrets/masking.ts';
import { type Check, duration, type Finding, ok, reasonOf, some, unlessWrong, warn } from './check.ts';
import type { ReadOnlyDatabase } from './database-checks.ts';

/** Names resolved at once. */
const AT_ONCE = 32;

export interface AddressCheckDeps {
  readonly publicUrl: string;
  readonly ingestUrl: string;
  readonly database: ReadOnlyDatabase;
  readonly masterKeys: readonly MasterKey[];
  readonly resolve: Resolve;
  readonly clock: Clock;
}

export function publicUrlCheck({ publicUrl, ingestUrl, resolve }: AddressCheckDeps): Check {
  const urls: (readonly [variable: string, url: string])[] = [['SVC_PUBLIC_URL', publicUrl]];
  if (ingestUrl !== publicUrl) urls.push(['SVC_INGEST_URL', ingestUrl]);
  return {
    name: 'public_url',
    needs: [],
    atWorst: 'WARN',
    within: 6 * SECOND,
    async run() {
      const ways = await Promise.all(urls.map(([variable, url]) => wayTo(variable, url, resolve)));
      const wrong = ways.filter(({ isPossible }) => !isPossible).map(({ said }) => said);
      return unlessWrong(wrong, ways.map(({ said }) => said).join(', '));
    },
  };
}

async function wayTo(variable: string, url: string, resolve: Resolve): Promise<Way> {
  const host = targetHost(new URL(url));
  if (isIP(host)) return { isPossible: true, said: `${host} is an address` };
  try {
    return { isPossible: true, said: `${host} is ${some(await resolve(host))}` };
  } catch (error) {
    return impossible(
      `${host} of ${variable} does not resolve here (${reasonOf(error)}): correct the variable or DNS, unless only others know the name.`,
    );
  }
}

/** One finding a Destination. */
export function destinationsCheck(deps: AddressCheckDeps): Check {
  const { database, masterKeys } = deps;
  return {
    name: 'destination',
    needs: ['database', 'schema', 'key_canary'],
    atWorst: 'WARN',
    within: 60 * SECOND,
    async run() {
      const { destinations, channels, policy, keyring } = await database.read(async (tx) => ({
        destinations: await readWebhookDestinations(tx),
        channels: await readMessengerDestinations(tx),
        policy: (await readOutboundPolicy(tx)).policy,
        keyring: await readKeyring(tx, masterKeys),
      }));
      if (destinations.length + channels.length === 0 || keyring === null) return ok('there is none');
      const look: Looking = { ...deps, keyring, policy: createAddressPolicy(policy) };
      const findings: Finding[] = channels.map((channel) => judgeChannel(channel, deps.clock));
      for (let from = 0; from < destinations.length; from += AT_ONCE) {
        const next = destinations.slice(from, from + AT_ONCE);
        findings.push(...(await Promise.all(next.map((destination) => judgeDestination(destination, look)))));
      }
      return findings;
    },
  };
}

/** A channel of a messenger: its Connection is checked by itself. */
function judgeChannel(channel: StoredDestination, clock: Clock): Finding {
  const { id, fields } = channel;
  const through = 'connection_id' in fields ? fields.connection_id : '';
  const finding = unlessWrong(troubles(channel, clock), `posts through the Connection ${through}`);
  return { ...finding, detail: `"${fields.name}": ${finding.detail}`, subject: id };
}

/** What the service recorded. */
function troubles(
  { health, templateError }: Pick<StoredDestination, 'health' | 'templateError'>,
  clock: Clock,
): string[] {
  const wrong: string[] = [];
  if (health.state === 'broken')
    wrong.push(
      `Broken for ${duration(clock.now() - health.since)}: ${health.reason}. It is probed every five minutes; what is to be sent there waits.`,
    );
  if (templateError !== null) wrong.push(`${templateError.error}: correct the template.`);
  return wrong;
}

/** One finding a Connection: nothing is sent, so what it answered last is what the service recorded. */
export function connectionsCheck(deps: AddressCheckDeps): Check {
  const { database, masterKeys } = deps;
  return {
    name: 'connection',
    needs: ['database', 'schema', 'key_canary'],
    atWorst: 'WARN',
    within: 60 * SECOND,
    async run() {
      const { connections, policy, keyring } = await database.read(async (tx) => ({
        connections: await readConnections(tx),
        policy: (await readOutboundPolicy(tx)).policy,
        keyring: await readKeyring(tx, masterKeys),
      }));
      if (connections.length === 0 || keyring === null) return ok('there is none');
      const look: Looking = { ...deps, keyring, policy: createAddressPolicy(policy) };
      const findings: Finding[] = [];
      for (let from = 0; from < connections.length; from += AT_ONCE) {
        const next = connections.slice(from, from + AT_ONCE);
        findings.push(...(await Promise.all(next.map((connection) => judgeConnection(connection, look)))));
      }
      return findings;
    },
  };
}

async function judgeConnection(
  { stored, way: sealed }: Awaited<ReturnType<typeof readConnections>>[number],
  look: Looking,
): Promise<Finding> {
  const { inbound, info, infoWrong, fields } = stored;
  const proxy = openedProxy(stored.id, sealed, look.keyring);
  const way = proxy
    ? await wayThere(new URL(sealed.address), proxy.route, look, (text) => text)
    : impossible('Its token or the password of its proxy cannot be opened: enter it again.');
  const wrong = way.isPossible ? [] : [way.said];
  if (infoWrong !== null) wrong.push(`Its Info is wrong at ${infoWrong}: tell whoever runs the bridge.`);
  else if (info === null) wrong.push('It was never reached: check it in the UI.');
  if (inbound.error !== null && inbound.since !== null)
    wrong.push(`No events for ${duration(look.clock.now() - inbound.since)}: ${inbound.error}.`);
  const finding = unlessWrong(wrong, way.said);
  return { ...finding, detail: `"${fields.name}": ${finding.detail}`, subject: stored.id };
}

/** Null when the token or the password of the proxy cannot be opened. */
function openedProxy(
  id: PublicId,
  { token, proxy, proxyPassword }: SealedWay,
  keyring: Keyring,
): { readonly route: ProxyRoute | null } | null {
  const opener = { keyring, log: silentLog };
  const password = proxyPassword && openSecret(opener, 'connection.proxy_password', id, proxyPassword);
  const isOpen = token !== null && openSecret(opener, 'connection.bridge_token', id, token) !== null;
  return isOpen && (proxyPassword === null || password !== null)
    ? { route: proxyRoute(proxy, password) }
    : null;
}

interface Looking {
  readonly publicUrl: string;
  readonly keyring: Keyring;
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  readonly clock: Clock;
}

/** Looks at the health that the service recorded, and at where the next request would go. */
async function judgeDestination(destination: WebhookDestination, look: Looking): Promise<Finding> {
  const { id, fields } = destination;
  const request = await whereTo(destination, look);
  const wrong = troubles(destination, look.clock);
  if (!request.isPossible) wrong.push(request.said);
  const finding = wrong.length > 0 ? warn(wrong.join(' ')) : ok(request.said);
  return { ...finding, detail: `"${fields.name}": ${finding.detail}`, subject: id };
}

interface Way {
  readonly isPossible: boolean;
  /** Without Secrets. */
  readonly said: string;
}

/** An event, or the create of an example. */
function requestOf(settings: WebhookDestination['settings'], { keyring, clock, publicUrl }: Looking) {
  const eventId = 'doctor';
  const now = clock.now();
  if ('events' in settings) {
    return buildWebhookRequest({ settings, keyring, eventId, body: Buffer.alloc(0), now });
  }
  const wanted: WantedRequest = {
    role: 'create',
    template: settings.template.create,
    subject: { kind: 'group', group: EXAMPLE_GROUP },
    telling: exampleTelling('create'),
    values: {},
    settings: { publicUrl, zone: 'UTC', now, lookup: () => '' },
  };
  return buildTemplateRequest(wanted, { sealed: settings, keyring, eventId, now });
}

async function whereTo({ settings }: WebhookDestination, look: Looking): Promise<Way> {
  const built = requestOf(settings, look);
  if (built.outcome === 'secret_unreadable')
    return impossible(
      built.keyId === null
        ? `Its ${built.field} was lost with its master key: enter it again.`
        : `Its ${built.field} was sealed with the key ${built.keyId} and cannot be opened: enter it again.`,
    );
  // The host of a URL is in small letters, whatever the Secret is that it came from.
  const mask = createMask(built.secrets.flatMap((secret) => [secret, secret.toLowerCase()]));
  if (built.outcome === 'template_error') return impossible(mask(`${built.error}: correct the template.`));
  return wayThere(built.url, built.proxy, look, mask);
}

/** Whether a URL may be called. */
async function wayThere(
  url: URL,
  proxy: ProxyRoute | null,
  { clock, policy, resolve }: Looking,
  mask: (text: string) => string,
): Promise<Way> {
  const host = targetHost(url);
  const judging = { clock, resolve, policy: () => policy };
  const deadline = clock.now() + CONNECT_TIMEOUT;
  try {
    if (proxy) {
      const seen = await judgeProxied(host, judging);
      const proxies = await permittedAddresses(proxy.host, deadline, judging, 'proxy');
      const unseen = seen === 'unverified' ? ', which alone can resolve it' : '';
      const said = `${host} may be called through the proxy ${some(proxies)}${unseen}`;
      return { isPossible: true, said: mask(said) };
    }
    const addresses = await permittedAddresses(host, deadline, judging);
    return { isPossible: true, said: mask(`${host} is ${some(addresses)}, which may be called`) };
  } catch (error) {
    return impossible(mask(`${host}: ${reasonOf(error)}. Correct its URL, DNS or the outbound policy.`));
  }
}

function impossible(said: string): Way {
  return { isPossible: false, said };
}
