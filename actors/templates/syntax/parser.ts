/** Text and actions: blocks, ranges, definitions (templates §2). */
import { TemplateFailure } from '../failure.ts';
import { type Token, TokenStream, unexpected } from './lexer.ts';
import { PipelineParser, Scope } from './pipelines.ts';
import type { Body, Branch, Node, Pipeline, Tree } from './tree.ts';

/** Reads a source. @throws {TemplateFailure} at the first syntax error */
export function parseTree(source: string, isFunction: (name: string) => boolean): Tree {
  return new Parser(source, isFunction).tree();
}

/** The word that ended a list of nodes. */
interface Ending {
  readonly word: 'end' | 'else';
  readonly token: Token;
}

interface Call {
  readonly name: string;
  /** Of the name. */
  readonly at: number;
}

const BLOCKS = new Set(['if', 'with', 'range', 'define', 'block']);

class Parser {
  readonly #tokens: TokenStream;
  readonly #pipelines: PipelineParser;
  readonly #definitions = new Map<string, Body>();
  readonly #calls: Call[] = [];
  #ranges = 0;

  constructor(source: string, isFunction: (name: string) => boolean) {
    this.#tokens = new TokenStream(source);
    this.#pipelines = new PipelineParser(this.#tokens, isFunction, new Scope());
  }

  tree(): Tree {
    const { scope } = this.#pipelines;
    const { nodes, ending } = this.#nodes('top');
    if (ending) throw wrongEnding(ending);
    const lost = this.#calls.find(({ name }) => !this.#definitions.has(name));
    if (lost) throw new TemplateFailure(`template ${JSON.stringify(lost.name)} is not defined`, lost.at);
    const { unknown } = this.#pipelines;
    return { body: { nodes, slots: scope.slots }, definitions: this.#definitions, unknown };
  }

  /** Everything up to `end`, `else` or the end of the source. */
  #nodes(place: 'top' | 'inside'): { nodes: Node[]; ending: Ending | null } {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.#tokens.next();
      if (token.kind === 'end') return { nodes, ending: null };
      if (token.kind === 'text') {
        nodes.push(token);
        continue;
      }
      const word = this.#tokens.peekSolid();
      if (word.kind === 'word' && (word.text === 'end' || word.text === 'else')) {
        this.#tokens.next();
        return { nodes, ending: { word: word.text, token: word } };
      }
      const node = this.#action(token.at, word, place);
      if (node) nodes.push(node);
    }
  }

  /** The action that opens at an offset; null when it leaves nothing behind. */
  #action(at: number, token: Token, place: 'top' | 'inside'): Node | null {
    const word = token.kind === 'word' ? token.text : '';
    if (BLOCKS.has(word)) return this.#block(at, word, place);
    if (word === 'template') return this.#templateCall(at);
    if (word === 'break' || word === 'continue') return this.#jump(at, word);
    return { kind: 'action', pipeline: this.#pipelines.pipeline('close'), at };
  }

  #block(at: number, word: string, place: 'top' | 'inside'): Node | null {
    this.#tokens.nextSolid();
    if (word === 'define' && place !== 'top') {
      throw new TemplateFailure('{{define}} must be at top level', at);
    }
    this.#pipelines.enter(at);
    const node = this.#blockNode(at, word);
    this.#pipelines.leave();
    return node;
  }

  #blockNode(at: number, word: string): Node | null {
    if (word === 'define') return this.#define(at);
    if (word === 'block') return this.#blockCall(at);
    const { scope } = this.#pipelines;
    const mark = scope.mark();
    const node = word === 'range' ? this.#range(at) : this.#branches(at, word === 'if' ? 'if' : 'with');
    scope.release(mark);
    return node;
  }

  #branches(at: number, kind: 'if' | 'with'): Node {
    const branches: Branch[] = [];
    for (;;) {
      const pipeline = this.#pipelines.pipeline('close');
      const { nodes, ending } = this.#inside(at, kind);
      branches.push({ pipeline, nodes });
      if (ending.word === 'end') return { kind, branches, otherwise: [], at };
      const next = this.#tokens.peekSolid();
      if (next.kind !== 'word' || next.text !== kind) break;
      this.#tokens.next();
    }
    return { kind, branches, otherwise: this.#otherwise(at, kind), at };
  }

  #range(at: number): Node {
    const { variables, pipeline } = this.#pipelines.rangeHead();
    const [first = null, second = null] = variables;
    const [index, element] = second === null ? [null, first] : [first, second];
    this.#ranges++;
    const { nodes, ending } = this.#inside(at, 'range');
    this.#ranges--;
    const otherwise = ending.word === 'else' ? this.#otherwise(at, 'range') : [];
    return { kind: 'range', pipeline, index, element, nodes, otherwise, at };
  }

  /** The nodes of one branch. What they declare ends with them. */
  #inside(at: number, kind: string): { nodes: Node[]; ending: Ending } {
    const { scope } = this.#pipelines;
    const mark = scope.mark();
    const { nodes, ending } = this.#nodes('inside');
    scope.release(mark);
    if (!ending) throw new TemplateFailure(`missing {{end}} for {{${kind}}}`, at);
    if (ending.word === 'end') this.#tokens.close();
    return { nodes, ending };
  }

  /** The nodes behind `else`, whose word was taken. */
  #otherwise(at: number, kind: string): Node[] {
    this.#tokens.close();
    const { nodes, ending } = this.#inside(at, kind);
    if (ending.word === 'else') throw wrongEnding(ending);
    return nodes;
  }

  #jump(at: number, kind: 'break' | 'continue'): Node {
    if (this.#ranges === 0) throw new TemplateFailure(`{{${kind}}} outside {{range}}`, at);
    this.#tokens.nextSolid();
    this.#tokens.close();
    return { kind, at };
  }

  #define(at: number): null {
    const name = this.#name();
    this.#tokens.close();
    this.#separate(at, 'define', name);
    return null;
  }

  #blockCall(at: number): Node {
    const name = this.#name();
    const pipeline = this.#pipelines.pipeline('close');
    this.#separate(at, 'block', name);
    return { kind: 'template', name: name.name, pipeline, at };
  }

  /** A template of its own, without the variables and ranges around it. */
  #separate(at: number, kind: string, { name, at: nameAt }: Call): void {
    const [outer, ranges] = [this.#pipelines.scope, this.#ranges];
    const scope = new Scope();
    [this.#pipelines.scope, this.#ranges] = [scope, 0];
    const { nodes, ending } = this.#inside(at, kind);
    [this.#pipelines.scope, this.#ranges] = [outer, ranges];
    if (ending.word === 'else') throw wrongEnding(ending);
    if (this.#definitions.has(name)) {
      throw new TemplateFailure(`template ${JSON.stringify(name)} is defined twice`, nameAt);
    }
    this.#definitions.set(name, { nodes, slots: scope.slots });
  }

  #templateCall(at: number): Node {
    this.#tokens.nextSolid();
    const name = this.#name();
    this.#calls.push(name);
    return { kind: 'template', name: name.name, pipeline: this.#argument(), at };
  }

  #argument(): Pipeline | null {
    if (this.#tokens.peekSolid().kind !== 'close') return this.#pipelines.pipeline('close');
    this.#tokens.next();
    return null;
  }

  #name(): Call {
    const token = this.#tokens.nextSolid();
    if (token.kind !== 'string') throw unexpected(token);
    return { name: token.value, at: token.at };
  }
}

function wrongEnding({ word, token }: Ending): TemplateFailure {
  return new TemplateFailure(`unexpected {{${word}}}`, token.at);
}
