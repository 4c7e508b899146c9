/** What the comparison of pictures notices, and what it does not. */
import { describe, expect, test } from 'vitest';
import {
  BLOCK,
  difference,
  isSame,
  type Picture,
  readPng,
  reduced,
  writePng,
} from '../../harness/picture.ts';

const [WIDTH, HEIGHT] = [390, 240];
type Colour = readonly [red: number, green: number, blue: number];
const GROUND: Colour = [247, 247, 249];
const INK: Colour = [86, 88, 102];
const ACCENT: Colour = [75, 68, 214];
const DANGER: Colour = [179, 38, 30];
/** The element that is missing, elsewhere or of another colour. */
const SIZE = 24;

class Canvas {
  readonly width = WIDTH;
  readonly height = HEIGHT;
  readonly pixels = new Uint8Array(WIDTH * HEIGHT * 3);

  fill(x: number, y: number, width: number, height: number, colour: Colour): this {
    for (let row = y; row < y + height; row++)
      for (let column = x; column < x + width; column++) this.put(column, row, colour);
    return this;
  }

  put(x: number, y: number, colour: Colour): void {
    this.pixels.set(colour, (y * WIDTH + x) * 3);
  }
}

/** A page with lines of strokes in the place of text, as dense as 14 px text. */
function page(): Canvas {
  const canvas = new Canvas().fill(0, 0, WIDTH, HEIGHT, GROUND);
  for (let line = 10; line < HEIGHT - 20; line += 22)
    for (let x = 8; x < WIDTH - 20; x += 4 + ((x * 7 + line) % 3)) canvas.fill(x, line, 1, 10, INK);
  return canvas;
}

/** An element that is filled, and one of lines: a border, and a cross inside. */
const ELEMENTS: Readonly<Record<string, (canvas: Canvas, x: number, y: number, colour?: Colour) => Canvas>> =
  {
    filled: (canvas, x, y, colour = ACCENT) => canvas.fill(x, y, SIZE, SIZE, colour),
    outlined: (canvas, x, y, colour = INK) =>
      canvas
        .fill(x, y, SIZE, SIZE, colour)
        .fill(x + 1, y + 1, SIZE - 2, SIZE - 2, GROUND)
        .fill(x + 6, y + 11, 12, 2, colour)
        .fill(x + 11, y + 6, 2, 12, colour),
  };
/** Wherever its edges lie in the blocks. */
const PLACES = Array.from({ length: BLOCK * BLOCK }, (_, index) => ({
  x: 160 + (index % BLOCK),
  y: 100 + Math.floor(index / BLOCK),
}));
const clear = (canvas: Canvas) => canvas.fill(120, 80, 120, 80, GROUND);
const passes = (one: Picture, other: Picture) => isSame(difference(reduced(one), reduced(other)));

describe.each(Object.keys(ELEMENTS))('an element of 24 × 24 px, %s', (kind) => {
  const draw = ELEMENTS[kind]!;

  test('fails when it is missing', () => {
    for (const { x, y } of PLACES)
      expect(passes(draw(clear(page()), x, y), clear(page())), `${x} ${y}`).toBe(false);
  });

  test('fails when it is moved by its width', () => {
    for (const { x, y } of PLACES)
      expect(passes(draw(clear(page()), x, y), draw(clear(page()), x + SIZE, y)), `${x} ${y}`).toBe(false);
  });

  test('fails when it has another colour', () => {
    for (const { x, y } of PLACES)
      expect(passes(draw(clear(page()), x, y), draw(clear(page()), x, y, DANGER)), `${x} ${y}`).toBe(false);
  });
});

test('a page that is shifted by a line fails', () => {
  const shifted = new Canvas().fill(0, 0, WIDTH, HEIGHT, GROUND);
  shifted.pixels.set(page().pixels.subarray(0, (HEIGHT - 11) * WIDTH * 3), 11 * WIDTH * 3);
  expect(passes(page(), shifted)).toBe(false);
});

test('a pixel of noise passes', () => {
  const noisy = page();
  noisy.put(200, 101, [255, 0, 0]);
  expect(passes(page(), noisy)).toBe(true);
});

test('strokes that are smoothed in another way pass', () => {
  const smoothed = page();
  const { pixels } = page();
  // Each stroke is a third of a pixel further to the right.
  for (let at = 3; at < pixels.length; at++)
    smoothed.pixels[at] = Math.round((2 * (pixels[at] ?? 0) + (pixels[at - 3] ?? 0)) / 3);
  expect(smoothed.pixels).not.toEqual(pixels);
  expect(passes(page(), smoothed)).toBe(true);
});

test('what is different is marked and named by its place', () => {
  const found = difference(reduced(clear(page())), reduced(ELEMENTS.filled!(clear(page()), 160, 96)));
  expect(found.within).toEqual({ x: 152, y: 88, right: 192, bottom: 128 });
  const marked = (x: number, y: number) => {
    const at = ((y / BLOCK) * found.marked.width + x / BLOCK) * 3;
    return [...found.marked.pixels.subarray(at, at + 3)];
  };
  expect(marked(168, 104)).toEqual([220, 0, 0]);
  expect(marked(8, 8)).not.toEqual([220, 0, 0]);
});

test('a picture is read as it was written', () => {
  const picture = reduced(page());
  expect(readPng(writePng(picture))).toEqual(picture);
});

test('what differs in size is no picture of the same page', () => {
  const small = { width: 8, height: 8, pixels: new Uint8Array(192) };
  expect(() => difference(reduced(page()), small)).toThrow('8 × 8 blocks instead of 49 × 30');
});
