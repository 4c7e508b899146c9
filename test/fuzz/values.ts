/** Values at and beyond every bound: of the right type, of wrong ones, and such as have broken parsers before. */
import type { Random } from '../simulation/random.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const NUMBERS = [
  ...[0, -0, 1, -1, 2, 3, 59, 60, 61, 99, 100, 101, 499, 500, 501, 0.5, 1e-7, -1.5, 36_500, 36_501],
  ...[2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 2 ** 63, 2 ** 64],
  ...[1e21, 1e308, -1e308, 5e-324, 3_153_600_000, 3_153_600_001],
];

/** Lengths around the bounds that fields have. */
const LENGTHS = [
  1, 2, 3, 11, 12, 199, 200, 201, 255, 256, 257, 1_000, 1_001, 1_024, 2_000, 2_001, 4_000, 4_001, 10_001,
];

const TEXTS = [
  ...[
    '',
    ' ',
    '\t\r\n',
    '\u0000',
    'a\u0000b',
    '\uD83D',
    '\uDE00\uD83D',
    '\u202Eevil\u2066',
    '\uFEFF',
    '\uFFFF',
  ],
  ...[
    '👩‍👩‍👧',
    'e\u0301'.repeat(40),
    'שלום',
    '\u0085\u2028',
    '__proto__',
    'constructor',
    'toString',
    'null',
    'NaN',
  ],
  ...[
    "' or 1=1 --",
    '$1',
    '%',
    '_',
    '\\',
    '\\u0000',
    '%00',
    '%zz',
    '../../etc/passwd',
    '<script>alert(1)</script>',
  ],
  ...[
    '{{',
    '}}',
    '{{ . }}',
    '{{ .AlertGroup.Title }}',
    '{{ range . }}',
    '{{ printf "%1000000d" 1 }}',
    '{{ index .Secrets "x" }}',
  ],
  ...['(', '(((((', '[', '(?<a>b)', '(a+)+$', 'a{1000}{1000}', '.*', '\\p{L}', '(?i)x', '^$', '\\1'],
  ...['$', '$.', '$..*', '$[?(@.a', '$[?@.a == 1]', '$[0:1:0]', '$[99999999999999999999]'],
  ...['true', 'False', '0', '-1', '01', '1e3', '0x10', '9007199254740993', '99999999999999999999999999'],
  ...[
    '2026-10-03T09:41:07Z',
    '2026-10-03T09:41:07.123456789+05:30',
    '2026-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
  ],
  ...[
    '9999-12-31T23:59:59.999999Z',
    '-000001-01-01T00:00:00Z',
    '+275760-09-13T00:00:00.001Z',
    '2026-10-03',
    '24:00',
    '23:59',
  ],
  ...[
    'Europe/Berlin',
    'Mars/Olympus',
    'UTC+99',
    'en',
    'ru',
    'xx',
    'admin2',
    'a@b',
    '#ffffff',
    '#fff',
    '*.example',
    '10.0.0.0/8',
  ],
  ...[
    '10.0.0.0/33',
    '::/0',
    '[::1]',
    'http://127.0.0.1:1/',
    'http://[::ffff:127.0.0.1]:1/',
    'http://0:1',
    'https://x.invalid/',
  ],
  ...[
    'http://u:p@127.0.0.1:1/?q=1#f',
    'http://',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://127.0.0.1:99999/',
    '//x',
  ],
  ...[
    'AGK7M3QX9P2RTA',
    'SR000000000000',
    'RT9X2QF4H7NJC0',
    'ag0000000000oo',
    'x',
    'me',
    'none',
    'firing',
    'asc',
    '-started_at',
  ],
];

export function oddNumber(random: Random): number {
  return random.pick(NUMBERS);
}

export function oddText(random: Random): string {
  const kind = random.int(10);
  if (kind < 6) return random.pick(TEXTS);
  if (kind < 9)
    return random.pick(['x', 'é', '🔥', '\\', '"', '\u0001', ' ', 'x,']).repeat(random.pick(LENGTHS));
  return Buffer.from(random.bytes(random.int(40))).toString('latin1');
}

/** Anything at all. */
export function oddValue(random: Random): Json {
  switch (random.int(12)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
    case 3:
      return oddNumber(random);
    case 4:
      return [];
    case 5:
      return {};
    case 6:
      return Array.from({ length: random.pick([1, 2, 101, 501, 1_001]) }, () => random.pick(TEXTS));
    case 7:
      return Object.fromEntries(
        Array.from({ length: random.pick([1, 33, 501]) }, (_, n) => [`${random.pick(TEXTS)}${n}`, n]),
      );
    case 8:
      return nested(random.pick([2, 62, 63, 64, 65, 200]));
    default:
      return oddText(random);
  }
}

function nested(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Characters of JSON beyond which no list is made longer. */
const LARGEST_TEXT = 1_500_000;

/** Changes one place of a value: another value, one more or one less, twice the same. */
export function changed(value: Json, random: Random): Json {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return oddValue(random);
  if (isList(value)) {
    if (value.length === 0) return [oddValue(random)];
    const at = random.int(value.length);
    if (random.chance(0.2)) return repeated(value[at]!, random.pick([2, 51, 201, 501, 1_001]));
    if (random.chance(0.1)) return value.filter((_, index) => index !== at);
    return value.map((item, index) => (index === at ? changed(item, random) : item));
  }
  const keys = Object.keys(value);
  if (keys.length === 0 || random.chance(0.05)) return { ...value, [random.pick(TEXTS)]: oddValue(random) };
  const key = random.pick(keys);
  const { [key]: inner = null, ...others } = value as Record<string, Json>;
  if (random.chance(0.15)) return others;
  return { ...value, [key]: changed(inner, random) };
}

/** A list of one item many times; no longer than a body that is refused for its size alone. */
function repeated(item: Json, times: number): Json {
  const fitting = Math.ceil(LARGEST_TEXT / JSON.stringify(item).length);
  return Array<Json>(Math.min(times, fitting)).fill(item);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
