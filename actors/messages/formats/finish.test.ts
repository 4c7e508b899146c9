import { describe, expect, test } from 'vitest';
import { html, limitTags } from './html.ts';
import { commonmark, markdown } from './markdown.ts';

const Z = '\u200B';

describe('CommonMark of a bridge', () => {
  test.each([
    [
      'what is listed stays as it was written',
      '**a** _b_ ~~c~~ `d`\n\n> q\n\n* x\n  * y',
      '**a** _b_ ~~c~~ `d`\n\n> q\n\n* x\n  * y',
    ],
    ['a link to anything but http(s) keeps its text', '[x](javascript:alert(1))', 'x'],
    ['so does a Mention marker that nobody made', '[@a](svc-mention:m1) b', `@${Z}a b`],
    ['so does one in a definition', '[x][1] y\n\n[1]: ftp://h/', 'x y'],
    ['a good link beside a bad one stays', '[x](data:a) [y](https://h/a_b)', 'x [y](https://h/a_b)'],
    ['headings', '# a *b*\n\nc\n===', '\\# a *b*\n\n\\# c'],
    ['rules', 'a\n\n***\n\nb', 'a\n\n\\-\\-\\-\n\nb'],
    ['code blocks', '```sh\nrm -rf *\n```', 'rm \\-rf \\*'],
    ['a code block left open', 'a\n```\nb', 'a\n\nb'],
    ['indented code', '    a *b*', 'a \\*b\\*'],
    ['HTML blocks', '<div>\n*a*\n</div>', '\\<div\\>\\\n\\*a\\*\\\n\\<\\/div\\>'],
    ['HTML in a line', 'a <b>c</b>', 'a \\<b\\>c\\<\\/b\\>'],
    ['a link that goes, its indented text stays a paragraph', '[    a](svc:m)\n[    # b](svc:m)', 'a\n\\# b'],
    ['images', '![a](https://h/i.png)', '\\!\\[a\\]\\(https\\:\\/\\/h\\/i\\.png\\)'],
    ['numbered lists', '1. a\n2. b', '1\\. a\n\n2\\. b'],
    ['tables', 'a | b\n--|--\n1 | 2', 'a \\| b\n\\--\\|--\n1 \\| 2'],
    ['what was escaped stays escaped', '# \\*a\\* 5\\.1 \\~\\~b', '\\# \\*a\\* 5\\.1 \\~\\~b'],
    ['strikethrough survives beside them', '# a\n\n~~b~~', '\\# a\n\n~~b~~'],
    [
      'quotes and lists survive beside them',
      '# a\n\n> b\n> - c\n>\n>   d',
      '\\# a\n\n> b\n>\n> - c\n>\n>   d',
    ],
    ['hard breaks survive beside them', '# a\n\nb  \nc', '\\# a\n\nb\\\nc'],
    ['code spans survive beside them', '# a\n\n`` b`c ``', '\\# a\n\n``b`c``'],
    ['every @ names nobody', `@all a@b @${Z}c`, `@${Z}all a@${Z}b @${Z}c`],
  ])('%s', (_name, output, expected) => {
    expect(commonmark.finish(output)).toBe(expected);
  });
});

describe('Markdown of a chat server', () => {
  test.each([
    [
      'has headings, tables, code and HTML',
      '# a\n\n|a|b|\n|-|-|\n\n1. x\n\n```\nc\n```\n\n<b>',
      '# a\n\n|a|b|\n|-|-|\n\n1. x\n\n```\nc\n```\n\n<b>',
    ],
    [
      'a link to anything but http(s) keeps its text',
      '## a\n\n1. [x](javascript:1)\n2. y',
      '## a\n\n1. x\n2. y',
    ],
    ['an image from anywhere else, too', '![a_b](file:///x)', 'a\\_b'],
    ['an escaped < begins no link', '\\<mailto:x> [y](file:///z)', `<${Z}mailto:x> y`],
    ['nor does one in other words', '&lt;&#109;ailto:x> [y](file:///z)', `<${Z}mailto:x> y`],
    ['a code block keeps its content', '~~~ a`b\n<mailto:x>\n', '```ab\n<mailto:x>\n```'],
    ['a code block left open is closed', 'a\n```sh\nb', 'a\n\n```sh\nb\n```'],
    ['every @ names nobody', '@channel', `@${Z}channel`],
  ])('%s', (_name, output, expected) => {
    expect(markdown.finish(output)).toBe(expected);
  });
});

