import { expect, it } from 'vitest';
import { type Piece, piecesOf, withButtons } from './message-text.ts';

/** As HTML would have it, to be read here. */
function written(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => {
      if (piece.is === 'text') return piece.text;
      const [name, attributes] = piece.is === 'link' ? ['a', ` ${piece.href}`] : [piece.tag, ''];
      return `<${name}${attributes}>${written(piece.pieces)}</${name}>`;
    })
    .join('');
}

it.each([
  ['text and emphasis', '**a** _b_ `c`', '<p><strong>a</strong> <em>b</em> <code>c</code></p>'],
  ['lines', 'a\nb', '<p>a<br></br>b</p>'],
  ['lists', '- a\n- b', '<ul><li><p>a</p></li><li><p>b</p></li></ul>'],
  ['what is struck, escapes in it included', 'x ~~a\\-1~~ y', '<p>x <s>a-1</s> y</p>'],
  ['a mark that nothing ends', 'a ~~b', '<p>a ~~b</p>'],
  ['a link to the web', '[a](https://h/)', '<p><a https://h/>a</a></p>'],
  ['no link to a script', '[a](javascript:alert)', '<p>a</p>'],
  ['HTML as text', 'a <b onclick="x">c</b>', '<p>a <b onclick="x">c</b></p>'],
  ['an image as its description', '![a](https://h/x.png)', '<p>a</p>'],
])('Markdown shows %s', (_name, source, expected) => {
  expect(written(piecesOf(source, 'markdown'))).toBe(expected);
});

it('what is nested too deep is shown as its text', () => {
  const deep = JSON.stringify(piecesOf(`${'>'.repeat(8_000)}a`, 'markdown'));
  expect(deep.split('blockquote').length - 1).toBeLessThan(40);
  expect(deep).toContain('"text":"a"');
});

it('a preview of line ends alone is read in a moment', () => {
  const before = performance.now();
  expect(withButtons(`a${'\n'.repeat(50_000)}b`).buttons).toEqual([]);
  expect(performance.now() - before).toBeLessThan(500);
});

it('HTML in Markdown is one piece of text and no element', () => {
  const [paragraph] = piecesOf('<script>alert(1)</script>', 'markdown');
  expect(paragraph).toEqual({ is: 'text', text: '<script>alert(1)</script>' });
});

it.each([
  ['a\n\n[Ack] [Resolve]', { text: 'a', buttons: ['Ack', 'Resolve'] }],
  ['a [b]', { text: 'a [b]', buttons: [] }],
  ['a\n[b] c', { text: 'a\n[b] c', buttons: [] }],
])('the last line of %j may be its buttons', (preview, expected) => {
  expect(withButtons(preview)).toEqual(expected);
});
