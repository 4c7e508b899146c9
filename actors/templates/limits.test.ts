/** Templates that mean harm, or just too much: each ends within the limits, with the place of the error. */
import { describe, expect, test } from 'vitest';
import { dataWith, rendered } from './run.fixture.ts';
import type { OutputFormat } from './types.ts';
import { TemplateList, TemplateMap } from './values.ts';

const deep = (count: number, open: string, close: string) => `${open.repeat(count)}${close.repeat(count)}`;
const nested = (count: number) => `{{ ${'('.repeat(count)}1${')'.repeat(count)} }}`;

const GROWING = (step: string) =>
  `{{ $x := "ab" }}{{ range until 1000 }}{{ $x = ${step} }}{{ end }}{{ len $x }}`;

describe('what may be reached', () => {
  test.each([
    ['{{ range 1000 }}x{{ end }}', 'x'.repeat(1000)],
    [`{{ ${'repeat 1000 '.repeat(1)}"${'x'.repeat(50)}" }}`, 'x'.repeat(50_000)],
    ['{{ printf "%50000d" 1 }}', '1'.padStart(50_000)],
    ['{{ printf "%-50000s" "🔥" }}', '🔥'.padEnd(50_001)],
    [`${deep(100, '{{ if 1 }}', '{{ end }}')}`, ''],
    [nested(100), '1'],
    [`{{ if 0 }}{{ ${'else if 0 }}{{ '.repeat(500)}end }}`, ''],
    [
      '{{ define "r" }}{{ if lt . 99 }}{{ template "r" (add . 1) }}{{ else }}{{ . }}{{ end }}{{ end }}{{ template "r" 0 }}',
      '99',
    ],
    ['{{ $l := until 1000 }}{{ range until 99 }}{{ range $l }}{{ end }}{{ end }}ok', 'ok'],
    // Time that grows with the square of the text elsewhere.
    ['{{ match "(a|aa)+(a|aa)+$b" (repeat 1000 (repeat 50 "a")) }}', 'false'],
  ])('%.60s', (source, result) => {
    expect(rendered(source)).toBe(result);
  });

  test('blocks inside calls inside blocks do not use up the stack', () => {
    const body = `${'{{ with 1 }}'.repeat(98)}{{ template "r" }}${'{{ end }}'.repeat(98)}`;
    expect(rendered(`{{ define "r" }}${body}{{ end }}{{ template "r" }}`)).toContain(
      'calls nested deeper than 100',
    );
  });
});

