/** JSONPath as a tree (RFC 9535). */

export interface Path {
  readonly segments: readonly Segment[];
}

export interface Segment {
  /** `..`: of the node and of everything below it. */
  readonly isDescendant: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice';
      readonly start: number | null;
      readonly end: number | null;
      readonly step: number;
    }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'filter'; readonly condition: Condition };

/** Of a filter, for one node. */
export type Condition =
  | { readonly kind: 'any' | 'all'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | {
      readonly kind: 'compare';
      readonly operator: Operator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: 'exists'; readonly query: Query }
  | {
      readonly kind: 'matches';
      readonly isWhole: boolean;
      readonly text: Operand;
      readonly expression: Operand;
    };

export const OPERATORS = ['==', '!=', '<=', '>=', '<', '>'] as const;
export type Operator = (typeof OPERATORS)[number];

/** Something with one value or none. */
export type Operand =
  /** A JSON text. */
  | { readonly kind: 'literal'; readonly source: string }
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'length'; readonly of: Operand }
  | { readonly kind: 'count' | 'value'; readonly query: Query };

export interface Query extends Path {
  /** `$`: from the whole answer; otherwise `@`: from the node that the filter looks at. */
  readonly isOfRoot: boolean;
}

/** Whether a query can select at most one node: names and indexes only. */
export function isSingular({ segments }: Path): boolean {
  return segments.every(({ isDescendant, selectors: [first, ...more] }) => {
    const isOne = first?.kind === 'name' || first?.kind === 'index';
    return isOne && more.length === 0 && !isDescendant;
  });
}
