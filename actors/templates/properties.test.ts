/** Whatever the source and the data, a template answers: a text within the limits or one error with its place. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CONTEXT, DATA, dataWith, rendered } from './run.fixture.ts';
import { parseTemplate, renderTemplate } from './template.ts';
import type { OutputFormat, TemplateKind } from './types.ts';
import { TemplateMap } from './values.ts';

const RUNS = { numRuns: 300 };
const KINDS: readonly TemplateKind[] = ['root_message', 'line', 'link_rule', 'webhook_request'];

function answers(kind: TemplateKind, source: string): void {
  const parsed = parseTemplate(kind, source);
  const result = parsed.ok ? renderTemplate(parsed.template, DATA, CONTEXT) : parsed;
  if (result.ok) {
    expect([...result.text].length).toBeLessThanOrEqual(50_000);
    return;
  }
  const { line, column, message } = result.error;
  const lines = source.split('\n');
  expect(message).not.toBe('');
  expect(line).toBeGreaterThanOrEqual(1);
  expect(line).toBeLessThanOrEqual(lines.length);
  expect(column).toBeGreaterThanOrEqual(1);
  expect(column).toBeLessThanOrEqual([...(lines[line - 1] ?? '')].length + 1);
}

const PIECES = (
  '{{ }} {{- -}} {{/* */}} end else if with range define template block break continue nil true $ $x := = | ( ) . ' +
  '.Alerts .CommonLabels .Nope "text" `raw` 1 -2 3.5 0x1f \'c\' print printf len index slice eq and or not list dict until ' +
  'repeat replace splitList join toJson html urlquery now date tz lookup mention default regexFindAll'
).split(' ');

test('for any text at all', () => {
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), fc.string({ unit: 'binary', maxLength: 60 }), answers),
    RUNS,
  );
});

test('for any row of tokens', () => {
  const sources = fc.array(fc.constantFrom(...PIECES), { maxLength: 25 }).map((pieces) => pieces.join(' '));
  fc.assert(fc.property(fc.constantFrom(...KINDS), sources, answers), { numRuns: 1_000 });
});

const operands = fc.constantFrom(
  '1',
  '-7',
  '2.5',
  '"a"',
  '""',
  'nil',
  'true',
  '.',
  '$',
  '.Alerts',
  '.CommonLabels',
  '(list 1 "x" nil)',
  '(dict "k" 2)',
  'now',
  '"(a"',
  '"%d %s"',
  '1000',
  '9223372036854775807',
);

test('for any function with any arguments', () => {
  const functions = fc.constantFrom(
    ...'and or not len index slice print println printf html js urlquery eq ne lt le gt ge toUpper title trimAll replace repeat trunc ellipsis indent nindent quote squote splitList join match regexFind regexFindAll reReplaceAll urlUnescape urlPathEscape queryParam safeUrl default coalesce ternary toString toInt toFloat toBool toJson add sub mul div mod max min list stringSlice first last rest initial reverse uniq sortAlpha has concat until untilStep seq dict get hasKey keys values since date tz humanizeDuration lookup mention'.split(
      ' ',
    ),
  );
  const calls = fc.tuple(functions, fc.array(operands, { maxLength: 4 }));
  const sources = calls.map(([name, values]) => `{{ ${name} ${values.join(' ')} }}`);
  fc.assert(fc.property(fc.constantFrom(...KINDS), sources, answers), { numRuns: 3_000 });
});

