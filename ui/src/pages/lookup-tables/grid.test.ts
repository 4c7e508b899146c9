import { describe, expect, it } from 'vitest';
import {
  changedRows,
  fromDraft,
  parseCells,
  pasted,
  readCsv,
  rowOf,
  toDraft,
  withCell,
  withColumn,
  withoutColumn,
  writeCsv,
} from './grid.ts';

const INPUT = {
  name: 'teams',
  description: '',
  columns: ['chat', 'phone'],
  entries: [
    { key: 'core', values: { chat: '#core', phone: '112' } },
    { key: 'web', values: { chat: '#web', phone: '' } },
  ],
};
const ROWS = [
  ['core', '#core', '112'],
  ['web', '#web', ''],
];

describe('a Lookup table in its form', () => {
  it('is sent as it was read when nothing was changed', () => {
    expect(toDraft(INPUT).rows).toEqual(ROWS);
    expect(fromDraft(toDraft(INPUT))).toEqual(INPUT);
  });

  it('leaves out rows without anything in them', () => {
    const draft = toDraft(INPUT);
    expect(fromDraft({ ...draft, rows: [...draft.rows, ['', '', '']] })).toEqual(INPUT);
  });

  it('changes cells and columns in every row', () => {
    expect(withCell(ROWS, 1, 2, '113')[1]).toEqual(['web', '#web', '113']);
    expect(withColumn(ROWS)[0]).toEqual(['core', '#core', '112', '']);
    expect(withoutColumn(ROWS, 0)[0]).toEqual(['core', '112']);
  });

  it.each<[what: string, after: string[][], count: number]>([
    ['nothing', ROWS, 0],
    ['another order', ROWS.toReversed(), 0],
    ['a cell', [ROWS[0]!, ['web', '#www', '']], 1],
    ['a row more', [...ROWS, ['new', '', '']], 1],
    ['a row less', [ROWS[0]!], 1],
    ['an empty row', [...ROWS, ['', '', '']], 0],
  ])('counts what is not saved: %s', (_what, after, count) => {
    expect(changedRows(ROWS, after)).toBe(count);
  });
});

it.each([
  ['/entries/4999/key', 4999],
  ['/entries/7/values/chat~1room', 7],
  ['/entries/0', 0],
  ['/entries', null],
  ['/columns/3', null],
  [undefined, null],
])('%s is about row %s', (pointer, row) => {
  expect(rowOf(pointer)).toBe(row);
});

describe('what comes from a spreadsheet', () => {
  it('is laid over the rows from a cell on', () => {
    const copied = parseCells('a\tb\nc\td\n', '\t');
    expect(pasted(ROWS, INPUT.columns, 1, 1, copied)).toEqual([ROWS[0], ['web', 'a', 'b'], ['', 'c', 'd']]);
    expect(pasted(ROWS, INPUT.columns, 0, 2, copied)[0]).toEqual(['core', '#core', 'a']);
  });

  it.each<[text: string, rows: string[][]]>([
    [
      'a,b\r\nc,d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['"a,""b""","c\nd"\n', [['a,"b"', 'c\nd']]],
    [
      'a,\n,b',
      [
        ['a', ''],
        ['', 'b'],
      ],
    ],
    ['', []],
    ['"19"" rack" A,b', [['19" rack A', 'b']]],
    ['"open,b', [['"open', 'b']]],
  ])('%j', (text, rows) => {
    expect(parseCells(text, ',')).toEqual(rows);
  });

  it('is read back from what was written', () => {
    const rows = [
      ['k', 'a "b", c', 'line\nfeed'],
      ['ü', ';', ''],
    ];
    expect(readCsv(writeCsv(['one', 'two'], rows))).toEqual({ columns: ['one', 'two'], rows });
  });

  it('comes whole, however large it is: a table with too much in it is refused, not cut', () => {
    const rows = Array.from({ length: 10_001 }, (_, row) => [`k${row}`, 'a']);
    expect(readCsv(writeCsv(['one'], rows)).rows).toHaveLength(10_001);
    expect(pasted([], ['one'], 0, 0, rows)).toHaveLength(10_001);
    const names = Array.from({ length: 51 }, (_, column) => `c${column}`);
    expect(readCsv(writeCsv(names, [])).columns).toHaveLength(51);
  });

  it('may be separated by semicolons, and lines may be too short', () => {
    expect(readCsv('\uFEFFkey;one;two\nk;1\n')).toEqual({ columns: ['one', 'two'], rows: [['k', '1', '']] });
  });
});
