/** What the build puts into the search index and the browser reads from it: both have to treat words alike. */
import type { Options } from 'minisearch';

/** A part of a page, below one heading. */
export interface SearchEntry {
  /** Its address, with the anchor. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

export const SEARCH_OPTIONS: Options<SearchEntry> = {
  fields: ['page', 'heading', 'text'],
  storeFields: ['page', 'heading'],
  searchOptions: {
    boost: { page: 4, heading: 3 },
    combineWith: 'AND',
    prefix: true,
    // A typing mistake in a word of some length.
    fuzzy: (term) => (term.length > 5 ? 0.15 : false),
  },
};