describe('HTML of a channel bot', () => {
  test.each([
    [
      'known tags stay',
      '<b>a</b> <blockquote expandable>q</blockquote>',
      '<b>a</b> <blockquote expandable>q</blockquote>',
    ],
    ['attributes go', '<B class="x">a</B>', '<b>a</b>'],
    ['other tags are text', '<table>a</table> <img src=x>', '&lt;table&gt;a&lt;/table&gt; &lt;img src=x&gt;'],
    ['open tags are closed in order', '<b><i>a', '<b><i>a</i></b>'],
    ['crossing tags are closed in order', '<b><i>a</b>c</i>', '<b><i>a</i></b>c&lt;/i&gt;'],
    ['a link to anything but http(s) keeps its text', '<a href="javascript:1">x</a>', 'x'],
    ['so do links to people', '<a href="tg://user?id=1">x</a>', 'x'],
    [
      'a link keeps its address',
      `<a href='https://h/?a=1&amp;b="2"'>x</a>`,
      '<a href="https://h/?a=1&amp;b=&quot;2&quot;">x</a>',
    ],
    [
      'links hold no links',
      '<a href="https://h/">x<a href="https://g/">y</a></a>',
      '<a href="https://h/">xy</a>',
    ],
    ['code holds no tags', '<code><b>a</b></code>', '<code>&lt;b&gt;a&lt;/b&gt;</code>'],
    [
      'entities that messengers know stay, others are text',
      '&lt; &nbsp; &#65; & a',
      '&lt; &amp;nbsp; A &amp; a',
    ],
    ['a bracket is a character', 'a < b > c', 'a &lt; b &gt; c'],
    [
      'every @ names nobody, and addresses stay right',
      '@a <a href="https://h/@b">c</a>',
      `@${Z}a <a href="https://h/%40b">c</a>`,
    ],
  ])('%s', (_name, output, expected) => {
    expect(html.finish(output)).toBe(expected);
    expect(html.finish(expected)).toBe(expected);
  });

  test('beyond 90 tags formatting goes before links, from the end, and the way to Tocsin stays', () => {
    const page = 'https://t/alert-groups/AG1';
    const output = `${'<b>x</b>'.repeat(3)}${'<a href="https://h/">y</a>'.repeat(95)}<a href="${page}">z</a>`;
    const limited = limitTags(output, page);
    expect(limited).toBe(
      `${'x'.repeat(3)}${'<a href="https://h/">y</a>'.repeat(89)}${'y'.repeat(6)}<a href="${page}">z</a>`,
    );
  });
});

describe('an untrusted value', () => {
  const value = 'a_b <@x>';
  test.each([
    ['markdown', markdown, `a\\_b <@${Z}x\\>`],
    ['html', html, `a_b &lt;@${Z}x&gt;`],
    ['commonmark', commonmark, `a\\_b \\<@${Z}x\\>`],
  ])('%s', (_name, format, expected) => {
    expect(format.escape(value)).toBe(expected);
    expect(format.value(value)).toBe(expected);
    expect(format.finish(expected)).toBe(expected);
  });

  test('in lines begins no heading and no code block', () => {
    expect(commonmark.escape('a\n===\n    b\n- c')).toBe('a\n\\===\nb\n\\- c');
  });
});

test.each([
  ['https://h/a(b) <c>\\"@d', 'https://h/a%28b%29%20%3Cc%3E%5C%22%40d'],
  ['https://h/?a=1&amp=2&copy;', 'https://h/?a=1&amp=2&amp;copy;'],
])('the target of a link: %s', (url, expected) => {
  expect(markdown.link(url)).toBe(expected);
  expect(commonmark.anchor('x', url)).toBe(`[x](${expected})`);
});
