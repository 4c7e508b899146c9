/** Saved views of the list of Alert Groups: what they hold, and what is stored of them (ui §3). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';

export interface SavedViewFields {
  readonly name: string;
  /** The query string of the list. */
  readonly query: string;
  readonly shared: boolean;
}

export interface StoredSavedView {
  readonly id: PublicId;
  readonly version: number;
  readonly ownerId: PublicId;
  readonly fields: SavedViewFields;
  /** Whether the list of the person who asks begins with it. */
  readonly isDefault: boolean;
  readonly createdAt: Micros;
}

/** The most views of one person, shared ones included (ui §3). */
export const MOST_OWN_VIEWS = 50;
/** The most shared views of an installation. */
export const MOST_SHARED_VIEWS = 100;

export type SavedViewDecision<Refusal> = { readonly save: SavedViewFields } | { readonly refuse: Refusal };

/** Implemented in storage/alert-groups/saved-views.ts. A person sees their own views and shared ones, and no others. */
export interface SavedViewStore {
  /** Oldest first. `after` is the creation and id of the last one seen. */
  page(
    userId: PublicId,
    after: readonly [number, string] | null,
    limit: number,
  ): Promise<{ readonly items: readonly StoredSavedView[]; readonly more: boolean }>;
  read(userId: PublicId, id: PublicId): Promise<StoredSavedView | null>;
  create(userId: PublicId, fields: SavedViewFields, author: Authorship): Promise<SavedViewSaving>;
  /** `decide` sees the view under a lock; saving what is already there changes nothing. */
  update<Refusal>(
    userId: PublicId,
    id: PublicId,
    decide: (current: StoredSavedView) => SavedViewDecision<Refusal>,
    author: Authorship,
  ): Promise<SavedViewSaving | { readonly outcome: 'refused'; readonly refusal: Refusal }>;
  /** @param decide gives null to delete it */
  remove<Refusal>(
    userId: PublicId,
    id: PublicId,
    decide: (current: StoredSavedView) => Refusal | null,
    author: Authorship,
  ): Promise<Refusal | 'removed' | 'unknown'>;
  /** Null: the list begins with no view. @returns whether the person can see that view */
  setDefault(userId: PublicId, id: PublicId | null): Promise<boolean>;
}

export type SavedViewSaving =
  | { readonly outcome: 'saved'; readonly view: StoredSavedView }
  | { readonly outcome: 'unknown' | 'name_taken' | 'too_many' | 'too_many_shared' };