const blocks = fc.letrec<{ nodes: string; node: string }>((tie) => ({
  nodes: fc.array(tie('node'), { maxLength: 3 }).map((nodes) => nodes.join('')),
  node: fc.oneof(
    { maxDepth: 6 },
    operands.map((value) => `{{ ${value} | print }}`),
    fc.tuple(operands, tie('nodes')).map(([value, nodes]) => `{{ if ${value} }}${nodes}{{ else }}-{{ end }}`),
    fc
      .tuple(operands, tie('nodes'))
      .map(([value, nodes]) => `{{ with $v := ${value} }}${nodes}{{ $v }}{{ end }}`),
    fc
      .tuple(operands, tie('nodes'))
      .map(([value, nodes]) => `{{ range $i, $v := ${value} }}${nodes}{{ break }}{{ end }}`),
    fc.tuple(operands, tie('nodes')).map(([value, nodes]) => `{{- range ${value} -}} ${nodes}{{ end }}`),
    tie('nodes').map((nodes) => `{{ template "again" . }}${nodes}`),
  ),
}));

test('for nested templates that call themselves', () => {
  const sources = fc
    .tuple(blocks.nodes, blocks.nodes)
    .map(([body, main]) => `{{ define "again" }}${body}{{ end }}${main}`);
  fc.assert(fc.property(fc.constantFrom(...KINDS), sources, answers), { numRuns: 200 });
});

test('the same template and data give the same answer', () => {
  const sources = fc
    .array(fc.constantFrom(...PIECES), { maxLength: 12 })
    .map((pieces) => `{{ ${pieces.join(' ')} }}`);
  fc.assert(
    fc.property(sources, (source) => {
      expect(rendered(source)).toBe(rendered(source));
    }),
    RUNS,
  );
});

/** Marks what it escapes, so that what comes through unescaped shows. */
const marking: OutputFormat = {
  name: 'html',
  escape: (value) => value.replaceAll('<', '&lt;'),
  link: (url) => url.replaceAll('<', '%3C'),
  finish: (output) => output,
};

test.each([
  ['{{ print nil .L.v }}', '&lt;nil>&lt;x>'],
  ['{{ printf "%v" (coalesce "") }}', '&lt;nil>'],
  ['{{ print (coalesce (safeUrl .L.v)) .L.v }}', '&lt;nil>&lt;x>'],
  ['{{ list (coalesce "") }}', '[&lt;nil>]'],
])('%s: what Go prints of nil is no markup', (source, expected) => {
  const data = dataWith({ L: new TemplateMap({ v: '<x>' }, 'labels') });
  expect(rendered(source, { data, format: marking })).toBe(expected);
});

test('no value of a label comes through unescaped, whatever a template does with it', () => {
  const expressions = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(
        '.L.v',
        '.L',
        '(index .L "v")',
        '.L.SortedPairs',
        '.L.Values',
        '"x"',
        '1',
        '(lookup "t" "k" "c")',
      ),
      fc
        .tuple(
          fc.constantFrom(
            'print',
            'println',
            'printf "%v|%q"',
            'printf "%s"',
            'list',
            'join .L.v',
            'default',
            'or',
            'and',
            'toString',
            'replace "x" "y"',
            'replace "<" "<<"',
            'trimSpace',
            'toUpper',
            'splitList ""',
            'first',
            'reverse',
            'dict "k"',
            'quote',
            'squote',
            'coalesce',
            'ternary .L.v "<"',
            'indent 1',
            'regexFindAll "." -1',
            'reReplaceAll "x" "$0"',
            'safeHtml',
            'slice',
            'printf',
            'safeUrl',
            'urlUnescape',
            'toJson',
            'concat',
            'stringSlice',
            'values',
            'keys',
            'last',
            'uniq',
            'sortAlpha',
            'title',
          ),
          fc.array(tie('value'), { minLength: 1, maxLength: 2 }),
        )
        .map(([call, values]) => `(${call} ${values.join(' ')})`),
    ),
  }));
  const data = dataWith({ L: new TemplateMap({ v: '<x>&', '<n>': '<y', u: 'https://h/<' }, 'labels') });
  fc.assert(
    fc.property(expressions.value, (value) => {
      const source = `{{ ${value} }}`.replaceAll('"<"', '"L"').replaceAll('"<<"', '"LL"');
      const output = rendered(source, { data, format: marking, context: { lookup: () => '<cell>' } });
      expect(output.startsWith('✗') || !output.includes('<')).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
