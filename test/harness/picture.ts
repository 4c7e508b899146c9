/**
 * Pictures of pages, reduced and compared. A picture is kept as one pixel for each block of 8 × 8: the mean of each of its
 * colours. Two pictures are compared by windows of 2 × 2 blocks: how glyphs are smoothed hardly changes the mean of 16 × 16
 * pixels, and wherever an element of 24 × 24 pixels lies, it fills at least one window.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** Three bytes a pixel: red, green and blue, row by row from the top left. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** Pixels of a block in both directions. */
export const BLOCK = 8;
/** Blocks of a window in both directions. */
const WINDOW = 2;
/** The mean of a colour of a window may differ by so much, of 255; of no window by more. */
export const TOLERANCE = 12;

const CHANNELS = 3;
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Bytes of a pixel by the colour type of the file. */
const DEPTHS: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

/** Reads what Chromium and {@link writePng} write: eight bits a colour, not interlaced. @throws for other files */
export function readPng(file: Uint8Array): Picture {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new Error('this is no PNG');
  const parts: Buffer[] = [];
  let header: Buffer = Buffer.alloc(0);
  for (let at = SIGNATURE.length; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'IHDR') header = bytes.subarray(at + 8, end);
    if (type === 'IDAT') parts.push(bytes.subarray(at + 8, end));
    at = end + 4;
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const depth = DEPTHS[header[9] ?? 0];
  if (header[8] !== 8 || depth === undefined || header[12] !== 0) throw new Error('a PNG of another kind');
  const rows = inflateSync(Buffer.concat(parts));
  unfilter(rows, width * depth, depth);
  const pixels = new Uint8Array(width * height * CHANNELS);
  for (let y = 0; y < height; y++) {
    const from = y * (width * depth + 1) + 1;
    for (let x = 0; x < width; x++)
      for (let c = 0; c < CHANNELS; c++)
        pixels[(y * width + x) * CHANNELS + c] = rows[from + x * depth + c] ?? 0;
  }
  return { width, height, pixels };
}

/** Takes back, in place, what the filter of each row did. @param length bytes of a row without the one of its filter */
function unfilter(rows: Uint8Array, length: number, depth: number): void {
  for (let from = 0; from < rows.length; from += length + 1) {
    const filter = rows[from] ?? 0;
    for (let at = from + 1; at <= from + length; at++) {
      const isFirst = at - from <= depth;
      const left = isFirst ? 0 : (rows[at - depth] ?? 0);
      const above = rows[at - length - 1] ?? 0;
      const corner = isFirst ? 0 : (rows[at - length - 1 - depth] ?? 0);
      rows[at] = (rows[at] ?? 0) + predicted(filter, left, from === 0 ? 0 : above, from === 0 ? 0 : corner);
    }
  }
}

/** What the filters of PNG expect of a byte. */
function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  if (filter !== 4) return 0;
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

