/** Shapes that many answers share, those of proxies included. */
import * as v from 'valibot';
import type { ProxyFields } from '../../actors/proxy-config.ts';
import { formatInstantOrNull, type Micros } from '../../runtime/clock.ts';
import type { ProxyType as ProxyTypeName } from '../../runtime/outbound/proxy.ts';
import * as d from './described.ts';
import { DestinationType, MatcherOp } from './words.ts';

export const EntityRef = d.named(
  'EntityRef',
  v.object({ id: d.ANY_ID, name: d.text('Its name now, or its last one.') }),
  'A resource by id and name. Something deleted keeps its last name.',
);

export const AlertGroupRef = d.named(
  'AlertGroupRef',
  v.object({
    id: d.id('AG'),
    number: d.count('The number that people know it by, `#N`.'),
  }),
  'An Alert Group by id and number.',
);
export type AlertGroupRef = v.InferOutput<typeof AlertGroupRef>;

export const UserRef = d.named(
  'UserRef',
  v.object({
    id: d.id('SR'),
    name: d.text('Name now; `deleted-user-<id>` once deleted.'),
    login: d.text('Login; `deleted-user-<id>` once deleted.'),
    deactivated: d.flag('Whether the user was deleted.'),
  }),
  'A user.',
);

export const ActorRef = d.named(
  'ActorRef',
  v.object({
    kind: d.described(
      v.picklist(['user', 'service_account']),
      '`user`: a person; `service_account`: a program.',
    ),
    id: d.anyId('Id of the user (`SR`) or of the Service account (`SA`).'),
    name: d.text('Name now, or the last one.'),
    login: d.optionalText('Login of a user. Absent for a Service account.'),
    deactivated: d.flag('Whether it was deleted.'),
  }),
  'A user or a Service account.',
);

export const SecretStatus = d.named(
  'SecretStatus',
  v.object({
    set: d.flag('Whether there is one.'),
    updated_at: v.nullable(d.time('When it was last set; null while there is none.')),
  }),
  'Whether a secret is stored. Secrets themselves are never answered.',
);

export const MatcherShape = d.named(
  'Matcher',
  v.object({
    label: d.text('Name of the label.'),
    op: MatcherOp,
    value: d.text('What the value is compared with. Expressions are RE2 and match it whole.'),
  }),
  'A condition on one label.',
);

export const Labels = d.named('Labels', v.record(v.string(), v.string()), 'Labels or annotations by name.');

export const HealthShape = d.named(
  'DestinationHealth',
  v.object({
    state: d.described(
      v.picklist(['healthy', 'broken']),
      '`healthy`: it takes what is sent; `broken`: it refused what was sent, and deliveries wait until a probe, a test or a check passes.',
    ),
    since: v.nullable(d.time('Since when it is Broken; null while healthy.')),
    reason: d.textOrNull('Why it is Broken, masked; null while healthy.'),
  }),
  'Whether a Destination takes what is sent.',
);

export const DestinationRef = d.named(
  'DestinationRef',
  v.object({
    id: d.id('DS'),
    name: d.text('Its name.'),
    type: DestinationType,
    health: HealthShape,
  }),
  'A Destination and its health.',
);

const NextCursor = d.named(
  'NextCursor',
  v.nullable(v.string()),
  'Pass it as `cursor` to read on; null on the last page.',
);

/** `{items, next_cursor}` of a paged list. */
export function pageOf<Item extends v.GenericSchema>(item: Item) {
  return v.object({
    items: d.described(v.array(item), 'The page.'),
    next_cursor: NextCursor,
  });
}

/** What a check or a test answers of its requests. */
export const request_log_run = d.named(
  'RequestLogRun',
  v.nullable(d.id('RN')),
  'Its run in the Request log; null when nothing was sent.',
);

/** `{items}` of a list that is not paged. */
export function itemsOf<Item extends v.GenericSchema>(item: Item) {
  return v.object({ items: d.described(v.array(item), 'All items.') });
}

const ProxyType = d.words(
  'ProxyType',
  { http: 'HTTP.', https: 'HTTP over TLS.', socks5: 'SOCKS 5.' } satisfies Record<ProxyTypeName, string>,
  'The protocol of a proxy.',
);

/** Proxies as they arrive and as they are answered (api §2: ProxyConfigInput, ProxyConfig). */
export const ProxyConfigInput = d.named(
  'ProxyConfigInput',
  v.object({
    enabled: d.flag('Whether requests go through it.'),
    type: d.described(v.optional(ProxyType), 'Needed while enabled.'),
    address: d.optionalText('`host:port`. Needed while enabled.'),
    username: d.optionalTextOrNull('User name, up to 255 characters; null for none.'),
    password: d.optionalTextOrNull('Password, up to 255 characters. Left out it stays, null clears it.'),
  }),
  'A proxy for requests, as it is saved.',
);

export const ProxyConfigShape = d.named(
  'ProxyConfig',
  v.object({
    enabled: d.flag('Whether requests go through it.'),
    /** Absent, like the address, when it was never set. */
    type: d.described(v.optional(ProxyType), 'Absent until one was set.'),
    address: d.optionalText('`host:port`. Absent until one was set.'),
    username: d.textOrNull('User name at the proxy; null for none.'),
    password_status: SecretStatus,
  }),
  'A proxy for requests.',
);

/** @param passwordAt when the stored password was set; null without one */
export function proxyBody({ enabled, type, address, username }: ProxyFields, passwordAt: Micros | null) {
  return {
    enabled,
    ...(type === null ? {} : { type }),
    ...(address === null ? {} : { address }),
    username,
    password_status: { set: passwordAt !== null, updated_at: formatInstantOrNull(passwordAt) },
  };
}
