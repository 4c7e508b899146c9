/** What Link rules and Lookup tables need from storage. Implemented in storage/configuration/link-rules.ts and storage/configuration/lookup-tables.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { Matcher } from '../directory.ts';

export type LinkRuleScope =
  | { readonly type: 'alert_group'; readonly label: null }
  | { readonly type: 'label_value'; readonly label: string };

/** What people write, in the API's own keys. */
export interface LinkRuleFields {
  readonly name: string;
  readonly matchers: readonly Matcher[];
  readonly scope: LinkRuleScope;
  readonly url_template: string;
}

export interface StoredLinkRule {
  readonly id: PublicId;
  readonly version: number;
  readonly builtin: boolean;
  readonly fields: LinkRuleFields;
  readonly createdAt: Micros;
}

export interface LinkRuleStore {
  /** Oldest first. `after` is the creation and id of the last one seen. */
  page(
    after: readonly [number, string] | null,
    limit: number,
  ): Promise<{ readonly items: readonly StoredLinkRule[]; readonly more: boolean }>;
  read(id: PublicId): Promise<StoredLinkRule | null>;
  /** @param reads names of the Lookup tables that the template reads as constants */
  create(fields: LinkRuleFields, reads: readonly string[], author: Authorship): Promise<LinkRuleSaving>;
  /** `isCurrent` judges the version under a lock; saving what is already there changes nothing. */
  update(
    id: PublicId,
    isCurrent: (version: number) => boolean,
    fields: LinkRuleFields,
    reads: readonly string[],
    author: Authorship,
  ): Promise<LinkRuleUpdate>;
  remove(id: PublicId, isCurrent: IsCurrent, author: Authorship): Promise<LinkRuleRemoval>;
}

/** Judges a version; null when any will do. */
export type IsCurrent = ((version: number) => boolean) | null;

export type LinkRuleSaving =
  | { readonly outcome: 'saved'; readonly rule: StoredLinkRule }
  /** The template reads a table that does not exist. */
  | { readonly outcome: 'no_table'; readonly table: string }
  | { readonly outcome: 'name_taken' | 'too_many' };

export type LinkRuleUpdate =
  | LinkRuleSaving
  | { readonly outcome: 'unchanged'; readonly rule: StoredLinkRule }
  | { readonly outcome: 'unknown' | 'stale' };

export type LinkRuleRemoval = 'removed' | 'unknown' | 'builtin' | 'stale';

/** The most rules an installation has (messages §9.2). */
export const MOST_LINK_RULES = 200;

/** A row of a table: its key, then its cells in the order of the columns. */
export type LookupRow = readonly [key: string, ...cells: string[]];

export interface LookupTableFields {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly string[];
  /** In the order of their keys. */
  readonly rows: readonly LookupRow[];
}

export interface StoredLookupTable {
  readonly id: PublicId;
  readonly version: number;
  readonly fields: LookupTableFields;
  readonly createdAt: Micros;
}

/** A Link rule that reads a table. */
export interface LinkRuleRef {
  readonly id: PublicId;
  readonly name: string;
}

export type LookupTableDecision<Refusal> =
  | { readonly save: LookupTableFields }
  | { readonly refuse: Refusal };

export interface LookupTableStore {
  /** By name. `after` is the name of the last one seen. */
  page(
    after: string | null,
    limit: number,
  ): Promise<{ readonly items: readonly StoredLookupTable[]; readonly more: boolean }>;
  read(id: PublicId): Promise<StoredLookupTable | null>;
  create(fields: LookupTableFields, author: Authorship): Promise<StoredLookupTable | 'name_taken'>;
  /** `decide` sees the table under a lock; saving what is already there changes nothing. */
  update<Refusal>(
    id: PublicId,
    decide: (current: StoredLookupTable) => LookupTableDecision<Refusal>,
    author: Authorship,
  ): Promise<LookupTableUpdate<Refusal>>;
  remove(id: PublicId, isCurrent: IsCurrent, author: Authorship): Promise<LookupTableRemoval>;
}

export type LookupTableUpdate<Refusal> =
  | { readonly outcome: 'saved' | 'unchanged'; readonly table: StoredLookupTable }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  /** It has another name now, and these rules read the old one; oldest first. */
  | { readonly outcome: 'in_use'; readonly linkRules: readonly LinkRuleRef[] }
  | { readonly outcome: 'unknown' | 'name_taken' };

export type LookupTableRemoval =
  | { readonly outcome: 'removed' | 'unknown' | 'stale' }
  | { readonly outcome: 'in_use'; readonly linkRules: readonly LinkRuleRef[] };
