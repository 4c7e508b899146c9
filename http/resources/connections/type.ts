/** What a type of Connection says of itself to the API, and what all types have in common (api §14). */
import * as v from 'valibot';
import type {
  ConnectionFields,
  ConnectionInfo,
  ConnectionSecrets,
  StoredConnection,
} from '../../../actors/connection/ports.ts';
import type { Limiter } from '../../../actors/destination/limiter.ts';
import type { ProxyFields } from '../../../actors/proxy-config.ts';
import { formatInstantOrNull } from '../../../runtime/clock.ts';
import type { FieldError } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { LimiterShape, limiterInput, name, publicId } from '../../schema/fields.ts';
import { ProxyConfigInput, ProxyConfigShape, SecretStatus } from '../../schema/shapes.ts';
import { ConnectionWarningKind } from '../../schema/words.ts';

type Type = ConnectionFields['type'];
type FieldsOf<Of extends Type> = Extract<ConnectionFields, { readonly type: Of }>;
export type StoredOf<Of extends Type> = Extract<StoredConnection, { readonly fields: FieldsOf<Of> }>;
type InfoOf<Of extends Type> = NonNullable<StoredOf<Of>['info']>;

/**
 * One type of Connection: a module below `types/` and a line of `shapes.ts`. What is the same for all is not asked of
 * it: names, limiters, proxies, the form of addresses and tokens, and that another address needs the token again.
 */
export interface ConnectionType<
  Of extends Type = Type,
  Input extends CommonInput = CommonInput,
  Checked extends CommonCheckInput = CommonCheckInput,
> {
  readonly type: Of;
  /** As sentences say it: `bridge`. */
  readonly noun: string;
  readonly input: v.GenericSchema<unknown, Input>;
  readonly shape: v.GenericSchema;
  readonly checkInput: v.GenericSchema<unknown, Checked>;
  /** Steps of its check, in order, with their meaning. */
  readonly checkSteps: Readonly<Record<string, string>>;
  /** Its field for the address. */
  readonly addressField: string;
  readonly limiter: Limiter;
  /** The address as it was typed. @param stored what is kept where none was */
  addressIn(body: Input | Checked, stored: string | null): string;
  addressOf(fields: FieldsOf<Of>): string;
  /** What is wrong with its own fields, address and token aside. */
  errors?(body: Input, current: StoredOf<Of> | null): readonly FieldError[];
  fields(body: Input, common: CommonFields, current: StoredOf<Of> | null): FieldsOf<Of>;
  pushSecret?(body: Input): ConnectionSecrets['pushSecret'];
  /** Its own fields of an answer. */
  body(connection: StoredOf<Of>): object;
  botName(info: InfoOf<Of> | null): string | null;
  /** What a check answers as `info`. */
  infoBody?(info: InfoOf<Of> | null): object | null;
  /** Beyond those of every type, see {@link warningsOf}. */
  warnings?(known: Known<InfoOf<Of>>): readonly Warning[];
  /** Further ones of what is stored. */
  savedWarnings?(connection: StoredOf<Of>, own: OwnAddresses): readonly Warning[];
}

/** Of the service: where the other side calls in for the Connection, and where people open it. */
export type OwnAddresses = Readonly<Record<'callbackUrl' | 'publicUrl', string>>;

/** As stored, before its own fields are added. */
export interface CommonFields {
  readonly name: string;
  /** As {@link ConnectionType.addressIn} said, normalised. */
  readonly address: string;
  readonly limiter: Limiter;
  readonly proxy: ProxyFields;
}

/** What warnings are made of, of a saved Connection or of a check. */
export interface Known<Info extends ConnectionInfo> {
  readonly address: string;
  /** Null: it is not known yet, or the type has one way only. */
  readonly mode: 'poll' | 'push' | null;
  readonly info: Info | null;
  /** Pointer into the Info. */
  readonly wrong: string | null;
  readonly tokenless: boolean;
}

export const commonInput = {
  name,
  limiter: limiterInput,
  proxy: ProxyConfigInput,
};
const CommonInput = v.object({ ...commonInput, bot_token: v.optional(v.nullable(v.string())) });
export type CommonInput = v.InferOutput<typeof CommonInput> & { readonly type: string };

export const CommonCheckInput = d.named(
  'ConnectionCheckInputBase',
  v.object({
    bot_token: d.optionalTextOrNull(
      'Null or left out: the stored one of `connection_id`, for its stored address only.',
    ),
    proxy: d.described(
      ProxyConfigInput,
      'With `connection_id`, a password that is left out is the stored one.',
    ),
    connection_id: d.described(
      v.optional(v.nullable(publicId)),
      'Id of the saved Connection; null or left out for a new one.',
    ),
  }),
  'What checks of every type take.',
);
export type CommonCheckInput = v.InferOutput<typeof CommonCheckInput> & { readonly type: string };

export const WarningShape = d.named(
  'ConnectionWarning',
  v.object({
    kind: ConnectionWarningKind,
    field: d.textOrNull(
      'JSON pointer to the field, or into `info` with `bridge_info_invalid`; null for the whole.',
    ),
  }),
  'Something about a Connection that is not as it should be.',
);
export type Warning = v.InferOutput<typeof WarningShape>;

/** Of a saved Connection or of a check; without those that only a saved one has (api §14). */
export function warningsOf(type: ConnectionType, known: Known<InfoOf<Type>>): readonly Warning[] {
  const own = type.warnings?.(known) ?? [];
  if (!known.address.startsWith('http:')) return own;
  return [{ kind: 'base_url_uses_http', field: `/${type.addressField}` }, ...own];
}

export const CommonShape = d.named(
  'ConnectionBase',
  v.object({
    id: d.id('CN'),
    name: d.text('Its name, unique.'),
    limiter: LimiterShape,
    proxy: ProxyConfigShape,
    bot_token_status: SecretStatus,
    bot_username: d.textOrNull('Name of the bot as it was last seen; null before that.'),
    destination_count: d.count('Destinations that use it.'),
    account_link_count: d.count('Account links through it.'),
    callback_url: d.url('Where the messenger or bridge sends events.'),
    inbound: d.described(
      v.object({
        last_at: v.nullable(d.time('When the last event arrived; null before the first.')),
        error: d.textOrNull('Why none can be received, masked; null while they can.'),
        since: v.nullable(d.time('Since when that is so; null without an error.')),
      }),
      'Whether events arrive.',
    ),
    warnings: d.described(v.array(WarningShape), 'What is not as it should be.'),
    created_at: d.CREATED_AT,
    etag: d.VERSION,
  }),
  'What Connections of every type answer.',
);

export function secretStatus(at: number | null) {
  return { set: at !== null, updated_at: formatInstantOrNull(at) };
}
