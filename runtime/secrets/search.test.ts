import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Search } from './search.ts';

const unitsOf = (text: string): Int32Array => Int32Array.from(text, (letter) => letter.charCodeAt(0));

function found(sought: readonly string[], text: string): readonly string[] {
  const places: string[] = [];
  new Search(sought.map(unitsOf)).within(unitsOf(text), (which, first, last) =>
    places.push(`${which} ${first} ${last}`),
  );
  return places.sort();
}

function foundOneByOne(sought: readonly string[], text: string): readonly string[] {
  const places = sought.flatMap((one, which) =>
    Array.from(text, (_, at) => at)
      .filter((at) => text.startsWith(one, at))
      .map((at) => `${which} ${at} ${at + one.length - 1}`),
  );
  return places.sort();
}

test('every place of everything that is sought is found, also within each other', () => {
  const letters = (least: number, most: number) =>
    fc
      .array(fc.constantFrom('a', 'b', '\u0161'), { minLength: least, maxLength: most })
      .map((all) => all.join(''));
  const sought = fc.array(letters(4, 9), { maxLength: 6 });
  fc.assert(
    fc.property(sought, letters(0, 60), (some, text) => {
      expect(found(some, text)).toEqual(foundOneByOne(some, text));
    }),
    { numRuns: 300 },
  );
});

test('what is nearly there everywhere is gone through once', () => {
  // Compared anew at each place, this would be four thousand million steps.
  const text = unitsOf('a'.repeat(1_000_000));
  const search = new Search([unitsOf(`b${'a'.repeat(4_000)}`), unitsOf(`${'a'.repeat(4_000)}b`)]);
  let places = 0;
  search.within(text, () => places++);
  expect(places).toBe(0);
});
