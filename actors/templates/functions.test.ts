import { describe, expect, test } from 'vitest';
import { dataWith, FIVE_PAST_TWO, rendered } from './run.fixture.ts';
import { TemplateMap, TemplateObject, TemplateTime } from './values.ts';

function table(cases: readonly (readonly [source: string, result: string])[]): void {
  test.each(cases)('%j gives %j', (source, result) => {
    const output = rendered(source);
    expect(result.startsWith('✗') ? output.slice(0, result.length) : output).toBe(result);
  });
}

describe('strings', () => {
  table([
    [
      '{{ toUpper "été" }} {{ toLower "ÉTÉ" }} {{ title "disk of a-b is_full don\'t" }}',
      "ÉTÉ été Disk Of A-B Is_full Don't",
    ],
    ['[{{ trim " a " }}] [{{ trimSpace "\\ta\\n" }}] [{{ trimAll "$-" "$-a-$" }}]', '[a] [a] [a]'],
    ['{{ trimPrefix "a" "ab" }} {{ trimSuffix "b" "ab" }} {{ trimPrefix "x" "ab" }}', 'b a ab'],
    ['{{ contains "b" "abc" }} {{ hasPrefix "b" "abc" }} {{ hasSuffix "c" "abc" }}', 'true false true'],
    ['{{ replace "a" "xy" "banana" }} {{ replace "" "-" "ab" }}', 'bxynxynxy -a-b-'],
    ['{{ repeat 3 "ab" }}[{{ repeat 0 "ab" }}]', 'ababab[]'],
    ['{{ trunc 2 "héllo" }} {{ trunc -2 "héllo" }} {{ trunc 9 "hé" }}', 'hé lo hé'],
    ['{{ ellipsis 4 "héllo" }} {{ ellipsis 5 "héllo" }} [{{ ellipsis 0 "a" }}]', 'hél… héllo []'],
    ['{{ indent 2 "a\\nb" }}|{{ nindent 1 "a" }}', '  a\n  b|\n a'],
    ['{{ quote "a\\"" 1 nil }} {{ squote "a" 2 }}', '"a\\"" "1" "" \'a\' \'2\''],
    [
      '{{ splitList "" "aé" }} {{ stringSlice "a" "b" }} {{ join ", " (list 1 "a" nil) }}',
      '[a é] [a b] 1, a, <nil>',
    ],
    ['{{ stringSlice 1 }}', '✗ 1:4 template_syntax stringSlice: argument 1 must be string, not int'],
    ['{{ toUpper "a" "b" }}', '✗ 1:4 template_syntax toUpper takes 1 argument, got 2'],
    ['{{ toUpper nil }}', '✗ 1:4 template_syntax toUpper: argument 1 must be string, not nil'],
    ['{{ eq 1 }}', '✗ 1:4 template_syntax eq takes at least 2 arguments, got 1'],
    ['{{ seq }}', '✗ 1:4 template_syntax seq takes 1 to 3 arguments, got 0'],
  ]);
});

describe('regular expressions', () => {
  table([
    ['{{ match "b+" "abbc" }} {{ regexMatch "^b" "abc" }}', 'true false'],
    ['{{ regexFind "[0-9]+" "a12b3" }}[{{ regexFind "x" "a" }}]', '12[]'],
    [
      '{{ regexFindAll "[0-9]" -1 "1a2b3" }} {{ regexFindAll "[0-9]" 2 "1a2b3" }} {{ regexFindAll "a" 0 "a" }}',
      '[1 2 3] [1 2] []',
    ],
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are references of the replacement.
    ['{{ regexReplaceAll "(?P<n>b)" "<${n}>$0$x$$" "abc" }}', 'a<b>b$c'],
    ['{{ reReplaceAll "(a)" "$1x" "a" }}.{{ reReplaceAll "(a)" "${1}x" "a" }}', '.ax'],
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are references of the replacement.
    ['{{ reReplaceAll "" "-" "a🔥" }} {{ reReplaceAll "a*" "-" "baac" }}', '-a-🔥- -b-c-'],
    ['{{ regexReplaceAllLiteral "b" "$0" "abc" }} {{ regexQuoteMeta "a.b[c]" }}', 'a$0c a\\.b\\[c\\]'],
    ['{{ match "(" "a" }}', '✗ 1:4 template_syntax match: '],
    ['{{ match "(?=a)" "a" }}', '✗ 1:4 template_syntax match: '],
  ]);
});

