import { describe, expect, it } from 'vitest';
import { isInAction, tokensOf } from './code-editor.ts';

const shown = (source: string) =>
  tokensOf(source).map(({ from, to, kind }) => `${kind} ${source.slice(from, to)}`);

describe('tokens of a template', () => {
  it.each<[source: string, tokens: string[]]>([
    ['text }} alone', []],
    ['a {{ .Labels.pod }} b', ['delimiter {{', 'field .Labels', 'field .pod', 'delimiter }}']],
    [
      '{{- if eq $x "a}}b" -}}',
      ['delimiter {{-', 'keyword if', 'function eq', 'variable $x', 'string "a}}b"', 'delimiter -}}'],
    ],
    ['{{/* why */}}', ['delimiter {{', 'comment /* why */', 'delimiter }}']],
    [
      '{{ 0x1F | printf `%d` }}',
      ['delimiter {{', 'number 0x1F', 'function printf', 'string `%d`', 'delimiter }}'],
    ],
    ['{{ "open', ['delimiter {{', 'string "open']],
    ['{{-3}}', ['delimiter {{', 'number 3', 'delimiter }}']],
  ])('%s', (source, tokens) => {
    expect(shown(source)).toEqual(tokens);
  });
});

it.each([
  ['a {{ .x', true],
  ['a {{ .x }}', false],
  ['a', false],
  ['{{ a }} {{ ', true],
])('the end of %j is within an action: %s', (source, inside) => {
  expect(isInAction(source, source.length)).toBe(inside);
});
