/** Syntax and the places of errors beyond the table of templates §11. */
import { describe, expect, test } from 'vitest';
import { rendered } from './run.fixture.ts';
import { lookupTablesOf, parseTemplate } from './template.ts';

describe('the one error of a template', () => {
  test.each([
    ['a {{ 1', '✗ 1:3 template_syntax unclosed action'],
    ['🔥{{/* x', '✗ 1:2 template_syntax unclosed comment'],
    ['{{ "x }}', '✗ 1:4 template_syntax unterminated string'],
    ['{{ `x }}', '✗ 1:4 template_syntax unterminated string'],
    ['{{ "a\n" }}', '✗ 1:4 template_syntax unterminated string'],
    ['{{ "\\q" }}', '✗ 1:5 template_syntax bad escape in string'],
    ['{{ "\\ud800" }}', '✗ 1:5 template_syntax bad escape in string'],
    ["{{ 'ab' }}", "✗ 1:4 template_syntax bad character 'ab'"],
    ['{{ 1- }}', '✗ 1:4 template_syntax bad number "1-"'],
    ['{{ 1i }}', '✗ 1:4 template_syntax bad number "1i"'],
    ['{{ 0x1p4 }}', '✗ 1:4 template_syntax bad number "0x1p4"'],
    ['{{ 089 }}', '✗ 1:4 template_syntax bad number "089"'],
    ['{{ 1_ }}', '✗ 1:4 template_syntax bad number "1_"'],
    ['{{ }}', '✗ 1:4 template_syntax missing value'],
    ['{{ if }}{{ end }}', '✗ 1:7 template_syntax missing value'],
    ['{{ 1 | }}', '✗ 1:8 template_syntax missing value'],
    ['{{ () }}', '✗ 1:5 template_syntax missing value'],
    ['{{ (1 }}', '✗ 1:7 template_syntax unexpected "}}"'],
    ['{{ 1) }}', '✗ 1:5 template_syntax unexpected ")"'],
    ['{{ 1 2 }}', '✗ 1:6 template_syntax unexpected "2"'],
    ['{{ $ 2 }}', '✗ 1:6 template_syntax unexpected "2"'],
    ['{{ "a""b" }}', '✗ 1:7 template_syntax unexpected "b"'],
    ['{{ "a".b }}', '✗ 1:7 template_syntax unexpected ".b"'],
    ['{{ print(1) }}', '✗ 1:9 template_syntax unexpected "("'],
    ['{{ 1 | nil }}', '✗ 1:8 template_syntax unexpected "nil"'],
    ['{{ a% }}', '✗ 1:5 template_syntax unexpected "%"'],
    ['{{ .a% }}', '✗ 1:6 template_syntax unexpected "%"'],
    ['{{ 1 := 2 }}', '✗ 1:6 template_syntax unexpected ":="'],
    ['{{ $a, $b := 1 }}', '✗ 1:4 template_syntax variable $a is not defined'],
    ['{{ range $a, $b, $c := list }}{{ end }}', '✗ 1:14 template_syntax unexpected "$b"'],
    ['{{ $x = 1 }}', '✗ 1:4 template_syntax variable $x is not defined'],
    ['{{ $x := $x }}', '✗ 1:10 template_syntax variable $x is not defined'],
    [
      '{{ if 1 }}{{ $y := 1 }}{{ else }}{{ $y }}{{ end }}',
      '✗ 1:37 template_syntax variable $y is not defined',
    ],
    ['{{ define "t" }}{{ $x }}{{ end }}{{ $x := 1 }}', '✗ 1:20 template_syntax variable $x is not defined'],
    ['{{ end }}', '✗ 1:4 template_syntax unexpected {{end}}'],
    ['{{ else }}', '✗ 1:4 template_syntax unexpected {{else}}'],
    ['{{ if 1 }}{{ else }}{{ else }}{{ end }}', '✗ 1:24 template_syntax unexpected {{else}}'],
    ['{{ if 1 }}{{ else with 1 }}{{ end }}', '✗ 1:19 template_syntax unexpected "with"'],
    ['{{ with 1 }}{{ else if 1 }}{{ end }}', '✗ 1:21 template_syntax unexpected "if"'],
    ['{{ if 1 }}{{ end 1 }}', '✗ 1:18 template_syntax unexpected "1"'],
    ['{{ range list }}', '✗ 1:1 template_syntax missing {{end}} for {{range}}'],
    ['{{ if 1 }}{{ else }}', '✗ 1:1 template_syntax missing {{end}} for {{if}}'],
    ['{{ define "a" }}', '✗ 1:1 template_syntax missing {{end}} for {{define}}'],
    [
      'x{{ if 1 }}{{ define "a" }}{{ end }}{{ end }}',
      '✗ 1:12 template_syntax {{define}} must be at top level',
    ],
    [
      '{{ define "a" }}{{ end }}{{ define "a" }}{{ end }}',
      '✗ 1:36 template_syntax template "a" is defined twice',
    ],
    ['{{ define x }}{{ end }}', '✗ 1:11 template_syntax unexpected "x"'],
    ['{{ template x }}', '✗ 1:13 template_syntax unexpected "x"'],
    [
      '{{ range list }}{{ define "x" }}{{ end }}{{ end }}',
      '✗ 1:17 template_syntax {{define}} must be at top level',
    ],
    [
      '{{ range list }}{{ block "x" . }}{{ break }}{{ end }}{{ end }}',
      '✗ 1:34 template_syntax {{break}} outside {{range}}',
    ],
    [
      '{{ range list }}{{ else }}{{ continue }}{{ end }}',
      '✗ 1:27 template_syntax {{continue}} outside {{range}}',
    ],
    ['{{ call . }}', '✗ 1:4 unknown_function function "call" is not defined'],
    ['{{ nope }}{{ if }}', '✗ 1:17 template_syntax missing value'],
    ['{{ nope }}{{ other }}{{ .Nope }}', '✗ 1:4 unknown_function function "nope" is not defined'],
    ['{{ .Nope }}{{ index .Alerts 9 }}', '✗ 1:4 template_syntax no field "Nope" in Data'],
    ['a\n  é{{ .Nope }}', '✗ 2:7 template_syntax no field "Nope" in Data'],
    ['{{ .AlertGroup.Number 1 }}', '✗ 1:15 template_syntax "Number" takes no arguments'],
    ['{{ 1 | .AlertGroup.Number }}', '✗ 1:19 template_syntax "Number" takes no arguments'],
    [
      '{{ .AlertGroup.StartedAt.Format 1 }}',
      '✗ 1:25 template_syntax Format: argument 1 must be string, not int',
    ],
    ['{{ "2006" | .AlertGroup.StartedAt.Format }}', '2026'],
    ['{{ range $i, $v := 3 }}{{ end }}', '✗ 1:20 template_syntax cannot range over int with two variables'],
    ['{{ range 1.5 }}{{ end }}', '✗ 1:10 template_syntax cannot range over float'],
    ['{{ range .AlertGroup }}{{ end }}', '✗ 1:10 template_syntax cannot range over AlertGroup'],
    ['{{ eq (list) (list) }}', '✗ 1:4 template_syntax eq: cannot compare list and list'],
    ['{{ lt nil 1 }}', '✗ 1:4 template_syntax lt: cannot compare nil and int'],
    ['{{ printf "%[1]d" 1 }}', '✗ 1:4 template_syntax printf: [ is not supported in a format'],
    ['{{ printf "%60000d" 1 }}', '✗ 1:4 template_syntax printf: width is more than 50000'],
  ])('%j is %j', (source, result) => {
    expect(rendered(source)).toBe(result);
  });
});