describe('URLs', () => {
  table([
    ['{{ urlUnescape "a+b%2F%c3%a9é" }} {{ urlPathEscape "a b/é:@" }}', 'a b/éé a%20b%2F%C3%A9:@'],
    ['{{ urlUnescape "%zz" }}', '✗ 1:4 template_syntax urlUnescape: bad escape'],
    ['[{{ queryParam "a" "http://h/p?b=1&a=x+y&a=2#a=3" }}] [{{ queryParam "q" "http://h" }}]', '[x y] []'],
    [
      '[{{ safeUrl " https://h/p " }}] [{{ safeUrl "javascript:alert(1)" }}] {{ safeHtml "<b>" }}',
      '[https://h/p] [] <b>',
    ],
  ]);
});

describe('conversions and choices', () => {
  table([
    [
      '{{ default 1 0 }} {{ default 1 2 }} {{ empty "" }} {{ coalesce "" 0 "c" }} {{ ternary 1 2 "" }}',
      '1 2 true c 2',
    ],
    ['[{{ coalesce 0 "" }}] [{{ toString nil }}] {{ toString 1.5 }}', '[<no value>] [] 1.5'],
    ['{{ toInt "42" }} {{ toInt 2.9 }} {{ toInt -2.9 }} {{ toInt true }} {{ toInt "1.5" }}', '42 2 -2 1 1'],
    ['{{ toInt "x" }}', '✗ 1:4 template_syntax toInt: the string is no int'],
    ['{{ toInt 1e30 }}', '✗ 1:4'],
    ['{{ toInt list }}', '✗ 1:4'],
    [
      '{{ toFloat "2.50" }} {{ toFloat 2 }} {{ toBool "true" }} {{ toBool 0 }} {{ toBool "1" }}',
      '2.5 2 true false true',
    ],
    [
      '{{ toJson (list 1 2.5 1e21 "<&>\\u2028" true nil) }}',
      '[1,2.5,1e+21,"\\u003c\\u0026\\u003e\\u2028",true,null]',
    ],
    [
      '{{ toJson .AlertGroup.StartedAt }} {{ toJson (tz "Asia/Kolkata" .AlertGroup.StartedAt) }}',
      '"2026-03-09T14:05:00Z" "2026-03-09T19:35:00+05:30"',
    ],
    [
      '{{ toJson (index .Alerts 0) }} {{ toJson (dict "z" 1 "é" 2 "a" 3) }}',
      '{"Status":"firing","Labels":{"pod":"a"}} {"a":3,"z":1,"é":2}',
    ],
    ['{{ toJson (.AlertGroup.StartedAt.Sub .AlertGroup.StartedAt) }}', '0'],
    ['{{ toJson (div 1e308 1e-308) }}', '✗ 1:4 template_syntax toJson: infinity has no JSON'],
  ]);
});

describe('numbers', () => {
  table([
    [
      '{{ add 1 2 3 }} {{ add 1 0.5 }} {{ sub 10 3 2 }} {{ mul 2 3 }} {{ div -7 2 }} {{ mod -7 3 }}',
      '6 1.5 5 6 -3 -1',
    ],
    ['{{ max 1 3 2 }} {{ min 1.5 2 }}', '3 1.5'],
    ['{{ add 9223372036854775807 1 }}', '✗ 1:4 template_syntax add: the result is too large for an int'],
    ['{{ div 1 0 }}', '✗ 1:4 template_syntax div: division by zero'],
    ['{{ mod 1.5 1 }}', '✗ 1:4 template_syntax mod: argument 1 must be int, not float'],
    ['{{ add 1 "2" }}', '✗ 1:4 template_syntax add: argument 2 must be int or float, not string'],
    [
      '{{ until 3 }} {{ until -1 }} {{ untilStep 1 8 3 }} {{ untilStep 3 0 -1 }}',
      '[0 1 2] [] [1 4 7] [3 2 1]',
    ],
    ['{{ seq 3 }}|{{ seq 2 4 }}|{{ seq 1 2 6 }}|{{ seq 3 1 }}', '1 2 3|2 3 4|1 3 5|3 2 1'],
  ]);
});

