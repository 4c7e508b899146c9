/**
 * What the API description says of a schema, kept beside the schema: names of components, sentences, examples, formats.
 * None of it changes what a schema accepts; `openapi/schema.ts` reads it back.
 */
import * as v from 'valibot';

type Json = Readonly<Record<string, unknown>>;

/** The metadata of a documented schema. */
export interface Documentation {
  /** Name below `components.schemas`; every use of the schema becomes a `$ref`. */
  readonly component?: string;
  /** A named schema all of whose fields this one has, too; the description refers to it and does not repeat them. */
  readonly base?: Schema;
  /** Replaces the derived JSON Schema, for query texts that are read as numbers or booleans. */
  readonly sentAs?: Json;
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly examples?: readonly unknown[];
  readonly enumDescriptions?: Readonly<Record<string, string>>;
}

/** The schema with a sentence about it: units, rules, when it is null. */
export function described<S extends Schema>(
  schema: S,
  description: string,
  ...examples: readonly unknown[]
): S {
  return documented(schema, { description, ...(examples.length > 0 ? { examples } : {}) });
}

/** The schema as a component of the description. Two different schemas of one name are a defect that a test finds. */
export function named<S extends Schema>(
  component: string,
  schema: S,
  description: string,
  ...examples: readonly unknown[]
): S {
  return documented(schema, { component, description, ...(examples.length > 0 ? { examples } : {}) });
}

/** A component that has every field of a named `base`, exactly as it is there, and others. */
export function extending<S extends Schema>(
  base: Schema,
  component: string,
  schema: S,
  description: string,
): S {
  return documented(schema, { component, base, description });
}

/** The schema, described as another JSON type than that of its text in a query. */
export function sentAs<S extends Schema>(schema: S, json: Json): S {
  return documented(schema, { sentAs: json });
}

/** One of some words, each with its meaning. */
export function words<const Meanings extends Readonly<Record<string, string>>>(
  component: string,
  meanings: Meanings,
  description: string,
) {
  const options = Object.keys(meanings) as (keyof Meanings & string)[];
  return documented(v.picklist(options), { component, description, enumDescriptions: meanings });
}

/** Types of ids by prefix, as the description calls them (api §1.4). */
const ID_NAMES = {
  AE: 'AuditEntryId',
  AG: 'AlertGroupId',
  AK: 'AccountLinkId',
  AR: 'AccountLinkRequestId',
  CN: 'ConnectionId',
  DS: 'DestinationId',
  KR: 'LinkRuleId',
  NE: 'NoteId',
  NK: 'IntegrationTokenId',
  NT: 'IntegrationId',
  PT: 'PersonalAccessTokenId',
  RG: 'OrganizationId',
  RN: 'RequestRunId',
  RQ: 'RequestRecordId',
  RT: 'RouteId',
  SA: 'ServiceAccountId',
  SN: 'SessionId',
  SR: 'UserId',
  SS: 'StoredSnapshotId',
  ST: 'ServiceAccountTokenId',
  TB: 'LookupTableId',
  VW: 'SavedViewId',
} as const;

type IdPrefix = keyof typeof ID_NAMES;

/** The id of a resource, as answers show it; its type says what it is the id of. */
export function id(prefix: IdPrefix, description?: string) {
  return description === undefined ? typedId(prefix) : described(typedId(prefix), description);
}

/** The component of ids with a prefix; null for a prefix that the description does not know. */
export function idComponent(prefix: string) {
  return Object.hasOwn(ID_NAMES, prefix) ? typedId(prefix as IdPrefix) : null;
}

function typedId(prefix: IdPrefix) {
  return documented(v.string(), {
    component: ID_NAMES[prefix],
    description: `A PublicId: \`${prefix}…\`.`,
    pattern: `^${prefix}[0-9A-HJKMNP-TV-Z]{12}$`,
    examples: [`${prefix}9X2QF4H7NJC0`],
  });
}

/** The id of a resource of any type, as answers show it. */
export function anyId(description: string) {
  return described(ANY_ID, description);
}

/** An instant: RFC 3339 in UTC, at most six fraction digits. */
export function time(description: string) {
  return documented(v.string(), { description, format: 'date-time' });
}

/** An absolute URL. */
export function url(description: string) {
  return documented(v.string(), { description, format: 'uri' });
}

/** A whole number that is never negative. */
export function count(description: string) {
  return described(v.pipe(v.number(), v.integer(), v.minValue(0)), description);
}

/** Free text. */
export function text(description: string, ...examples: readonly string[]) {
  return described(v.string(), description, ...examples);
}

/** The version of a resource, in its body. */
export const VERSION = named('ResourceVersion', v.string(), 'Its version, as in the header `ETag`.');

/** When a resource was created. */
export const CREATED_AT = named('CreationTime', time('When it was created.'), 'When it was created.');

/** When a token was last used. */
export const LAST_USE = named(
  'LastUse',
  v.nullable(time('When it was last used, to the minute; null when never.')),
  'When it was last used, to the minute; null when never.',
);

/** Free text, or null. */
export function textOrNull(description: string) {
  return described(v.nullable(v.string()), description);
}

/** Free text that may be left out. */
export function optionalText(description: string) {
  return described(v.optional(v.string()), description);
}

/** Free text that may be null or left out. */
export function optionalTextOrNull(description: string) {
  return described(v.optional(v.nullable(v.string())), description);
}

export function flag(description: string) {
  return described(v.boolean(), description);
}

/** The schema with a format, a pattern or other facts of JSON Schema that no check of it says. */
export function documented<S extends Schema>(schema: S, about: Documentation): S {
  const metadata = v.metadata({ ...about });
  const items = pipeOf(schema);
  // What follows a transformation is not part of a request's schema, so the note is put before the first one.
  const at = items.findIndex((item) => item.kind === 'transformation');
  if (at < 0) return v.pipe(schema, metadata) as unknown as S;
  const [first, ...rest] = items.toSpliced(at, 0, metadata);
  return v.pipe(first as Schema, ...(rest as [])) as unknown as S;
}

type PipeItem = v.PipeItem<unknown, unknown, v.BaseIssue<unknown>>;

function pipeOf(schema: Schema): readonly PipeItem[] {
  if (!('pipe' in schema)) return [schema];
  const [first, ...rest] = schema.pipe as readonly [Schema, ...PipeItem[]];
  return [...('pipe' in first ? pipeOf(first) : [first]), ...rest];
}

/** The facts of an id of any type. */
export const PUBLIC_ID: Documentation = {
  component: 'PublicId',
  description:
    'The id of a resource: two letters for its type and 12 characters of Crockford base32. Answers are upper case. ' +
    'Requests may use any case, with `O` for `0` and `I` or `L` for `1`.',
  format: 'public-id',
  pattern: '^[A-HJKMNP-TV-Za-hjkmnp-tv-z]{1,2}[0-9A-TV-Za-tv-z]{12}$',
  examples: ['RT9X2QF4H7NJC0'],
};

/** An id of any type, as answers show it. */
export const ANY_ID = documented(v.string(), PUBLIC_ID);

// biome-ignore lint/suspicious/noExplicitAny: valibot's own way to say "some schema"
export type Schema = v.BaseSchema<any, any, any>;
