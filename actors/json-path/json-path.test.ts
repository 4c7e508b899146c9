import { describe, expect, test } from 'vitest';
import { JsonNumber, type JsonValue, readJson } from './json.ts';
import { parsePath } from './parse.ts';
import { selectNodes } from './select.ts';

/** As JSON, numbers as they were written. */
function shown(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.source;
  if (Array.isArray(value)) return `[${value.map(shown).join(',')}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  return `{${[...value].map(([name, inner]) => `${JSON.stringify(name)}:${shown(inner)}`).join(',')}}`;
}

function select(path: string, json: string): string {
  const parsed = parsePath(path);
  if (!parsed.ok) return parsed.message;
  const root = readJson(json);
  if (!root) return 'no JSON';
  return selectNodes(parsed.path, root.value)?.map(shown).join(' ') ?? 'too much work';
}

const STORE = `{"store":{"book":[
  {"category":"reference","author":"Nigel Rees","title":"Sayings","price":8.95},
  {"category":"fiction","author":"Evelyn Waugh","title":"Sword","price":12.99},
  {"category":"fiction","author":"Herman Melville","title":"Moby Dick","isbn":"0-553-21311-3","price":8.99},
  {"category":"fiction","author":"J. R. R. Tolkien","title":"Rings","isbn":"0-395-19395-8","price":22.99}],
  "bicycle":{"color":"red","price":399}}}`;

describe('what a path selects', () => {
  test.each([
    ['$', '{"a":1}', '{"a":1}'],
    ['$.a.b', '{"a":{"b":"x"}}', '"x"'],
    ["$['a']", '{"a":1}', '1'],
    ['$["a\\u0062"]', '{"ab":1}', '1'],
    [`$['it\\'s']`, `{"it's":1}`, '1'],
    [`$['"']`, '{"\\"":1}', '1'],
    ['$[0]', '[1,2]', '1'],
    ['$[-1]', '[1,2]', '2'],
    ['$[5]', '[1,2]', ''],
    ['$[0]', '{"0":1}', ''],
    ['$[*]', '{"b":1,"a":2}', '1 2'],
    ['$[1:3]', '[0,1,2,3]', '1 2'],
    ['$[ 1 : 5 : 2 ]', '[0,1,2,3,4]', '1 3'],
    ['$[5:1:-2]', '[0,1,2,3,4,5,6]', '5 3'],
    ['$[::-1]', '[0,1,2]', '2 1 0'],
    ['$[-2:]', '[0,1,2]', '1 2'],
    ['$[::0]', '[0,1,2]', ''],
    ['$[0, 0, 1]', '[1,2]', '1 1 2'],
    ['$..id', '{"a":{"id":1},"id":2,"b":[{"id":3}]}', '2 1 3'],
    ['$..[0]', '[[1,2],[3]]', '[1,2] 1 3'],
    ['$ .a [0]', '{"a":[1]}', '1'],
    ['$.ключ', '{"ключ":1}', '1'],
    ['$.store.book[*].author', STORE, '"Nigel Rees" "Evelyn Waugh" "Herman Melville" "J. R. R. Tolkien"'],
    ['$.store..price', STORE, '8.95 12.99 8.99 22.99 399'],
    ['$..book[?@.isbn].title', STORE, '"Moby Dick" "Rings"'],
    ['$..book[?@.price<10].title', STORE, '"Sayings" "Moby Dick"'],
    ['$..book[?@.price < 10 && @.category == "fiction"].title', STORE, '"Moby Dick"'],
    ["$..book[?!(@.isbn || @.author=='Nigel Rees')].title", STORE, '"Sword"'],
    ["$.items[?@.kind=='msg'].id", '{"items":[{"kind":"x","id":1},{"kind":"msg","id":2}]}', '2'],
    ['$[?@.a==$.want]', '{"want":1,"x":{"a":1},"y":{"a":2}}', '{"a":1}'],
    ['$[?@.a==@.b]', '[{},{"a":1},{"a":1,"b":1.0}]', '{} {"a":1,"b":1.0}'],
    ['$[?@!=null]', '[null,0,false]', '0 false'],
    ['$[?@==9007199254740993]', '[9007199254740992,9007199254740993]', '9007199254740993'],
    ['$[?@<"b"]', '["a","b",1]', '"a"'],
    ['$[?@>=1]', '[0,1,1.5,"2"]', '1 1.5'],
    ['$[?length(@)==2]', '["ab","🔥🔥",[1,2],{"a":1},1]', '"ab" "🔥🔥" [1,2]'],
    ['$[?count(@.*)>1]', '[[1],[1,2]]', '[1,2]'],
    ['$[?value(@..a)==1]', '[{"b":{"a":1}},{"a":1,"b":{"a":1}}]', '{"b":{"a":1}}'],
    ['$[?match(@, "a.c")]', '["abc","xabc","a\\nc"]', '"abc"'],
    ['$[?search(@, "b[.]?")]', '["abc","x"]', '"abc"'],
    ['$[?match(@, "(")]', '["("]', ''],
  ])('%s of %s', (path, json, expected) => {
    expect(select(path, json)).toBe(expected);
  });

  test('members of integers keep the order in which they stand', () => {
    expect(select('$.*', '{"10":"a","2":"b"}')).toBe('"a" "b"');
  });

  test('numbers keep every digit', () => {
    expect(select('$.id', '{"id":1234567890123456789012}')).toBe('1234567890123456789012');
    expect(select('$.id', '{"id":1.50e+3}')).toBe('1.50e+3');
  });
});