describe('lists and maps', () => {
  table([
    ['{{ first (list 1 2) }} {{ last (list 1 2) }} [{{ first list }}]', '1 2 [<no value>]'],
    [
      '{{ rest (list 1 2 3) }} {{ initial (list 1 2 3) }} {{ reverse (list 1 2) }} {{ rest list }}',
      '[2 3] [1 2] [2 1] []',
    ],
    [
      '{{ uniq (list 1 "1" 1 1.0 "1") }} {{ sortAlpha (list "b" "a" "é" "🔥" "\\uffff") }}',
      '[1 1 1] [a b é \uffff 🔥]',
    ],
    [
      '{{ has 1 (list 1 2) }} {{ has "1" (list 1 2) }} {{ concat (list 1) (list 2 3) }}',
      'true false [1 2 3]',
    ],
    [
      '{{ get "k" (dict "k" 1) }} {{ hasKey "x" (dict "k" 1) }} {{ keys (dict "b" 1 "a" 2) }} {{ values (dict "b" 1 "a" 2) }}',
      '1 false [a b] [2 1]',
    ],
    ['[{{ get "none" .CommonLabels }}] [{{ get "none" (dict) }}]', '[] [<no value>]'],
    ['{{ dict "a" }}', '✗ 1:4 template_syntax dict: the last key has no value'],
    ['{{ dict 1 2 }}', '✗ 1:4 template_syntax dict: argument 1 must be string, not int'],
    ['{{ .Alerts.Resolved.Firing }} {{ len .Alerts.Firing }}', '[] 1'],
    [
      '{{ .CommonLabels.SortedPairs.Names }} {{ .CommonLabels.SortedPairs.Values }} {{ .CommonLabels.Names }}',
      '[cluster ns] [prod shop] [cluster ns]',
    ],
    ['{{ (.CommonLabels.Remove (list "ns")).ns }}.', '.'],
    [
      '{{ index "héllo" 1 }} {{ slice "héllo" 2 }} {{ slice "héllo" 0 2 }} {{ slice "🔥" 1 3 }}',
      '195 \uFFFDllo h\uFFFD \uFFFD',
    ],
    ['{{ slice (list 1 2 3) 1 }} {{ index (list (list 7)) 0 0 }}', '[2 3] 7'],
    ['{{ slice "abc" 2 1 }}', '✗ 1:4'],
    ['{{ index .CommonLabels 1 }}', '✗ 1:4 template_syntax index: argument 2 must be string, not int'],
  ]);

  test('a label named like a method wins over it, and only then', () => {
    const labels = new TemplateMap({ Names: 'mine', alertname: 'A' }, 'labels');
    const data = dataWith({ L: labels });
    expect(rendered('{{ .L.Names }} {{ index .L "Values" }} {{ .L.Values }}', { data })).toBe(
      'mine  [A mine]',
    );
    expect(rendered('{{ .L.Names 1 }}', { data })).toBe('✗ 1:6 template_syntax "Names" takes no arguments');
  });

  test('keys that every object has are no labels', () => {
    expect(rendered('[{{ .CommonLabels.constructor }}{{ index .CommonLabels "__proto__" }}]')).toBe('[]');
    expect(rendered('{{ .constructor }}')).toBe('✗ 1:4 template_syntax no field "constructor" in Data');
    expect(rendered('{{ (dict "__proto__" 1).__proto__ }}')).toBe('1');
    expect(rendered('{{ .AlertGroup.StartedAt.constructor }}')).toBe(
      '✗ 1:25 template_syntax no field "constructor" in time',
    );
  });
});