/** With the palette of its 256 most frequent colours, where `few` colours are enough: a fifth of the bytes. */
export function writePng(picture: Picture, few?: 'few'): Buffer {
  const { width, height, pixels } = picture;
  const palette = few && paletteOf(picture);
  const bytes = palette ? palette.indices : pixels;
  const depth = palette ? 1 : CHANNELS;
  const length = width * depth;
  const rows = Buffer.alloc((length + 1) * height);
  for (let y = 0; y < height; y++) {
    // Paeth suits means of neighbours, and no filter suits indices.
    rows[y * (length + 1)] = palette ? 0 : 4;
    for (let x = 0; x < length; x++) {
      const at = y * length + x;
      const left = x < depth ? 0 : (bytes[at - depth] ?? 0);
      const above = y === 0 ? 0 : (bytes[at - length] ?? 0);
      const corner = x < depth || y === 0 ? 0 : (bytes[at - length - depth] ?? 0);
      rows[y * (length + 1) + 1 + x] = (bytes[at] ?? 0) - (palette ? 0 : predicted(4, left, above, corner));
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, palette ? 3 : 2], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...(palette ? [chunk('PLTE', Buffer.from(palette.colours))] : []),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(4);
  frame.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([frame, body, check]);
}

interface Palette {
  readonly colours: readonly number[];
  readonly indices: Uint8Array;
}

/** The most frequent colours, and for each pixel the one that is nearest. */
function paletteOf({ pixels }: Picture): Palette {
  const counts = new Map<number, number>();
  const colourAt = (at: number) => channels(pixels, at).reduce((all, channel) => all * 256 + channel, 0);
  for (let at = 0; at < pixels.length; at += CHANNELS)
    counts.set(colourAt(at), (counts.get(colourAt(at)) ?? 0) + 1);
  const kept = [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, 256)
    .map(([colour]) => [colour >> 16, (colour >> 8) & 255, colour & 255] as const);
  const nearest = new Map<number, number>();
  const indices = Uint8Array.from({ length: pixels.length / CHANNELS }, (_, pixel) => {
    const colour = colourAt(pixel * CHANNELS);
    const known = nearest.get(colour);
    if (known !== undefined) return known;
    const found = channels(pixels, pixel * CHANNELS);
    const distances = kept.map((one) => one.reduce((sum, value, c) => sum + (value - found[c]!) ** 2, 0));
    const index = distances.indexOf(Math.min(...distances));
    nearest.set(colour, index);
    return index;
  });
  return { colours: kept.flat(), indices };
}

const channels = (pixels: Uint8Array, at: number): readonly number[] => [
  ...pixels.subarray(at, at + CHANNELS),
];

/** One pixel for each block; those at the right and the bottom edge have the rest. */
export function reduced({ width, height, pixels }: Picture): Picture {
  const [columns, rows] = [Math.ceil(width / BLOCK), Math.ceil(height / BLOCK)];
  const sums = new Float64Array(columns * rows * CHANNELS);
  const counts = new Float64Array(columns * rows);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const block = Math.floor(y / BLOCK) * columns + Math.floor(x / BLOCK);
      counts[block] = (counts[block] ?? 0) + 1;
      for (let c = 0; c < CHANNELS; c++)
        sums[block * CHANNELS + c] =
          (sums[block * CHANNELS + c] ?? 0) + (pixels[(y * width + x) * CHANNELS + c] ?? 0);
    }
  const means = sums.map((sum, at) => Math.round(sum / (counts[Math.floor(at / CHANNELS)] ?? 1)));
  return { width: columns, height: rows, pixels: Uint8Array.from(means) };
}

export interface Difference {
  /** Windows that differ by more than the tolerance, of all. */
  readonly windows: number;
  readonly of: number;
  /** The most that a colour of a window differs, of 255. */
  readonly most: number;
  /** Pixels of the page around all of them; null where there are none. */
  readonly within: {
    readonly x: number;
    readonly y: number;
    readonly right: number;
    readonly bottom: number;
  } | null;
  /** The reduced picture, pale, with these windows in red. */
  readonly marked: Picture;
}

/** Compares reduced pictures. @throws when they differ in size */
export function difference(expected: Picture, actual: Picture): Difference {
  const { width, height } = expected;
  if (actual.width !== width || actual.height !== height)
    throw new Error(`${actual.width} × ${actual.height} blocks instead of ${width} × ${height}`);
  const marked = Uint8Array.from(actual.pixels, (value) => 160 + Math.round(value / 3));
  const [columns, rows] = [width - WINDOW + 1, height - WINDOW + 1];
  let [windows, most] = [0, 0];
  let [x, y, right, bottom] = [width, height, 0, 0];
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const off = differenceOf(expected, actual, column, row);
      most = Math.max(most, off);
      if (off <= TOLERANCE) continue;
      windows++;
      [x, y] = [Math.min(x, column), Math.min(y, row)];
      [right, bottom] = [Math.max(right, column + WINDOW), Math.max(bottom, row + WINDOW)];
      for (const at of blocksOf(width, column, row)) marked.set([220, 0, 0], at);
    }
  const within =
    windows === 0 ? null : { x: x * BLOCK, y: y * BLOCK, right: right * BLOCK, bottom: bottom * BLOCK };
  return { windows, of: columns * rows, most, within, marked: { width, height, pixels: marked } };
}

/** The most that the mean of one of the colours differs. */
function differenceOf(expected: Picture, actual: Picture, column: number, row: number): number {
  const blocks = blocksOf(expected.width, column, row);
  let most = 0;
  for (let c = 0; c < CHANNELS; c++) {
    let sum = 0;
    for (const at of blocks) sum += (actual.pixels[at + c] ?? 0) - (expected.pixels[at + c] ?? 0);
    most = Math.max(most, Math.abs(sum) / blocks.length);
  }
  return most;
}

/** Where the blocks of a window begin. */
function blocksOf(width: number, column: number, row: number): readonly number[] {
  const first = (row * width + column) * CHANNELS;
  const below = first + width * CHANNELS;
  return [first, first + CHANNELS, below, below + CHANNELS];
}

export const isSame = ({ windows }: Difference): boolean => windows === 0;
