import { describe, expect, test } from 'vitest';
import { parseSecretTemplate, renderSecretTemplate } from './webhook-config.ts';

function render(source: string): string {
  const parsed = parseSecretTemplate(source);
  if (!parsed.ok) return `${parsed.error.code} ${parsed.error.line}:${parsed.error.column}`;
  const names = [...parsed.reads.keys()].filter((name) => name !== 'none');
  const secrets = Object.fromEntries(names.map((name) => [name, `<${name}>`]));
  const rendered = renderSecretTemplate(parsed.template, secrets, 0, { steps: 0 });
  if (rendered.ok) return rendered.text;
  const { code, line, column, message } = rendered.error;
  return `${code} ${line}:${column} ${message}`;
}

describe('what may be written', () => {
  test.each([
    ['plain text }} stays', 'plain text }} stays'],
    ['Bearer {{ .Secrets.token }}', 'Bearer <token>'],
    ['{{.Secrets.token}}', '<token>'],
    ['{{ $.Secrets.token }}', '<token>'],
    ['{{ index .Secrets "token" }}', '<token>'],
    ['{{ index $.Secrets `token` }}', '<token>'],
    ['{{ .Secrets._a1 }}-{{ .Secrets.B }}', '<_a1>-<B>'],
    ['{{ .Secrets.token | urlquery }}', '%3Ctoken%3E'],
    ['{{ printf "%s:%s" .Secrets.a (index .Secrets "b") }}', '<a>:<b>'],
    ['{{ if true }}{{ .Secrets.token }}{{ end }}', '<token>'],
    ['{{ with .Secrets.token }}{{ . }}{{ end }}', '<token>'],
    ['{{ "a}}b" }}', 'a}}b'],
    ['{{ "\\x41\\u042f\\101\\n" }}', 'AЯA\n'],
    ['{{ `raw\\n` }}', 'raw\\n'],
    ['a {{- .Secrets.x -}} b', 'a<x>b'],
    ['a{{/* why */}}b', 'ab'],
    ['a {{- /* why */ -}} b', 'ab'],
    ['{{ . }}', '{[redacted]}'],
    ['{{ toJson . }}', '{"Secrets":"[redacted]"}'],
    ['{{ .Secrets.none }}', 'template_syntax 1:12 there is no Secret none'],
    ['{{ index .Secrets "none" }}', 'template_syntax 1:4 index: there is no Secret none'],
  ])('%s gives %s', (source, result) => {
    expect(render(source)).toBe(result);
  });
});

describe('what is refused, and where', () => {
  test.each([
    ['{{', 'template_syntax 1:1'],
    ['я{{ .Secrets.x', 'template_syntax 1:2'],
    ['a\n {{ }}', 'template_syntax 2:5'],
    ['{{ "open }}', 'template_syntax 1:4'],
    ['{{ "a\\q" }}', 'template_syntax 1:6'],
    ['{{/* open }}', 'template_syntax 1:1'],
    ['{{/* a */ .Secrets.x }}', 'template_syntax 1:10'],
    ['{{ .Secrets }}', 'invalid_format 1:4'],
    ['{{ .Secrets.a.b }}', 'invalid_format 1:4'],
    ['{{ with .Secrets }}{{ end }}', 'invalid_format 1:9'],
    ['{{ range $k, $v := .Secrets }}{{ end }}', 'invalid_format 1:20'],
    ['{{ $x := .Secrets }}', 'invalid_format 1:10'],
    ['{{ $x := . }}{{ $x.Secrets.a }}', 'invalid_format 1:19'],
    ['{{ (.Secrets).token }}', 'invalid_format 1:5'],
    ['{{ (.).Secrets.token }}', 'invalid_format 1:7'],
    ['{{ define "t" }}{{ toJson .Secrets }}{{ end }}', 'invalid_format 1:27'],
    ['{{ index .Secrets .Name }}', 'invalid_format 1:10'],
    ['{{ index .Secrets "a b" }}', 'invalid_format 1:10'],
    ['{{ index .Secrets "a" "b" }}', 'invalid_format 1:10'],
    ['{{ .AlertGroup.Title }}', 'template_syntax 1:4 no field "AlertGroup" in Data'],
    ['{{ mention "all" }}', 'unknown_function 1:4'],
    ['{{ nope }}', 'unknown_function 1:4'],
    ['🔥🔥{{ nope }}', 'unknown_function 1:6'],
  ])('%s is %s', (source, result) => {
    expect(render(source)).toBe(result);
  });
});
