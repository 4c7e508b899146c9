/** Templates by the grammar of the language: most of them valid, all of them short. */
import { printfCall } from './generate-printf.ts';

export type Type = 'int' | 'float' | 'string' | 'bool' | 'list' | 'labels' | 'time' | 'any';

export interface Dice {
  /** From 0 up to `below`. */
  number(below: number): number;
  one<T>(choices: readonly [T, ...T[]]): T;
  chance(probability: number): boolean;
}

export interface Features {
  /** Go 1.22 and later. */
  readonly rangeOverInt: boolean;
  /** Go 1.23 and later. */
  readonly elseWith: boolean;
}

export function dice(random: () => number): Dice {
  const number = (below: number) => Math.floor(random() * below);
  return {
    number,
    one: (choices) => choices[number(choices.length)] ?? choices[0],
    chance: (probability) => random() < probability,
  };
}

interface Variable {
  readonly name: string;
  readonly type: Type;
}

type Make = (depth: number) => string;

const TEXTS = ['', ' ', 'text', '\n', ' \n\t', 'a }} b', '{ ', '-', '"quoted"'] as const;
const WORDS = ['"a"', '"été"', '`raw\\n`', '"x\\ty"', '"<b>&\'"', '""', '"\\u00e9\\x41"', '"%d"'] as const;
const INTS = ['0', '1', '2', '7', '-3', '0x1F', '017', '0b101', '1_000', "'a'", '4096'] as const;
const FLOATS = ['1.0', '2.5', '-0.5', '1e6', '1e21', '0.00001', '123456.0', '.5', '1e-7', '3.14159'] as const;
const LAYOUTS = [
  '"2006-01-02 15:04:05"',
  '"Mon _2 Jan 3:04PM"',
  '"06 1 2 .000 .999"',
  '"Monday, January"',
] as const;

export class Generator {
  readonly #dice: Dice;
  readonly #features: Features;
  #variables: Variable[] = [];
  #definitions: string[] = [];
  #ranges = 0;
  #dot: Type = 'any';
  #rootDot = true;

  constructor(source: Dice, features: Features) {
    this.#dice = source;
    this.#features = features;
  }