describe('what is no path', () => {
  test.each([
    ['', 'character 1: "$" is missing'],
    ['a', 'character 1: "$" is missing'],
    ['$.', 'character 3: a name or * must follow'],
    ['$.a.', 'character 5: a name or * must follow'],
    ['$..', 'character 4: a name or * must follow'],
    ['$[', 'character 3: the path ends too early'],
    ['$[01]', 'character 4: "]" is missing'],
    ['$[-0]', 'character 3: unexpected "-"'],
    ['$[9007199254740992]', 'character 3: this number is too large'],
    ['$[a]', 'character 3: unexpected "a"'],
    ["$['\\ud800']", 'character 3: this is not a string of a JSONPath'],
    ["$['a", 'character 3: this is not a string of a JSONPath'],
    ['$ ', 'character 2: unexpected " "'],
    ['$.1', 'character 3: a name or * must follow'],
    ['$[?1]', 'character 4: this is a value; compare it with another one'],
    ['$[?@.*==1]', 'character 4: this is not one value; it cannot be compared'],
    ['$[?length(@)]', 'character 4: this is a value; compare it with another one'],
    ['$[?match(@,"a")==true]', 'character 4: this is not one value; it cannot be compared'],
    ['$[?nope(@)]', 'character 4: there is no function "nope"'],
    ['$[?count(1)==1]', 'character 10: count takes a query'],
    ['$[?@.a == ]', 'character 11: unexpected "]"'],
    [`$[?${'('.repeat(60)}`, 'character 54: this is nested too deep'],
  ])('%s', (path, message) => {
    expect(select(path, '1')).toBe(message);
  });
});

test.each(['', '1 2', '{"a":1}x', "{'a':1}", '[1,]', 'nothing'])('%j is not one JSON value', (text) => {
  expect(readJson(text)).toBeNull();
});

test('what is nested too deep is not read', () => {
  expect(readJson(`${'['.repeat(60_000)}${']'.repeat(60_000)}`)).toBeNull();
});

test('a path that makes too much work finds nothing', () => {
  const json = `[${'['.repeat(400)}${'1,'.repeat(20_000)}1${']'.repeat(400)}]`;
  expect(select('$..*..*..*..*', json)).toBe('too much work');
});