describe('times', () => {
  table([
    ['{{ now }} {{ since (now.Add (now.Sub now)) }}', '2026-03-09 14:05:00 +0000 UTC 0s'],
    [
      '{{ now.Unix }} {{ now.UnixMilli }} {{ now.Year }}-{{ now.Month }}-{{ now.Day }} {{ now.Weekday }} {{ now.IsZero }}',
      '1773065100 1773065100000 2026-3-9 Monday false',
    ],
    [
      '{{ date "2006-01-02T15:04:05Z07:00 -0700 -07:00 MST" (tz "America/New_York" now) }}',
      '2026-03-09T10:05:00-04:00 -0400 -04:00 UTC-04:00',
    ],
    ['{{ date "06 Jan _2 3:4:5 pm .000 ,999 Month" now }}', '26 Mar  9 2:5:0 pm .000  Month'],
    ['{{ tz "Nowhere/City" now }}', '✗ 1:4 template_syntax tz: there is no zone "Nowhere/City"'],
    ['{{ tz "" now }}', '✗ 1:4'],
    [
      '{{ lt now (tz "Asia/Tokyo" now) }} {{ eq now (tz "Asia/Tokyo" now) }} {{ (tz "Asia/Tokyo" now).UTC }}',
      'false true 2026-03-09 14:05:00 +0000 UTC',
    ],
    [
      '{{ humanizeDuration 0 }} {{ humanizeDuration 60 }} {{ humanizeDuration 86400 }} {{ humanizeDuration -90 }} {{ humanizeDuration 1.5 }}',
      '0s 1m 0s 1d 0h 0m 0s -1m 30s 1s',
    ],
    ['{{ humanizeDuration "1" }}', '✗ 1:4'],
    ['{{ date "2006" 5 }}', '✗ 1:4 template_syntax date: argument 2 must be time, not int'],
  ]);

  test.each([
    ['2026-03-29T00:59:59Z', '2026-03-29 01:59:59 UTC+01:00'],
    ['2026-03-29T01:00:00Z', '2026-03-29 03:00:00 UTC+02:00'],
    ['2026-03-28T12:00:00Z', '2026-03-28 13:00:00 UTC+01:00'],
    ['2026-03-30T12:00:00Z', '2026-03-30 14:00:00 UTC+02:00'],
    ['2026-10-25T00:30:00Z', '2026-10-25 02:30:00 UTC+02:00'],
    ['2026-10-25T01:30:00Z', '2026-10-25 02:30:00 UTC+01:00'],
  ])('at %s Berlin reads %s', (instant, shown) => {
    const data = dataWith({ At: TemplateTime.of(Date.parse(instant) * 1000, 'Europe/Berlin') });
    expect(rendered('{{ date "2006-01-02 15:04:05 MST" .At }}', { data })).toBe(shown);
  });

  test('an end that has not come is the zero time', () => {
    const data = dataWith({ At: new TemplateTime(-62_135_596_800_000_000_000n, 'UTC') });
    expect(rendered('{{ .At }} {{ .At.IsZero }}', { data })).toBe('0001-01-01 00:00:00 +0000 UTC true');
    expect(rendered('{{ tz "Asia/Tokyo" .At | date "2006-01-02" }} {{ since .At }}', { data })).toBe(
      '0001-01-01 2562047h47m16.854775807s',
    );
  });

  test('durations read as numbers of a unit', () => {
    const data = dataWith({ From: TemplateTime.of(FIVE_PAST_TWO - 5_400_500_000, 'UTC') });
    const source =
      '{{ with since .From }}{{ . }} {{ .Hours }} {{ .Minutes }} {{ .Seconds }} {{ humanizeDuration . }}{{ end }}';
    expect(rendered(source, { data })).toBe('1h30m0.5s 1.500138888888889 90.00833333333334 5400.5 1h 30m 0s');
  });
});

describe('Lookup tables and Mentions', () => {
  const lookup = (table: string, key: string, column: string) => `${table}/${key}/${column}`;

  test('a cell is looked up by table, key and column; nil is no key', () => {
    const source = '{{ lookup "t" .CommonLabels.ns "c" }}[{{ lookup "t" nil "c" }}]';
    expect(rendered(source, { context: { lookup } })).toBe('t/shop/c[]');
  });

  test('at most 100 rows, shared with the other renders of a message', () => {
    const source = '{{ range until 60 }}{{ lookup "t" (toString .) "c" }}{{ lookup "t" "0" "d" }}{{ end }}';
    const lookedUp = new Set<string>();
    expect(rendered(source, { context: { lookup, lookedUp } })).toContain('t/59/c');
    expect(rendered(source.replace('"t"', '"u"'), { context: { lookup, lookedUp } })).toBe(
      '✗ 1:21 template_syntax more than 100 rows of Lookup tables',
    );
  });

  test.each([
    ['{{ mention "all" }} {{ mention "owner" }} {{ mention "group" "ops" }}', '@all @owner @group'],
    ['{{ mention "group" }}', '✗ 1:4 template_syntax mention: argument 2 must be string, not nil'],
    ['{{ mention "alice" }}', '✗ 1:4 template_syntax mention: there is no Mention "alice"'],
    ['{{ mention "all" "x" }}', '✗ 1:4 template_syntax mention: "all" takes no name'],
  ])('%j gives %j', (source, result) => {
    expect(rendered(source)).toBe(result);
  });

  test('links have no mention; nor has a place whose context has none', () => {
    const unknown = '✗ 1:4 unknown_function function "mention" is not defined';
    expect(rendered('{{ mention "all" }}', { kind: 'link_rule' })).toBe(unknown);
    expect(rendered('{{ mention "all" }}', { context: { mention: () => null } })).toBe(unknown);
  });

  test('webhook requests mention what they list', () => {
    const target = new TemplateObject('Mention', {
      Type: 'user',
      Everyone: '',
      Name: 'Alice',
      ID: 'U',
      Login: 'alice',
    });
    const context = {
      mention: (asked: { readonly type: string; readonly login?: string }) => `@${asked.login ?? asked.type}`,
    };
    const options = { kind: 'webhook_request', data: dataWith({ M: target }), context } as const;
    expect(rendered('{{ mention .M }}', options)).toBe('@alice');
    expect(rendered('{{ mention "all" }}', options)).toBe(
      '✗ 1:4 template_syntax mention: give one target of .Mentions',
    );
  });
});
