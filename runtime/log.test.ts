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

test('what looks like a secret is masked in every text of a line, and nothing else is changed', () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    replica: 'a',
    destination: { write: (line) => void lines.push(line) },
  });
  const bot = `123456:${'k'.repeat(35)}`;
  const said = [
    ['no\n"Bearer abc.def-1"', 'no\n"Bearer [redacted]"'],
    ['http://me:pa"ss@db.example/x?y=1', 'http://[redacted]@db.example/x?y=1'],
    // In JSON an "n" of the escape stands before the number.
    [`bot\n${bot}`, 'bot\n[redacted]'],
    [`whsec_${'Ab+/'.repeat(8)}=\u2028`, '[redacted]\u2028'],
    ['svc_int_abcdefgh', '[redacted]'],
    ['Basic dXNlcjpwYXNz', 'Basic [redacted]'],
    [`AQ${'x'.repeat(53)}`, '[redacted]'],
  ] as const;
  for (const [error] of said) log('delivery_defect', { destination: 'a://', group: 'b@c', error });
  said.forEach(([, error], index) => {
    expect(JSON.parse(lines[index] ?? '')).toMatchObject({ destination: 'a://', group: 'b@c', error });
  });

  const entry = {
    detail: 'answered 503: "later"\tC:\\ü',
    sizes: [1, null, true],
    at: 'https://a.example/b@c',
  };
  log('audit_entry', { entry });
  const { time, ...rest } = JSON.parse(lines.at(-1) ?? '');
  expect(rest).toEqual({ level: 'info', replica: 'a', event: 'audit_entry', entry });
  expect(lines.at(-1)).toBe(
    `${JSON.stringify({ level: 'info', time, replica: 'a', entry, event: 'audit_entry' })}\n`,
  );
});
