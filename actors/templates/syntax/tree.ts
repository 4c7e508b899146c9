/** A parsed template. Every `at` is an offset of the source. */
import type { TemplateValue } from '../values.ts';

export interface Tree {
  readonly body: Body;
  readonly definitions: ReadonlyMap<string, Body>;
  /** The first function that does not exist. */
  readonly unknown: { readonly name: string; readonly at: number } | null;
}

/** The nodes of a template, with the number of variables that it needs at once. */
export interface Body {
  readonly nodes: readonly Node[];
  readonly slots: number;
}

export type Node =
  | { readonly kind: 'text'; readonly text: string; readonly at: number }
  | { readonly kind: 'action'; readonly pipeline: Pipeline; readonly at: number }
  | {
      readonly kind: 'if' | 'with';
      readonly branches: readonly Branch[];
      readonly otherwise: Nodes;
      readonly at: number;
    }
  | RangeNode
  | { readonly kind: 'break' | 'continue'; readonly at: number }
  | {
      readonly kind: 'template';
      readonly name: string;
      readonly pipeline: Pipeline | null;
      readonly at: number;
    };

export type Nodes = readonly Node[];

export interface Branch {
  readonly pipeline: Pipeline;
  readonly nodes: Nodes;
}

export interface RangeNode {
  readonly kind: 'range';
  readonly pipeline: Pipeline;
  /** The slots of index and element; with one variable it gets the element. */
  readonly index: number | null;
  readonly element: number | null;
  readonly nodes: Nodes;
  readonly otherwise: Nodes;
  readonly at: number;
}

export interface Pipeline {
  /** The variable that gets the value; then nothing is printed. */
  readonly slot: number | null;
  readonly commands: readonly Command[];
  readonly at: number;
}

/** The first operand is called with the others when there are any, or when it is a function. */
export type Command = readonly [Operand, ...Operand[]];

export type Operand =
  | { readonly kind: 'constant'; readonly value: TemplateValue; readonly at: number }
  | { readonly kind: 'dot'; readonly at: number }
  | { readonly kind: 'variable'; readonly slot: number; readonly at: number }
  | { readonly kind: 'function'; readonly name: string; readonly at: number }
  | { readonly kind: 'group'; readonly pipeline: Pipeline; readonly at: number }
  | {
      readonly kind: 'chain';
      readonly base: Operand;
      readonly fields: readonly [Field, ...Field[]];
      readonly at: number;
    };

export interface Field {
  readonly name: string;
  /** Of the dot before the name. */
  readonly at: number;
}
