import { describe, expect, test } from 'vitest';
import { parseSecretTemplate, renderSecretTemplate } from './secret-template.ts';

function render(source: string): string {
  const parsed = parseSecretTemplate(source);
  if (!parsed.ok) return `${parsed.error.code} ${parsed.error.line}:${parsed.error.column}`;
  const rendered = renderSecretTemplate(parsed.parts, (name) => (name === 'none' ? null : `<${name}>`));
  return rendered.ok ? rendered.text : `missing ${rendered.missing}`;
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
    ['{{ "a}}b" }}', 'a}}b'],
    ['{{ "\\x41\\u042f\\101\\n" }}', 'AЯA\n'],
    ['{{ `raw\\n` }}', 'raw\\n'],
    ['a {{- .Secrets.x -}} b', 'a<x>b'],
    ['a{{/* why */}}b', 'ab'],
    ['a {{- /* why */ -}} b', 'ab'],
    ['{{ .Secrets.none }}', 'missing none'],
  ])('%s gives %s', (source, result) => {
    expect(render(source)).toBe(result);
  });
});

describe('what is refused, and where', () => {
  test.each([
    ['{{', 'template_syntax 1:1'],
    ['я{{ .Secrets.x', 'template_syntax 1:2'],
    ['a\n {{ }}', 'template_syntax 2:2'],
    ['{{ "open }}', 'template_syntax 1:4'],
    ['{{ "a\\q" }}', 'template_syntax 1:6'],
    ['{{/* open }}', 'template_syntax 1:1'],
    ['{{/* a */ .Secrets.x }}', 'template_syntax 1:1'],
    ['{{ .Secrets }}', 'invalid_format 1:4'],
    ['{{ .Secrets.a.b }}', 'invalid_format 1:4'],
    ['{{ with .Secrets }}', 'invalid_format 1:9'],
    ['{{ $x := .Secrets }}', 'invalid_format 1:10'],
    ['{{ (.Secrets).token }}', 'invalid_format 1:5'],
    ['{{ index .Secrets .Name }}', 'invalid_format 1:10'],
    ['{{ index .Secrets "a b" }}', 'invalid_format 1:10'],
    ['{{ .Secrets.token | urlquery }}', 'invalid_format 1:4'],
    ['{{ printf "%s" .Secrets.token }}', 'invalid_format 1:16'],
    ['{{ .AlertGroup.Title }}', 'template_syntax 1:4'],
    ['{{ . }}', 'template_syntax 1:4'],
    ['{{ if true }}x{{ end }}', 'template_syntax 1:4'],
    ['{{ 42 }}', 'template_syntax 1:4'],
    ['{{ nope }}', 'unknown_function 1:4'],
    ['🔥🔥{{ nope }}', 'unknown_function 1:6'],
  ])('%s is %s', (source, result) => {
    expect(render(source)).toBe(result);
  });
});
