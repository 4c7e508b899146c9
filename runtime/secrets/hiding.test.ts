/** What stays hidden whatever the secrets and the texts are, compared with looking at every place by itself. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Hiding } from './hiding.ts';
import { read } from './reading.ts';

const HIDDEN = '█';
const hide = (secrets: readonly string[], text: string): string => new Hiding(secrets).hide(text, HIDDEN);
const texts = (letters: readonly string[], least: number, most: number) =>
  fc.array(fc.constantFrom(...letters), { minLength: least, maxLength: most }).map((all) => all.join(''));

/** Ways in which programs write a character; which of them is drawn for each by itself. */
type Way = (character: string, drawn: number) => string;
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
const percent: Way = (character, drawn) => {
  if (character === ' ' && drawn % 3 === 1) return '+';
  if (/[A-Za-z0-9]/.test(character) && drawn % 4 !== 0) return character;
  const bytes = [...Buffer.from(character)].map((byte) => `%${hex(byte, 2)}`).join('');
  return drawn % 2 === 0 ? bytes : bytes.toUpperCase();
};
const json: Way = (character, drawn) => {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const units = Array.from(character.split(''), (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`).join('');
  if (drawn % 3 === 0) return units;
  const short = JSON.stringify(character).slice(1, -1);
  return short === '/' && drawn % 3 === 1 ? '\\/' : short;
};
const html: Way = (character, drawn) => {
  const code = character.codePointAt(0) ?? 0;
  if (drawn % 3 === 0) return `&#${code};`;
  if (drawn % 3 === 1 && !/[A-Za-z0-9]/.test(character)) return `&#x${hex(code, 1 + (drawn % 4))};`;
  const named: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return named[character] ?? character;
};

/** Without a letter that an escape begins with: what of it is whose, nobody could tell. */
const ODD = [...'aZ09"\'&<>%+ /\\;#xnö🔥\n'];

test('a secret is hidden whole, however often and however each character of it was escaped', () => {
  const ways = fc.array(fc.constantFrom(percent, json, html), { maxLength: 4 });
  const draws = fc.infiniteStream(fc.nat(11));
  fc.assert(
    fc.property(texts(ODD, 4, 14), ways, draws, (drawn, layers, numbers) => {
      const secret = drawn.trim();
      // Blanks at its ends are also found one to the left.
      fc.pre(read(secret).length >= 4 && !/^\+|\+$/.test(secret));
      const written = layers.reduce(
        (text, way) => Array.from(text, (character) => way(character, numbers.next().value)).join(''),
        secret,
      );
      expect(hide([secret], `(: ${written} :)`)).toBe(`(: ${HIDDEN} :)`);
    }),
    { numRuns: 500 },
  );
});

test('a secret that is written as it is shows nowhere, whatever stands beside it', () => {
  const letters = [...'ab%&\\;u0041+'];
  fc.assert(
    fc.property(fc.array(texts(letters, 4, 8), { maxLength: 4 }), texts(letters, 0, 40), (secrets, text) => {
      const shown = hide(secrets, text);
      for (const secret of secrets) expect(shown).not.toContain(secret);
    }),
    { numRuns: 500 },
  );
});

test('nothing else is hidden: without escapes it is as if every place had been looked at by itself', () => {
  const letters = [...'ab'];
  fc.assert(
    fc.property(fc.array(texts(letters, 4, 7), { maxLength: 4 }), texts(letters, 0, 50), (secrets, text) => {
      expect(hide(secrets, text)).toBe(hiddenOneByOne(secrets, text));
    }),
    { numRuns: 500 },
  );
});

/** Places that overlap are one. */
function hiddenOneByOne(secrets: readonly string[], text: string): string {
  const places = secrets.flatMap((secret) =>
    Array.from(text, (_, at) => [at, at + secret.length] as const).filter(([at]) =>
      text.startsWith(secret, at),
    ),
  );
  let shown = '';
  let [done, end] = [0, 0];
  for (const [from, to] of places.sort(([one], [other]) => one - other)) {
    if (from >= end) {
      shown += text.slice(done, from) + HIDDEN;
      done = to;
    }
    end = Math.max(end, to);
    done = end;
  }
  return shown + text.slice(done);
}

/** Each would be gone through again from every place of it, or in every combination. */
test.each([
  ['quotation marks', '"', '"'],
  ['quotation marks that JSON escapes', '\\"', '"'],
  ['backslashes', '\\', '\\'],
  ['entities', '&quot;', '"'],
  ['entities of entities', '&amp;quot;', '&quot;'],
  ['percent signs', '%25', '%'],
  ['escapes of everything', '\\u0022%22&#34;', '"""'],
])('four thousand %s are looked for in a million of nearly them', (_, written, part) => {
  const secret = `k${part.repeat(4_000 / part.length)}!`;
  const nearly = written.repeat(1_000_000 / written.length);
  expect(hide([secret], `k${nearly}`)).toBe(`k${nearly}`);
  expect(hide([secret], `${nearly} ${secret}`)).toBe(`${nearly} ${HIDDEN}`);
});

test('hundreds of secrets are looked for in a million characters at once', () => {
  const secrets = Array.from({ length: 200 }, (_, index) => `${index}-${hex(index * 7919, 8)}-"secret"&more`);
  const line = '{"labels":{"host":"db-1","path":"C:\\\\data"},"url":"https://h.example/?a=%20b&amp;c=1"}\n';
  const text = line.repeat(1_000_000 / line.length);
  const told = secrets.map((secret) => JSON.stringify(secret)).join(' ');
  expect(hide(secrets, text)).toBe(text);
  expect(hide(secrets, `${told} ${text}`)).toBe(`${secrets.map(() => `"${HIDDEN}"`).join(' ')} ${text}`);
});
