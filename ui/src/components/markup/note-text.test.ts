import { describe, expect, it } from 'vitest';
import type { Piece } from './message-text.ts';
import { notePieces } from './note-text.ts';

/** The tree as HTML would write it; text stands in `‹›` wherever it could be taken for a tag. */
const written = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) => {
      if (piece.is === 'text') return piece.text.replaceAll('<', '‹').replaceAll('>', '›');
      const inside = written(piece.pieces);
      if (piece.is === 'link') return `<a ${piece.href}>${inside}</a>`;
      const start = piece.start === undefined ? '' : ` ${piece.start}`;
      return `<${piece.tag}${start}>${inside}</${piece.tag}>`;
    })
    .join('');
const inParagraph = (source: string) => written(notePieces(source)).replace(/^<p>([\s\S]*)<\/p>$/, '$1');

describe('inside a line', () => {
  it.each([
    ['**bold** text', '<strong>bold</strong> text'],
    ['*italic*, _italic_', '<em>italic</em>, <em>italic</em>'],
    ['***both***', '<strong><em>both</em></strong>'],
    ['**bold and *italic* in it**', '<strong>bold and <em>italic</em> in it</strong>'],
    ['`a * b * c` and ``a ` b``', '<code>a * b * c</code> and <code>a ` b</code>'],
    ['[runbook](https://wiki.example/a_b_c)', '<a https://wiki.example/a_b_c>runbook</a>'],
    ['[a](https://w.example/x_(y))', '<a https://w.example/x_(y)>a</a>'],
    ['[us](mailto:ops@example.org)', '<a mailto:ops@example.org>us</a>'],
    [
      '**https://a.example/x_y_z**, then',
      '<strong><a https://a.example/x_y_z>https://a.example/x_y_z</a></strong>, then',
    ],
    ['see https://a.example/).', 'see <a https://a.example/>https://a.example/</a>).'],
    ['one\ntwo', 'one\ntwo'],
    ['\\*not italic\\*', '*not italic*'],
    ['**Жирный** и *курсив*', '<strong>Жирный</strong> и <em>курсив</em>'],
  ])('%s', (source, expected) => {
    expect(inParagraph(source)).toBe(expected);
  });

  it.each([
    'snake_case_names and __init__.py_x',
    '2 * 3 * 4 and 2*3*4',
    'rm *.log and *.txt',
    '**not closed, *nor this, `nor this',
    '****',
    '#123 is no heading',
    'C:\\Users\\ops',
    '![image](x.png)',
    '[nowhere](javascript:alert(1))',
    '[nowhere](data:text/html,x)',
    '[nowhere](/sign-out)',
    '[nowhere](mailto:)',
    '    spaces   stay',
  ])('stays as it is: %s', (source) => {
    expect(inParagraph(source)).toBe(source);
  });

  it('shows where a link leads whose text is another address', () => {
    expect(inParagraph('[https://good.example](https://evil.example)')).toBe(
      'https://good.example (<a https://evil.example>https://evil.example</a>)',
    );
  });

  it('has no HTML', () => {
    const source = '<img src=x onerror=alert(1)> **<b>** <a href="javascript:x">y</a>';
    expect(inParagraph(source)).not.toMatch(/<(?!\/?strong>)/);
  });
});

describe('blocks', () => {
  it.each([
    ['one\n\ntwo', '<p>one</p><p>two</p>'],
    ['- a\n- b **c**', '<ul><li><p>a</p></li><li><p>b <strong>c</strong></p></li></ul>'],
    ['Steps:\n3. a\n4. b', '<p>Steps:</p><ol 3><li><p>a</p></li><li><p>b</p></li></ol>'],
    ['- a\n  - b\n  more', '<ul><li><p>a</p><ul><li><p>b</p></li></ul><p>more</p></li></ul>'],
    ['- a\n1. b', '<ul><li><p>a</p></li></ul><ol 1><li><p>b</p></li></ol>'],
    ['> a\n> > b\nc', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>'],
    ['```sh\nkubectl  get *x*\n\n- y\n```\nz', '<pre>kubectl  get *x*\n\n- y</pre><p>z</p>'],
    ['```\nnot closed', '<pre>not closed</pre>'],
    ['a\r\nb\r\n\r\nc', '<p>a\nb</p><p>c</p>'],
    ['-5 degrees\n5 > 3', '<p>-5 degrees\n5 › 3</p>'],
  ])('%j', (source, expected) => {
    expect(written(notePieces(source))).toBe(expected);
  });
});

describe('a hostile text', () => {
  const depthOf = (pieces: readonly Piece[]): number =>
    Math.max(0, ...pieces.map((piece) => (piece.is === 'text' ? 0 : 1 + depthOf(piece.pieces))));
  const textOf = (pieces: readonly Piece[]): string =>
    pieces.map((piece) => (piece.is === 'text' ? piece.text : textOf(piece.pieces))).join('');

  const UNITS = [
    ...['*', '**a ', '*a **b* ', '_a *b ', '`', '` `` ', '[', '[a](', '[a](https://x.example/', '](', '\\'],
    ...[
      '> ',
      '- ',
      '1. ',
      '- a\n  ',
      '> a\n',
      '```\n',
      'https://',
      ').).',
      'https://a.example/).',
      '\u202e\u2066',
    ],
    ...['*a* ', '**a** ', '`a` ', 'x', '\n', '(((', '[a](b[a]b', '***a'],
  ];
  it.each(UNITS)('of %j, over and over, is read in linear time and nests no deeper than others', (unit) => {
    const once = unit.repeat(4_000 / unit.length);
    const took = (source: string) => {
      const begun = performance.now();
      const pieces = notePieces(source);
      return { ms: performance.now() - begun, pieces };
    };
    took(once);
    const { pieces } = took(once);
    expect(depthOf(pieces)).toBeLessThan(20);
    // Fifty times a Note: what takes quadratic time takes most of a minute.
    const { ms } = took(once.repeat(50));
    expect(ms).toBeLessThan(3_000);
  });

  it('of 4,000 characters without a space loses none of them', () => {
    const source = 'x'.repeat(4_000);
    expect(textOf(notePieces(source))).toBe(source);
  });
});
