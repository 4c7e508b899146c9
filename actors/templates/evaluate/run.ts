/**
 * Runs the nodes of a template. Blocks and calls are kept in a list of frames, so that no template, however nested, uses up
 * the stack of the process.
 */
import { codePoints } from '../../text.ts';
import { MOST_CHARACTERS, MOST_COUNTED, Refusal, TemplateFailure } from '../failure.ts';
import type { Body, Node, Nodes, Pipeline, RangeNode, Tree } from '../syntax/tree.ts';
import { printed } from '../text/verbs.ts';
import { isTrue, isTrusted, TemplateList, TemplateMap, type TemplateValue, typeName } from '../values.ts';
import type { Budget } from './budget.ts';
import type { Expressions, Surroundings } from './expressions.ts';

type BranchNode = Extract<Node, { branches: readonly unknown[] }>;

interface Frame extends Surroundings {
  readonly nodes: Nodes;
  /** Of the node that comes next. */
  place: number;
  /** What is still to be gone through, when the frame is a step of a range. */
  readonly range: Progress | null;
  /** Whether it is the body of a called template. */
  readonly isCall: boolean;
}

/** A range on its way. */
interface Progress {
  readonly node: RangeNode;
  readonly items: Items;
  /** Of the item that comes next. */
  position: number;
  /** Dot and variables around the range. */
  readonly around: Surroundings;
}

interface Items {
  readonly count: number;
  key(position: number): TemplateValue;
  item(position: number): TemplateValue;
}

export class Run {
  readonly #tree: Tree;
  readonly #expressions: Expressions;
  readonly #budget: Budget;
  readonly #frames: Frame[] = [];
  #depth = 0;
  #output = '';
  #characters = 0;

  constructor(tree: Tree, expressions: Expressions, budget: Budget) {
    this.#tree = tree;
    this.#expressions = expressions;
    this.#budget = budget;
  }

  /** The whole output. @throws {TemplateFailure} */
  output(data: TemplateValue): string {
    this.#enterBody(this.#tree.body, data, false);
    for (let frame = this.#frames.at(-1); frame; frame = this.#frames.at(-1)) {
      const node = frame.nodes[frame.place++];
      const at = node?.at ?? frame.range?.node.at ?? 0;
      try {
        if (node) this.#step(node, frame);
        else this.#leave(frame);
      } catch (error) {
        throw error instanceof Refusal ? new TemplateFailure(error.message, at) : error;
      }
    }
    return this.#output;
  }

  #step(node: Node, frame: Frame): void {
    this.#budget.spend(1);
    if (node.kind === 'text') this.#write(node.text);
    else if (node.kind === 'action') this.#print(node.pipeline, frame);
    else if (node.kind === 'range') this.#range(node, frame);
    else if (node.kind === 'template') this.#callTemplate(node.name, node.pipeline, frame);
    else if (node.kind === 'if' || node.kind === 'with') this.#branch(node, frame);
    else this.#jump(node.kind);
  }

  #write(text: string): void {
    this.#characters += text.length > 100 ? codePoints(text) : text.length;
    this.#output += text;
    if (this.#characters > MOST_CHARACTERS) throw outputTooLong();
  }

  #print(pipeline: Pipeline, frame: Frame): void {
    const value = this.#expressions.pipeline(pipeline, frame);
    if (pipeline.slot === null) this.#write(this.#printed(value));
  }

  #printed(value: TemplateValue): string {
    if (value === null) return this.#expressions.escape('<no value>');
    try {
      const text = printed(this.#expressions.shown(value));
      return isTrusted(value) ? text : this.#expressions.escape(text);
    } catch (error) {
      // A list or map that is too long to be printed.
      throw error instanceof Refusal ? outputTooLong() : error;
    }
  }

  #branch({ kind, branches, otherwise }: BranchNode, frame: Frame): void {
    let [nodes, dot] = [otherwise, frame.dot];
    for (const branch of branches) {
      const value = this.#expressions.pipeline(branch.pipeline, frame);
      if (!isTrue(value)) continue;
      [nodes, dot] = [branch.nodes, kind === 'with' ? value : frame.dot];
      break;
    }
    this.#enter(nodes, dot, frame.slots);
  }

  #range(node: RangeNode, frame: Frame): void {
    const value = this.#expressions.pipeline(node.pipeline, frame);
    const items = itemsOf(value, node);
    for (const slot of [node.index, node.element]) if (slot !== null) frame.slots[slot] = value;
    if (items.count === 0) this.#enter(node.otherwise, frame.dot, frame.slots);
    else this.#advance({ node, items, position: 0, around: frame });
  }

  /** Begins the next step of a range; the step before has left. */
  #advance(range: Progress): void {
    const { node, items, position, around } = range;
    if (position >= items.count) return;
    this.#budget.visit();
    range.position++;
    const item = items.item(position);
    if (node.index !== null) around.slots[node.index] = items.key(position);
    if (node.element !== null) around.slots[node.element] = item;
    const frame = { nodes: node.nodes, place: 0, dot: item, slots: around.slots, range, isCall: false };
    this.#frames.push(frame);
  }

  #callTemplate(name: string, pipeline: Pipeline | null, frame: Frame): void {
    const value = pipeline ? this.#expressions.pipeline(pipeline, frame) : null;
    this.#budget.call(this.#depth + 1);
    const body = this.#tree.definitions.get(name);
    if (body) this.#enterBody(body, value, true);
  }

  #enterBody({ nodes, slots }: Body, data: TemplateValue, isCall: boolean): void {
    if (isCall) this.#depth++;
    const variables = new Array<TemplateValue>(slots).fill(null);
    variables[0] = data;
    this.#frames.push({ nodes, place: 0, dot: data, slots: variables, range: null, isCall });
  }

  #enter(nodes: Nodes, dot: TemplateValue, slots: TemplateValue[]): void {
    this.#frames.push({ nodes, place: 0, dot, slots, range: null, isCall: false });
  }

  #leave(frame: Frame): void {
    this.#frames.pop();
    if (frame.isCall) this.#depth--;
    if (frame.range) this.#advance(frame.range);
  }

  /** Leaves what is open inside the innermost range, and with `break` the range, too. */
  #jump(kind: 'break' | 'continue'): void {
    let frame = this.#frames.pop();
    while (frame && !frame.range) frame = this.#frames.pop();
    if (kind === 'continue' && frame?.range) this.#advance(frame.range);
  }
}

function outputTooLong(): Refusal {
  return new Refusal(`output is longer than ${MOST_CHARACTERS} characters`, 'action');
}

/** @throws {TemplateFailure} for what cannot be gone through */
function itemsOf(value: TemplateValue, { pipeline: { at }, index }: RangeNode): Items {
  if (value === null) return { count: 0, key: () => null, item: () => null };
  if (value instanceof TemplateList) {
    const { items } = value;
    return { count: items.length, key: BigInt, item: (position) => items[position] ?? null };
  }
  if (value instanceof TemplateMap) return entriesOf(value);
  if (typeof value !== 'bigint') throw new TemplateFailure(`cannot range over ${typeName(value)}`, at);
  if (index !== null) throw new TemplateFailure('cannot range over int with two variables', at);
  if (value > BigInt(MOST_COUNTED)) throw new TemplateFailure(`more than ${MOST_COUNTED} items`, at);
  return { count: Math.max(Number(value), 0), key: BigInt, item: BigInt };
}

function entriesOf(map: TemplateMap): Items {
  const { keys } = map;
  return {
    count: keys.length,
    key: (position) => map.keyValue(keys[position] ?? ''),
    item: (position) => map.get(keys[position] ?? '') ?? null,
  };
}
