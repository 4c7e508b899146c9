/** Enough of PromQL to see which series a query selects. */

export interface Selected {
  readonly metric: string;
  /** In its matchers. */
  readonly labels: readonly string[];
  /** The selector as written. */
  readonly text: string;
}

const SELECTOR = /\b(svc_\w+|process_\w+|nodejs_\w+|up)\b(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(?:=~|!~|!=|=)\s*"(?:[^"\\]|\\.)*"/g;
const GROUPING = /\b(?:by|on|group_left|without)\s*\(([^)]*)\)/g;

/** The selectors of a query, and the labels by which it groups, joins or keeps. */
export function selectedBy(query: string): { selections: Selected[]; grouping: string[] } {
  const selections = [...query.matchAll(SELECTOR)].map(([text, metric = '', matchers = '']) => ({
    text,
    metric,
    labels: [...matchers.matchAll(MATCHER)].map(([, label = '']) => label),
  }));
  const grouping = [...query.matchAll(GROUPING)]
    .flatMap(([, labels = '']) => labels.split(','))
    .map((label) => label.trim())
    .filter((label) => label !== '');
  return { selections, grouping };
}