describe('what ends with an error', () => {
  test.each([
    [
      'a range over too many numbers',
      '{{ range 1001 }}{{ end }}',
      '✗ 1:10 template_syntax more than 1000 items',
    ],
    ['a range over the largest number', '{{ range 9223372036854775807 }}{{ end }}', '✗ 1:10'],
    [
      'a list of too many numbers',
      'a{{ range until 1001 }}{{ end }}',
      '✗ 1:2 template_syntax more than 1000 items',
    ],
    [
      'a list by the smallest steps',
      '{{ untilStep 0 9223372036854775807 1 }}',
      '✗ 1:1 template_syntax more than 1000 items',
    ],
    ['a step of nothing', '{{ untilStep 0 1 0 }}', '✗ 1:4 template_syntax untilStep: the step must not be 0'],
    ['a long sequence', '{{ seq 1001 }}', '✗ 1:1 template_syntax more than 1000 items'],
    [
      'a wide indentation',
      '{{ indent 1001 "a" }}',
      '✗ 1:4 template_syntax indent: argument 1 must be at most 1000',
    ],
    [
      'ranges in ranges',
      '{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}',
      '✗ 1:23 template_syntax more than 100000 items',
    ],
    [
      'an endless recursion',
      '{{ define "r" }}\n {{ template "r" }}{{ end }}{{ template "r" }}',
      '✗ 2:2 template_syntax calls nested deeper than 100',
    ],
    [
      'a recursion one call too deep',
      '{{ define "r" }}{{ if lt . 100 }}{{ template "r" (add . 1) }}{{ end }}{{ end }}{{ template "r" 0 }}',
      '✗ 1:34 template_syntax calls nested deeper than 100',
    ],
    [
      'a recursion by two',
      '{{ define "a" }}{{ template "b" }}{{ end }}{{ define "b" }}{{ template "a" }}{{ end }}{{ template "a" }}',
      '✗ 1:60',
    ],
    [
      'a recursion that branches',
      '{{ define "r" }}{{ if lt . 60 }}{{ template "r" (add . 1) }}{{ template "r" (add . 1) }}{{ end }}{{ end }}{{ template "r" 0 }}',
      '✗ 1:33 template_syntax more than 10000 calls',
    ],
    [
      'an output that grows',
      '{{ range until 1000 }}{{ repeat 60 "x" }}{{ end }}',
      '✗ 1:23 template_syntax output is longer than 50000 characters',
    ],
    [
      'text that grows',
      `{{ range until 1000 }}${'x'.repeat(60)}{{ end }}`,
      '✗ 1:23 template_syntax output is longer than 50000 characters',
    ],
    ['a width beyond printf', '{{ printf "%50001d" 1 }}', '✗ 1:4'],
    [
      'many widths',
      '{{ printf "%50000d%50000d" 1 1 }}',
      '✗ 1:4 template_syntax printf: result is longer than 50000 characters',
    ],
    [
      'more widths',
      `{{ printf "${'%50000d'.repeat(1000)}" ${'1 '.repeat(1000)}}}`,
      '✗ 1:4 template_syntax printf: result is longer than 50000 characters',
    ],
    [
      'a list of widths',
      '{{ printf "%50000v" (until 1000) }}',
      '✗ 1:4 template_syntax printf: result is longer than 50000 characters',
    ],
    [
      'a repetition',
      '{{ repeat 1000 (repeat 1000 "ab") }}',
      '✗ 1:4 template_syntax repeat: result is longer than 50000 characters',
    ],
    [
      'repetitions that are doubled',
      GROWING('repeat 2 $x'),
      '✗ 1:47 template_syntax repeat: result is longer than 50000 characters',
    ],
    [
      'prints that are doubled',
      GROWING('print $x $x'),
      '✗ 1:47 template_syntax print: result is longer than 50000 characters',
    ],
    [
      'replacements',
      GROWING('replace "" $x $x'),
      '✗ 1:47 template_syntax replace: result is longer than 50000 characters',
    ],
    [
      'replacements of a character',
      GROWING('replace "a" $x $x'),
      '✗ 1:47 template_syntax replace: result is longer than 50000 characters',
    ],
    ['replacements by expression', GROWING('reReplaceAll "" $x $x'), '✗ 1:47'],
    ['expanded references', GROWING('reReplaceAll "(.*)" "$0$0$0$0" $x'), '✗ 1:47'],
    ['joined strings', GROWING('join $x (splitList "" $x)'), '✗ 1:47'],
    ['quotes of quotes', GROWING('quote $x $x'), '✗ 1:47'],
    ['escapes of escapes', GROWING('urlquery $x $x "%"'), '✗ 1:47'],
    ['JSON of JSON', GROWING('toJson (list $x $x)'), '✗ 1:47'],
    [
      'indented lines',
      '{{ nindent 1000 (join "\\n" (until 1000)) }}',
      '✗ 1:4 template_syntax nindent: result is longer than 50000 characters',
    ],
    ['lists that are doubled', GROWING('list $x $x'), '✗ 1:47 template_syntax list: result is '],
    ['lists in lists', GROWING('list $x'), '✗ 1:47 template_syntax list: result is nested deeper than 100'],
    ['maps in maps', GROWING('dict "k" $x'), '✗ 1:47 template_syntax dict: result is nested deeper than 100'],
    [
      'lists put together',
      '{{ $x := until 1000 }}{{ range until 1000 }}{{ $x = concat $x $x }}{{ end }}',
      '✗ 1:53 template_syntax concat: result has more than 10000 items',
    ],
    [
      'a split of everything',
      '{{ splitList "" (repeat 1000 (repeat 20 "x")) }}',
      '✗ 1:4 template_syntax splitList: result has more than 10000 items',
    ],
    ['nested parentheses', nested(101), '✗ 1:104 template_syntax nested deeper than 100'],
    ['endless parentheses', nested(9_000), '✗ 1:104 template_syntax nested deeper than 100'],
    ['open parentheses', `{{ ${'('.repeat(19_000)}`, '✗ 1:104 template_syntax nested deeper than 100'],
    ['nested blocks', deep(101, '{{if 1}}', '{{end}}'), '✗ 1:801 template_syntax nested deeper than 100'],
    [
      'blocks that stay open',
      '{{range list}}'.repeat(1_400),
      '✗ 1:1401 template_syntax nested deeper than 100',
    ],
    [
      'an expression that is repeated too often',
      '{{ match "(a{1000}){1000}" "a" }}',
      '✗ 1:4 template_syntax match: ',
    ],
    [
      'an expression that is too large',
      `{{ match "${'(a{900}b{900})'.repeat(20)}" "a" }}`,
      '✗ 1:4 template_syntax match: ',
    ],
    [
      'an expression that looks to the end again and again',
      '{{ $s := repeat 1000 (repeat 50 "a") }}{{ len (regexReplaceAllLiteral "a(.*b)?" "" $s) }}',
      '✗ 1:40 template_syntax the render took too long',
    ],
    [
      'new expressions over and over',
      '{{ range until 1000 }}{{ $x := match (printf "%s%d" (repeat 200 "(a|b)") .) "a" }}{{ end }}',
      '✗ 1:23 template_syntax the render took too long',
    ],
    [
      'work that shows nowhere',
      '{{ $s := repeat 1000 (repeat 50 "a") }}{{ range until 1000 }}{{ range until 90 }}{{ $x := toUpper $s }}{{ end }}{{ end }}',
      '✗ 1:82 template_syntax the render took too long',
    ],
  ])('%s', (_, source, result) => {
    const begun = performance.now();
    expect(rendered(source).slice(0, result.length)).toBe(result);
    // Far beyond what any machine needs, and below what the chapter allows a render.
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  test.each([
    ['a text that is gone through', '{{ $x := replace "" "" $s }}'],
    ['a text that is made', '{{ $x := repeat 1000 (repeat 50 "a") }}'],
    ['a large value that is written', '{{ $x := toJson (list $s) }}'],
  ])('%s costs what it takes', (_, work) => {
    let passes = 0;
    const lookup = () => {
      passes++;
      return '';
    };
    const source = `{{ $s := repeat 900 (repeat 50 "a") }}{{ range until 1000 }}{{ range until 90 }}${work}{{ $y := lookup "t" "k" "c" }}{{ end }}{{ end }}`;
    expect(rendered(source, { context: { lookup } })).toContain('the render took too long');
    expect(passes).toBeLessThan(500);
  });

  test('renders that are made in one go may do together what one may do alone', () => {
    const source = '{{ range until 1000 }}{{ range until 90 }}{{ if . }}{{ end }}{{ end }}{{ end }}ok';
    const effort = { steps: 0 };
    const inOneGo = Array.from({ length: 10 }, () => rendered(source, { context: { effort } }));
    expect(inOneGo[0]).toBe('ok');
    expect(inOneGo.at(-1)).toContain('the render took too long');
    expect(rendered(source)).toBe('ok');
  });

  test('a clock that ran away ends a render', () => {
    let now = 0;
    const monotonic = () => {
      now += 1_900_000;
      return now;
    };
    expect(
      rendered('{{ range until 1000 }}{{ add 1 1 | print | len }}{{ end }}', { context: { monotonic } }),
    ).toMatch(/^✗ 1:\d+ template_syntax the render took too long$/);
  });
});

describe('regular expressions', () => {
  const long = '(repeat 1000 (repeat 40 "a"))';
  const cyrillic = '(repeat 1000 (repeat 40 "й"))';
  const tooLong =
    'template_syntax the render took too long: use fewer or simpler regular expressions, or shorter texts';
  const times = (count: number, action: string) =>
    `{{ range $i := until ${count} }}{{ $y := ${action} }}{{ end }}`;

  test.each([
    ['a repeated class in a text', times(100, `regexMatch \`(?i)[^b]{500}!\` ${long}`), `✗ 1:28 ${tooLong}`],
    [
      'dots in a text',
      times(10, `regexMatch \`(?s).{900}!\` ${long}`),
      '✗ 1:27 template_syntax the render took too long',
    ],
    [
      'a part that is looked for',
      times(100, 'regexFind `(?i)[^a]{500}!?` (repeat 1000 "йййй")'),
      `✗ 1:28 ${tooLong}`,
    ],
    [
      'one expression after the other',
      times(1000, 'regexMatch (print "(a|b){500}(c|d){400}" $i) "aaaa"'),
      `✗ 1:29 ${tooLong}`,
    ],
    [
      'small ones, one after the other',
      times(1000, 'regexMatch (printf `^(?:a|%db|c)$` $i) "a"'),
      `✗ 1:29 ${tooLong}`,
    ],
    [
      'repeated Unicode classes',
      `{{ match \`(?i)(\\pL|\\pN|\\pS){1,400}!\` ${cyrillic} }}`,
      '✗ 1:4 template_syntax match: expression is too large',
    ],
    [
      'ranges that ignore case',
      `{{ match \`(?i)[${'B-\\x{1E942}'.repeat(200)}]\` "a" }}`,
      `✗ 1:1 ${tooLong}`,
    ],
    ['many Unicode classes', `{{ match \`(?i)[${'\\pL'.repeat(700)}]\` "a" }}`, `✗ 1:1 ${tooLong}`],
    [
      'a repetition of repetitions',
      '{{ match (repeat 900 "a{1000}") "a" }}',
      '✗ 1:4 template_syntax match: expression is too large',
    ],
    [
      'states without end',
      `{{ $x := "" }}{{ range $i := until 1000 }}{{ $x = print $x (printf "%b" (mul $i $i 7919)) }}{{ end }}${times(20, 'regexMatch `1[01]{300}2` $x')}`,
      '✗ ',
    ],
  ])('%s end with an error', (_, source, result) => {
    expect(rendered(source).slice(0, result.length)).toBe(result);
  });

  test.each([
    ['a repeated class', times(10, `regexMatch \`(?i)[^b]{500}!\` ${long}`), 500_000],
    ['a repeated class of all but a', `{{ $y := regexMatch \`(?i)[^a]{500}!\` ${cyrillic} }}`, 250_000],
    ['the same in a shorter text', times(100, 'regexMatch `(?i)[^a]{500}!` (repeat 1000 "йййй")'), 300_000],
    ['Unicode classes', `{{ $y := regexMatch \`(?i)(\\pL|\\pN|\\pS){1,200}!\` ${cyrillic} }}`, 250_000],
  ])('%s is paid for', (_, source, least) => {
    const effort = { steps: 0 };
    expect(rendered(source, { context: { effort } })).toBe('');
    expect(effort.steps).toBeGreaterThan(least);
  });

  const labels = '(repeat 400 "node-17-ab")';
  const lines = `(repeat 50 "${'2026-03-09T14:05:00Z ERROR payments/checkout-7f9c GET /api/v1 timeout 30s pod=x '}")`;
  test.each([
    ['a prefix', `regexMatch \`^node-\` ${labels}`],
    ['alternatives', `regexMatch \`foo|bar|baz|qux\` ${labels}`],
    ['anything between', `regexMatch \`.*foo.*bar\` ${labels}`],
    ['a class', `regexMatch \`[a-z0-9-]+!\` ${labels}`],
    ['an end', `regexMatch \`[a-z0-9-]+$\` ${labels}`],
    ['a word', `regexMatch \`\\bcheckout-[0-9a-f]{4}x\\b\` ${lines}`],
    ['either case', `regexMatch \`(?i)error: .*timeout$\` ${lines}`],
    ['an address', `regexFind \`(?:[0-9]{1,3}\\.){3}[0-9]{1,3}\` ${lines}`],
    ['letters', `regexFind \`\\pL+\` ${lines}`],
  ])('%s is cheap', (_, action) => {
    const effort = { steps: 0 };
    expect(rendered(times(100, action), { context: { effort } })).toBe('');
    expect(effort.steps).toBeLessThan(300_000);
  });
});

describe('data', () => {
  const big = new TemplateMap({ a: 'x'.repeat(30_000), b: 'y'.repeat(30_000) }, 'labels');

  test('costs a list nothing, however large it is', () => {
    const data = dataWith({ L: new TemplateList(Array.from({ length: 1_000 }, () => big)) });
    expect(rendered('{{ len (reverse .L) }}', { data })).toBe('1000');
  });

  test('is not printed beyond the limit', () => {
    const data = dataWith({ L: new TemplateList(Array.from({ length: 1_000 }, () => big)) });
    expect(rendered('{{ .L }}', { data })).toBe(
      '✗ 1:1 template_syntax output is longer than 50000 characters',
    );
    expect(rendered('{{ print .L }}', { data })).toContain('print: result is longer than 50000 characters');
    expect(rendered('{{ toJson .L }}', { data })).toContain('toJson: result is longer than 50000 characters');
  });
});

describe('output that a format makes longer', () => {
  const format: OutputFormat = {
    name: 'markdown',
    escape: (value) => value.replaceAll('x', '\\x'),
    link: (url) => url,
    finish: (output) => output,
  };

  test('counts as it is put out', () => {
    const data = dataWith({ V: 'x'.repeat(4_000) });
    const source = '{{ range until 7 }}{{ $.V }}{{ end }}';
    expect(rendered(source, { data })).toHaveLength(28_000);
    expect(rendered(source, { data, format })).toBe(
      '✗ 1:20 template_syntax output is longer than 50000 characters',
    );
  });
});
