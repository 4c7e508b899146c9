/** What a subcommand of `tocsin` is, and how its words are read. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { DAY, HOUR, MINUTE, type Micros } from '../clock.ts';

export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

export interface Command {
  /** One word or several, such as `ingest replay`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Shown by `tocsin <name> --help`. */
  readonly help: string;
  readonly options: ParseArgsOptionsConfig;
  /** By option: the values that it takes, or the whole numbers from one to another. Without a row it takes any text. */
  readonly allowed?: Readonly<Record<string, readonly string[] | WholeNumbers>>;
  /** Names under which the words that are no options arrive among the values; all of them are required. */
  readonly operands?: readonly string[];
  /** @returns the exit code */
  run(values: OptionValues, io: CommandIo): Promise<number>;
}

/** Both ends included. */
export interface WholeNumbers {
  readonly from: number;
  readonly to: number;
}

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  out(line: string): void;
  err(line: string): void;
}

/** Runs `tocsin <words>`: finds the command, reads its options, answers help and wrong usage itself. */
export async function runCommandLine(
  words: readonly string[],
  commands: readonly Command[],
  io: CommandIo,
): Promise<number> {
  const [first = 'serve', ...rest] = words;
  if (first === '--help' || first === '-h' || first === 'help') {
    io.out(overview(commands));
    return EXIT.done;
  }
  if (first === '--version') return runCommandLine(['version', ...rest], commands, io);
  const named = first.startsWith('-') ? ['serve', ...words] : [first, ...rest];
  const command = commands.find(({ name }) => wordsOf(name).every((word, index) => named[index] === word));
  if (!command) {
    io.err(`tocsin: there is no command "${spoken(named)}". ${alternatives(first, commands)}`);
    return EXIT.usage;
  }
  return runCommand(command, named.slice(wordsOf(command.name).length), io);
}

function wordsOf(name: string): string[] {
  return name.split(' ');
}

/** The commands that begin with the same word, or where all of them are listed. */
function alternatives(first: string, commands: readonly Command[]): string {
  const alike = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  return alike.length > 0 ? `There are: ${alike.join(', ')}.` : '"tocsin --help" lists them.';
}

/** What was meant as the name of a command: the words before the first option. */
function spoken(words: readonly string[]): string {
  const end = words.findIndex((word) => word.startsWith('-'));
  return words.slice(0, end < 0 ? words.length : end).join(' ');
}

async function runCommand(command: Command, words: string[], io: CommandIo): Promise<number> {
  let values: OptionValues;
  try {
    const parsed = parseArgs({
      args: words,
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      strict: true,
      allowPositionals: command.operands !== undefined,
    });
    values = { ...parsed.values, ...operandsOf(command, parsed) } as OptionValues;
    if (!values.help) refuseOthers(command, values);
  } catch (error) {
    io.err(`tocsin ${command.name}: ${error instanceof Error ? error.message : String(error)}`);
    io.err(`"tocsin ${command.name} --help" shows its options.`);
    return EXIT.usage;
  }
  if (values.help) {
    io.out(command.help);
    return EXIT.done;
  }
  return command.run(values, io);
}

/** @throws with a sentence for people that says what an option takes */
function refuseOthers({ allowed = {} }: Command, values: OptionValues): void {
  for (const [option, taken] of Object.entries(allowed)) {
    const given = values[option];
    if (given === undefined) continue;
    const text = String(given);
    if ('from' in taken) {
      const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (number >= taken.from && number <= taken.to) continue;
      throw new Error(`--${option} takes a whole number from ${taken.from} to ${taken.to}`);
    }
    if (!taken.includes(text)) throw new Error(`--${option} takes one of ${taken.join(', ')}`);
  }
}

/** @throws with a sentence for people when there are too few or too many */
function operandsOf(
  { operands = [] }: Command,
  { positionals, values }: { readonly positionals: readonly string[]; readonly values: { help?: unknown } },
): Record<string, string | undefined> {
  const extra = positionals[operands.length];
  if (extra !== undefined) throw new Error(`Unexpected argument '${extra}'`);
  const missing = operands[positionals.length];
  if (missing !== undefined && !values.help) throw new Error(`<${missing}> is missing`);
  return Object.fromEntries(operands.map((name, index) => [name, positionals[index]]));
}

function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  const lines = commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return [
    'Tocsin groups alerts, delivers them once, and lets people act on them.',
    '',
    'Usage: tocsin <command> [options]',
    '',
    ...lines,
    '',
    'Without a command it serves. "tocsin <command> --help" shows a command\'s options.',
    'Exit codes: 0 done, 1 failed or refused, 2 wrong usage.',
  ].join('\n');
}

const UNITS: Readonly<Record<string, Micros>> = { m: MINUTE, h: HOUR, d: DAY };

/** Reads `90m`, `12h` or `3d`, µs; null for anything else and for nothing at all. */
export function parseDuration(text: string): Micros | null {
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const length = Number(amount) * (UNITS[unit] ?? Number.NaN);
  return length > 0 ? length : null;
}
