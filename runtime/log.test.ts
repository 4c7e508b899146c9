import { expect, test } from 'vitest';
import { createLog, LINE_MEMBERS, LOG_EVENTS, type LogEvent } from './log.ts';

const NAMES = Object.keys(LOG_EVENTS) as LogEvent[];

/** The names of a line's members as they are written; parsing would keep one of two that are the same. */
function membersOf(line: string): readonly string[] {
  return [...line.matchAll(/[{,]"([^"]+)":/g)].map(([, name = '']) => name);
}

test('no line writes a member twice', () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    replica: 'a',
    destination: { write: (line) => void lines.push(line) },
  });
  for (const event of NAMES) {
    const fields: readonly string[] = LOG_EVENTS[event].slice(1);
    log(event, Object.fromEntries(fields.map((field) => [field, 1])));
  }
  expect(lines).toHaveLength(NAMES.length);
  for (const line of lines) {
    const members = membersOf(line);
    expect([line, new Set(members).size]).toEqual([line, members.length]);
    expect(members).toEqual(expect.arrayContaining([...LINE_MEMBERS]));
  }
});

test('marks that turn the direction of text are escaped, and text from right to left is as it was', () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    replica: 'a',
    destination: { write: (line) => void lines.push(line) },
  });
  const error = '\u202Egpj.exe\u2066\u2069 שלום مرحبا';
  log('ingest_failed', { error });
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  expect(lines[0]).toContain('\\u202egpj.exe\\u2066\\u2069 שלום مرحبا');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'ingest_failed', error });
});

test('what others wrote stays within its line and its member, whatever it holds', () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    replica: 'a',
    destination: { write: (line) => void lines.push(line) },
  });
  const error = 'x"}\n{"event":"forged"}\r\n\u2028\u0000\u001b[2J';
  log('ingest_failed', { error });
  expect(lines).toHaveLength(1);
  expect(['\n', '\r', '\0', '\u001b'].filter((mark) => lines[0]?.trimEnd().includes(mark))).toEqual([]);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'ingest_failed', error });
});