describe('what Go allows', () => {
  test.each([
    ['{{ "\\xc3\\xa9\\303\\251\\xff" }} {{ "\\\'" }}', "éé\uFFFD '"],
    ['{{ `a\r\nb` }}', 'a\nb'],
    ["{{ '\\n' }} {{ 'é' }} {{ '\\'' }}", '10 233 39'],
    ['{{ ($x := 5) }}{{ $x }}', '55'],
    ['{{ now.Year }} {{ (now).Year }}', '2026 2026'],
    ['{{ .AlertGroup.Number\n| printf "%d" }}', '412'],
    ['{{- 3 -}}\n\t {{- 4 }}', '34'],
    ['{{ range $i, $e := list "a" "b" }}{{ $i }}{{ end }}', '01'],
    ['{{ range $x := list }}{{ else }}{{ $x }}{{ end }}', '[]'],
    ['{{ $v := 1 }}{{ range $v = list 2 3 }}{{ end }}{{ $v }}', '3'],
    [
      '{{ range list 1 2 3 4 }}{{ if eq . 3 }}{{ break }}{{ end }}{{ with . }}{{ if eq . 2 }}{{ continue }}{{ end }}{{ end }}{{ . }}{{ end }}',
      '1',
    ],
    ['{{ with 0 }}{{ else with 2 }}{{ . }}{{ else }}x{{ end }}', '2'],
    ['{{ with $x := 3 }}{{ . }}{{ $x }}{{ end }}', '33'],
    ['{{ define "t" }}{{ $ }}{{ . }}{{ end }}{{ with 1 }}{{ template "t" . }}{{ end }}', '11'],
    ['{{ template "t" 1 }}{{ define "t" }}{{ . }}{{ end }}', '1'],
    ['{{ if or nil 0 "" (list) (dict) }}x{{ else }}none{{ end }}', 'none'],
    ['{{ if .AlertGroup }}object{{ end }}', 'object'],
    ['{{ eq nil nil }} {{ eq nil 1 }} {{ ne nil (list) }}', 'true false true'],
    ['{{ 1 | and 0 | print "x" }}', 'x0'],
    ['{{.CommonLabels.имя}}', ''],
    ['{{ $имя := 1 }}{{ $имя }}', '1'],
    ['{{ printf "%v %d" (list 1 "a") (list 1 2) }}', '[1 a] [1 2]'],
    [
      '{{ printf "%T %T %T %T %T" 1 1.5 "s" true (list) }} {{ printf "%T" nil }}',
      'int float64 string bool list <nil>',
    ],
    ['{{ printf "%#v %+v %#q" "a" 1 "b" }}', '"a" 1 `b`'],
    ['{{ printf "%.40f|%.0f|%.0f" 0.1 0.5 1.5 }}', '0.1000000000000000055511151231257827021182|0|2'],
  ])('%j gives %j', (source, result) => {
    expect(rendered(source)).toBe(result);
  });
});

test('tables that stand as constants are known without rendering', () => {
  const source =
    '{{ lookup "a" .x "c" }}{{ if (lookup "b" . "c") }}{{ . | lookup "d" "e" }}{{ end }}{{ define "t" }}{{ (lookup "a" . "c").x }}{{ lookup $.x . "y" }}{{ end }}';
  const parsed = parseTemplate('link_rule', source);
  expect(parsed.ok && lookupTablesOf(parsed.template)).toEqual(['a', 'b', 'd']);
});
