import { expect, test } from 'vitest';
import { type Command, type CommandIo, runCommandLine } from './command.ts';

function recordingIo(): CommandIo & { outLines: string[]; errLines: string[] } {
  const outLines: string[] = [];
  const errLines: string[] = [];
  return {
    env: {},
    outLines,
    errLines,
    out: (line) => outLines.push(line),
    err: (line) => errLines.push(line),
  };
}

function command(name: string, ran: string[]): Command {
  return {
    name,
    summary: `does ${name}`,
    help: `help of ${name}`,
    options: { out: { type: 'string' } },
    run: async (values) => {
      ran.push(`${name} ${values.out ?? ''}`);
      return 0;
    },
  };
}

test('the first word chooses the command and the rest are its options', async () => {
  const ran: string[] = [];
  expect(await runCommandLine(['draw', '--out', 'x'], [command('draw', ran)], recordingIo())).toBe(0);
  expect(ran).toEqual(['draw x']);
});

test('a command may have several words', async () => {
  const ran: string[] = [];
  const io = recordingIo();
  const commands = [command('paint', ran), command('draw line', ran)];
  expect(await runCommandLine(['draw', 'line', '--out', 'x'], commands, io)).toBe(0);
  expect(await runCommandLine(['draw', 'circle', '--out', 'x'], commands, io)).toBe(2);
  expect(await runCommandLine(['draw'], commands, io)).toBe(2);
  expect(ran).toEqual(['draw line x']);
  expect(await runCommandLine(['fly'], commands, io)).toBe(2);
  expect(io.errLines).toEqual([
    'tocsin: there is no command "draw circle". There are: draw line.',
    'tocsin: there is no command "draw". There are: draw line.',
    'tocsin: there is no command "fly". "tocsin --help" lists them.',
  ]);
});

test('without a command it serves', async () => {
  const ran: string[] = [];
  await runCommandLine([], [command('serve', ran)], recordingIo());
  expect(ran).toEqual(['serve ']);
});

test('an unknown command and an unknown option are wrong usage and run nothing', async () => {
  const ran: string[] = [];
  const io = recordingIo();
  expect(await runCommandLine(['fly'], [command('draw', ran)], io)).toBe(2);
  expect(await runCommandLine(['draw', '--colour'], [command('draw', ran)], io)).toBe(2);
  expect(ran).toEqual([]);
  expect(io.errLines.join('\n')).toContain('--help');
});

test('--help shows the list, and the options of one command', async () => {
  const io = recordingIo();
  expect(await runCommandLine(['--help'], [command('draw', [])], io)).toBe(0);
  expect(await runCommandLine(['draw', '--help'], [command('draw', [])], io)).toBe(0);
  expect(io.outLines[0]).toContain('draw  does draw');
  expect(io.outLines[1]).toBe('help of draw');
});

test('words that are no options arrive under their names, none too few and none too many', async () => {
  const ran: unknown[] = [];
  const io = recordingIo();
  const draw: Command = {
    ...command('draw', []),
    operands: ['shape', 'colour'],
    run: async ({ shape, colour, out }) => {
      ran.push([shape, colour, out]);
      return 0;
    },
  };
  expect(await runCommandLine(['draw', 'circle', '--out', 'x', 'red'], [draw], io)).toBe(0);
  expect(ran).toEqual([['circle', 'red', 'x']]);
  expect(await runCommandLine(['draw', 'circle'], [draw], io)).toBe(2);
  expect(await runCommandLine(['draw', 'circle', 'red', 'thick'], [draw], io)).toBe(2);
  expect(await runCommandLine(['draw', '--help'], [draw], io)).toBe(0);
  expect(ran).toHaveLength(1);
  expect(io.errLines[0]).toContain('<colour> is missing');
  expect(io.errLines[2]).toContain("'thick'");
});

test.each([
  ['--colour', 'blue', '--colour takes one of red, green'],
  ['--width', '0', '--width takes a whole number from 1 to 500'],
  ['--width', '501', '--width takes a whole number from 1 to 500'],
  ['--width', 'x', '--width takes a whole number from 1 to 500'],
  ['--width', '1.5', '--width takes a whole number from 1 to 500'],
])(
  'a value that an option does not take is wrong usage, and what it takes is said: %s %s',
  async (option, value, says) => {
    const ran: string[] = [];
    const io = recordingIo();
    const draw: Command = {
      ...command('draw', ran),
      options: { colour: { type: 'string' }, width: { type: 'string' }, out: { type: 'string' } },
      allowed: { colour: ['red', 'green'], width: { from: 1, to: 500 } },
    };
    expect(await runCommandLine(['draw', option, value], [draw], io)).toBe(2);
    expect(io.errLines[0]).toBe(`tocsin draw: ${says}`);
    expect(
      await runCommandLine(['draw', '--colour', 'red', '--width', '500', '--out', 'x'], [draw], io),
    ).toBe(0);
    expect(ran).toEqual(['draw x']);
  },
);
