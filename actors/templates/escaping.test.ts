/** Output safety (templates §7, §11) with the formats of the messengers. */
import { describe, expect, test } from 'vitest';
import { html } from '../messages/formats/html.ts';
import { commonmark, markdown } from '../messages/formats/markdown.ts';
import { dataWith, rendered } from './run.fixture.ts';
import type { OutputFormat } from './types.ts';
import { TemplateMap, Trusted } from './values.ts';

const ZERO = '\u200B';
const LABELS = new TemplateMap(
  { v: 'a_b <@x>', long: 'é'.repeat(3_000), odd: 'a\x07b\rc\uE000d\n\te' },
  'labels',
);
const data = dataWith({ Labels: LABELS, URL: new Trusted('https://t/a_b') });

describe('a value', () => {
  test.each<[string, OutputFormat, string, string]>([
    ['markdown', markdown, '{{ .Labels.v }}', `a\\_b <@${ZERO}x\\>`],
    ['html', html, '{{ .Labels.v }}', `a_b &lt;@${ZERO}x&gt;`],
    ['html', html, '{{ printf "<b>%s</b>" .Labels.v }}', `<b>a_b &lt;@${ZERO}x&gt;</b>`],
    ['html', html, '{{ if eq .Labels.v "a_b <@x>" }}same{{ end }}', 'same'],
    ['commonmark', commonmark, '{{ "**" }}{{ .Labels.v }}{{ "**" }}', `**a\\_b \\<@${ZERO}x\\>**`],
    ['commonmark', commonmark, '[x](javascript:alert(1))', 'x'],
  ])('in %s', (_, format, source, result) => {
    expect(rendered(source, { data, format })).toBe(result);
  });

  test.each([
    ['{{ toUpper .Labels.v }}', 'A_B &lt;@\u200BX&gt;'],
    ['{{ printf "%-10s|" .Labels.v }}', 'a_b &lt;@\u200Bx&gt;  |'],
    ['{{ printf "%q" .Labels.v }}', '&quot;a_b &lt;@\u200Bx&gt;&quot;'],
    ['{{ printf .Labels.v }}', 'a_b &lt;@\u200Bx&gt;'],
    ['{{ print "<i>" .Labels.v "</i>" }}', '<i>a_b &lt;@\u200Bx&gt;</i>'],
    ['{{ join "<b>,</b>" (list .Labels.v "<i>y</i>") }}', 'a_b &lt;@\u200Bx&gt;<b>,</b><i>y</i>'],
    ['{{ join .Labels.v (list 1 2) }}', '1a_b &lt;@\u200Bx&gt;2'],
    ['{{ list .Labels.v "<b>y</b>" }}', '[a_b &lt;@\u200Bx&gt; &lt;b&gt;y&lt;/b&gt;]'],
    ['{{ list "<b>y</b>" 1 }}', '[<b>y</b> 1]'],
    ['{{ default "<b>none</b>" .Labels.none }}', '&lt;b&gt;none&lt;/b&gt;'],
    ['{{ or .Labels.none "<b>none</b>" }}', '&lt;b&gt;none&lt;/b&gt;'],
    ['{{ if .Labels.none }}{{ else }}<b>none</b>{{ end }}', '<b>none</b>'],
    ['{{ replace "x" "y" "<b>x</b>" }}', '<b>y</b>'],
    ['{{ with .Labels.v }}{{ trimSuffix ">" . }}{{ end }}', 'a_b &lt;@\u200Bx'],
    ['{{ safeHtml .Labels.v }}', 'a_b &lt;@\u200Bx&gt;'],
    ['{{ lookup "t" "k" "c" }}', '&lt;i&gt;cell&lt;/i&gt;'],
    ['{{ range $k, $v := dict "<b>k</b>" "<i>v</i>" }}{{ $k }}{{ $v }}{{ end }}', '<b>k</b><i>v</i>'],
    ['<a href="{{ safeUrl "https://h/?a=1&b=2" }}">x</a>', '<a href="https://h/?a=1&amp;b=2">x</a>'],
    ['{{ .URL }}', 'https://t/a_b'],
    ['x \n\n', 'x'],
    [' {{ "" }}\n', ''],
  ])('%s gives %j in HTML', (source, result) => {
    const context = { lookup: () => '<i>cell</i>' };
    expect(rendered(source, { data, format: html, context })).toBe(result);
  });

  test('is cut to 4,096 bytes on the edge of a character, but for plain output', () => {
    const cut = `${'é'.repeat(2_046)}…`;
    expect(Buffer.byteLength(cut)).toBe(4_095);
    expect(rendered('{{ .Labels.long }}', { data, format: html })).toBe(cut);
    expect(rendered('{{ .Labels.long }}', { data })).toBe('é'.repeat(3_000));
  });

  test('loses control characters other than line feed and tab', () => {
    expect(rendered('{{ .Labels.odd }}', { data, format: html })).toBe('abcd\n\te');
    expect(rendered('{{ print .Labels.odd }}', { data, format: html })).toBe('abcd\n\te');
    expect(rendered('{{ .Labels.odd }}', { data })).toBe('a\x07b\rc\uE000d\n\te');
    expect(rendered('{{ printf "%c" 57344 }}', { data, format: html })).toBe('\uFFFD');
  });
});

test('a Mention is printed as the context gives it, and told once', () => {
  const context = { mention: () => '\uE000all\uE001' };
  const format: OutputFormat = { ...html, name: 'html', finish: (output) => output };
  expect(rendered('{{ mention "all" }} {{ print (mention "all") }}', { context, format })).toBe(
    '\uE000all\uE001 \uE000all\uE001',
  );
});