  template(): string {
    [this.#variables, this.#definitions, this.#ranges] = [[], [], 0];
    [this.#dot, this.#rootDot] = ['any', true];
    const definitions = Array.from({ length: this.#dice.number(3) }, (_, index) => this.#define(index));
    return definitions.join(this.#dice.one(['', '\n'])) + this.#nodes(3);
  }

  #define(index: number): string {
    const name = `t${index}`;
    const outer = { variables: this.#variables, ranges: this.#ranges, root: this.#rootDot };
    [this.#variables, this.#ranges, this.#rootDot] = [[], 0, false];
    const body = this.#nodes(1);
    [this.#variables, this.#ranges, this.#rootDot] = [outer.variables, outer.ranges, outer.root];
    this.#definitions.push(name);
    return `${this.#open()}define "${name}"${this.#close()}${body}${this.#end()}`;
  }

  #nodes(depth: number): string {
    const count = 1 + this.#dice.number(4);
    const mark = this.#variables.length;
    const nodes = Array.from({ length: count }, () => this.#node(depth)).join('');
    this.#variables = this.#variables.slice(0, mark);
    return nodes;
  }

  #node(depth: number): string {
    const roll = this.#dice.number(20);
    if (roll < 4) return this.#dice.one(TEXTS);
    if (roll < 10 || depth === 0) return `${this.#open()}${this.#pipeline(2)}${this.#close()}`;
    if (roll < 12) return this.#if(depth);
    if (roll < 14) return this.#range(depth);
    if (roll < 15) return this.#with(depth);
    if (roll < 17) return this.#declare();
    if (roll < 18) return this.#call();
    if (roll < 19 && this.#ranges > 0)
      return `${this.#open()}${this.#dice.one(['break', 'continue'])}${this.#close()}`;
    return this.#dice.one(['{{/* note */}}', '{{- /* note */ -}}', '{{- /* a\nb */}}']);
  }

  #open(): string {
    return this.#dice.one(['{{', '{{ ', '{{ ', '{{- ', '{{-\n']);
  }

  #close(): string {
    return this.#dice.one(['}}', ' }}', ' }}', ' -}}', '\n-}}']);
  }

  #end(): string {
    return `${this.#open()}end${this.#close()}`;
  }

  #if(depth: number): string {
    const otherwise = this.#dice.chance(0.3)
      ? `${this.#open()}else if ${this.#pipeline(1)}${this.#close()}${this.#nodes(depth - 1)}`
      : '';
    const last = this.#dice.chance(0.5) ? this.#else(depth) : '';
    const then = this.#nodes(depth - 1);
    return `${this.#open()}if ${this.#pipeline(1)}${this.#close()}${then}${otherwise}${last}${this.#end()}`;
  }

  #else(depth: number): string {
    return `${this.#open()}else${this.#close()}${this.#nodes(depth - 1)}`;
  }

  #with(depth: number): string {
    const type = this.#dice.one(['int', 'string', 'list'] as const);
    const subject = this.#value(type, 1);
    const outer = { dot: this.#dot, root: this.#rootDot };
    [this.#dot, this.#rootDot] = [type, false];
    const then = this.#nodes(depth - 1);
    [this.#dot, this.#rootDot] = [outer.dot, outer.root];
    const another =
      this.#features.elseWith && this.#dice.chance(0.3)
        ? `${this.#open()}else with ${this.#value('int', 1)}${this.#close()}${this.#dice.one(TEXTS)}`
        : '';
    const last = this.#dice.chance(0.4) ? this.#else(depth) : '';
    return `${this.#open()}with ${subject}${this.#close()}${then}${another}${last}${this.#end()}`;
  }

  #range(depth: number): string {
    const overInt = this.#features.rangeOverInt && this.#dice.chance(0.2);
    const subject = overInt
      ? String(this.#dice.number(5))
      : this.#dice.one([this.#value('list', 1), this.#labels(), '$.Tree']);
    const head = overInt ? '' : this.#dice.one(['', '', '$e := ', '$i, $e := ']);
    const outer = { dot: this.#dot, root: this.#rootDot, variables: this.#variables };
    [this.#dot, this.#rootDot] = ['any', false];
    const names = head.match(/\$\w/g) ?? [];
    this.#variables = [...this.#variables, ...names.map((name): Variable => ({ name, type: 'any' }))];
    this.#ranges++;
    const body = this.#nodes(depth - 1);
    this.#ranges--;
    [this.#dot, this.#rootDot] = [outer.dot, outer.root];
    // In a range's else branch Go's break means that range, not the one around it.
    const ranges = this.#ranges;
    this.#ranges = 0;
    const last = this.#dice.chance(0.4) ? this.#else(depth) : '';
    this.#ranges = ranges;
    this.#variables = outer.variables;
    return `${this.#open()}range ${head}${subject}${this.#close()}${body}${last}${this.#end()}`;
  }

  #declare(): string {
    const known = this.#variables.filter(({ type }) => type !== 'any');
    const [variable] =
      known.length > 0 && this.#dice.chance(0.4) ? [known[this.#dice.number(known.length)]] : [];
    const type = variable?.type ?? this.#dice.one(['int', 'string', 'bool', 'list'] as const);
    const action = `${this.#open()}${variable?.name ?? '$v'}${this.#dice.chance(0.5) ? ' ' : ''}`;
    // A new one counts only for what follows.
    const value = this.#value(type, 2);
    const sign = variable ? '=' : ':=';
    const text = `${action.trimEnd()} ${sign} ${value}${this.#close()}`;
    if (variable) return text;
    const name = `$v${this.#variables.length}`;
    this.#variables.push({ name, type });
    return text.replace('$v', name);
  }

  #call(): string {
    const [name] =
      this.#definitions.length > 0 ? [this.#definitions[this.#dice.number(this.#definitions.length)]] : [];
    if (name === undefined) return this.#dice.one(TEXTS);
    const argument = this.#dice.chance(0.7) ? ` ${this.#value('any', 1)}` : '';
    return `${this.#open()}template "${name}"${argument}${this.#close()}`;
  }

  #pipeline(depth: number): string {
    const value = this.#value('any', depth);
    if (!this.#dice.chance(0.25))
      return value.startsWith('(') && value.endsWith(')') && this.#dice.chance(0.5)
        ? value.slice(1, -1)
        : value;
    const stage = this.#dice.one([
      'print',
      'printf "%v|%q"',
      'html',
      'urlquery',
      'js',
      'not',
      'println 1',
      'and 1',
      'or 0',
    ]);
    return `${value} | ${stage}`;
  }

  #value(type: Type, depth: number): string {
    const known = this.#variables.filter((variable) => variable.type === type || type === 'any');
    if (known.length > 0 && this.#dice.chance(0.25))
      return known[this.#dice.number(known.length)]?.name ?? '$';
    if (this.#dot === type && !this.#rootDot && this.#dice.chance(0.3)) return '.';
    const makers: Readonly<Record<Type, Make>> = {
      int: (inner) => this.#int(inner),
      float: () => this.#dice.one([...FLOATS, '$.AlertGroup.Share']),
      string: (inner) => this.#string(inner),
      bool: (inner) => this.#bool(inner),
      list: (inner) => this.#list(inner),
      labels: () => this.#labels(),
      time: () => '$.AlertGroup.StartedAt',
      any: (inner) =>
        this.#value(
          this.#dice.one(['int', 'float', 'string', 'bool', 'list', 'labels', 'time', 'string', 'int']),
          inner,
        ),
    };
    if (type === 'any' && this.#dice.chance(0.03)) return this.#oddity();
    return makers[type](depth);
  }

  #oddity(): string {
    return this.#dice.one([
      '.',
      '$',
      '$.Nothing',
      '$.Tree.n',
      '$.Tree.none',
      '$.Tree.a.deep',
      '(index $.Words 4)',
      '$.Nothing.x',
      '$.AlertGroup.Nope',
      '(index $.Numbers 9)',
      '$.AlertGroup',
      '(print nil)',
      '$.CommonLabels.none.x',
    ]);
  }

  #int(depth: number): string {
    if (depth === 0) return this.#dice.one([...INTS, '$.AlertGroup.Number']);
    const roll = this.#dice.number(6);
    if (roll < 3)
      return this.#dice.one([...INTS, '$.AlertGroup.Number', '$.AlertGroup.ReopenCount', '$.Tree.b']);
    if (roll === 3) return `(len ${this.#value(this.#dice.one(['string', 'list', 'labels']), depth - 1)})`;
    if (roll === 4) return `(index $.Numbers ${this.#dice.one(['0', '1', '2'])})`;
    return `(or ${this.#value('int', depth - 1)} ${this.#value('int', depth - 1)})`;
  }

  #string(depth: number): string {
    const simple = [
      ...WORDS,
      '$.Text',
      '$.AlertGroup.Title',
      '$.AlertGroup.Owner',
      '$.CommonLabels.ns',
      '$.CommonLabels.none',
      '$.Tree.a.deep',
    ] as const;
    if (depth === 0) return this.#dice.one(simple);
    const inner = () => this.#value('any', depth - 1);
    switch (this.#dice.number(9)) {
      case 0:
        return `(print ${inner()} ${inner()})`;
      case 1:
        return `(println ${inner()})`;
      case 2:
      case 3:
        return printfCall(this.#dice, {
          scalar: () => this.#value(this.#dice.one(['int', 'float', 'string', 'bool']), depth - 1),
          word: () => this.#dice.one(WORDS),
          any: inner,
        });
      case 4:
        return `(${this.#dice.one(['html', 'js', 'urlquery'])} ${inner()})`;
      case 5:
        return `(slice "abcdef" ${this.#dice.number(3)} ${2 + this.#dice.number(5)})`;
      case 6:
        return `($.AlertGroup.StartedAt.Format ${this.#dice.one(LAYOUTS)})`;
      case 7:
        return `(index $.CommonLabels ${this.#dice.one(['"ns"', '"none"'])})`;
      default:
        return this.#dice.one(simple);
    }
  }

  #bool(depth: number): string {
    if (depth === 0) return this.#dice.one(['true', 'false', '$.AlertGroup.Urgent']);
    const type = this.#dice.one(['int', 'float', 'string'] as const);
    const [left, right] = [
      this.#value(type, depth - 1),
      this.#value(this.#dice.chance(0.98) ? type : 'int', depth - 1),
    ];
    switch (this.#dice.number(5)) {
      case 0:
        return `(eq ${left} ${right}${this.#dice.chance(0.3) ? ` ${this.#value(type, 0)}` : ''})`;
      case 1:
        return `(${this.#dice.one(['ne', 'lt', 'le', 'gt', 'ge'])} ${left} ${right})`;
      case 2:
        return `(not ${this.#value('any', depth - 1)})`;
      case 3:
        return `(and ${this.#value('any', depth - 1)} ${this.#value('any', depth - 1)})`;
      default:
        return this.#dice.one(['true', 'false', '$.AlertGroup.Urgent']);
    }
  }

  #list(depth: number): string {
    const simple = [
      '$.Alerts',
      '$.Numbers',
      '$.Words',
      '$.Alerts.Firing',
      '$.Alerts.Resolved',
      '$.CommonLabels.SortedPairs',
    ] as const;
    if (depth === 0 || this.#dice.chance(0.7)) return this.#dice.one(simple);
    return `(slice $.Numbers ${this.#dice.number(3)} ${2 + this.#dice.number(4)})`;
  }

  #labels(): string {
    return this.#dice.one(['$.CommonLabels', '(index $.Alerts 0).Labels', '(index $.Alerts 1).Labels']);
  }
}

const PIECES = [
  '{{',
  '}}',
  ' ',
  '-',
  '"',
  '`',
  "'",
  '(',
  ')',
  '|',
  '.',
  '$',
  ':=',
  '=',
  ',',
  '\n',
  '/*',
  '*/',
  'end',
  'else',
  'if',
  'nil',
  'x',
  '1',
  '1.5',
  '{{end}}',
  '{{- ',
  ' -}}',
] as const;

/** The same template with some characters taken away, doubled or put in between. */
export function spoiled(source: string, { number, one }: Dice): string {
  let text = source;
  for (let count = 1 + number(3); count > 0; count--) {
    const at = number(text.length + 1);
    const length = number(4);
    text = text.slice(0, at) + (number(2) === 0 ? one(PIECES) : '') + text.slice(at + length);
  }
  return text;
}
