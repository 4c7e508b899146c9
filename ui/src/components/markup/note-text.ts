/**
 * The Markdown of a Note as the tree that is shown (ui §4 rule 8): bold, italic, code, lists, quotes and links; never
 * HTML or images. What is no Markdown stays as it was written. Every text is read in linear time, and nests no deeper
 * than {@link DEEPEST}.
 */
import { isWebAddress, PUNCTUATION, withoutEnd } from '../outside-text.ts';
import type { Piece } from './message-text.ts';

/** Lists and quotes inside each other. */
const DEEPEST = 4;

const FENCE = /^ {0,3}(`{3,})[^`]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3}(?:[-*+]|(\d{1,9})[.)]) )(?= *\S)/;
const BLANK = /^\s*$/;

/** @param source a Note as it was written */
export function notePieces(source: string): readonly Piece[] {
  return blocks(source.split(/\r\n?|\n/), 0);
}

const element = (tag: (Piece & { is: 'element' })['tag'], pieces: readonly Piece[]): Piece => ({
  is: 'element',
  tag,
  pieces,
});

function blocks(lines: readonly string[], depth: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) pieces.push(element('p', inline(paragraph.join('\n'))));
    paragraph = [];
  };
  let at = 0;
  while (at < lines.length) {
    const block = blockAt(lines, at, depth);
    if (block === null) {
      paragraph.push(lines[at] ?? '');
      at += 1;
      continue;
    }
    endParagraph();
    pieces.push(...block.pieces);
    at = block.end;
  }
  endParagraph();
  return pieces;
}

interface Block {
  readonly pieces: readonly Piece[];
  /** Index of the first line behind it. */
  readonly end: number;
}

/** The block that begins at a line; null for a line of a paragraph. */
function blockAt(lines: readonly string[], at: number, depth: number): Block | null {
  const line = lines[at] ?? '';
  if (BLANK.test(line)) return { pieces: [], end: at + 1 };
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return codeBlock(lines, at, fence);
  if (depth === DEEPEST) return null;
  if (QUOTE.test(line)) {
    const end = endOf(lines, at, (each) => QUOTE.test(each));
    const inside = lines.slice(at, end).map((each) => each.replace(QUOTE, ''));
    return { pieces: [element('blockquote', blocks(inside, depth + 1))], end };
  }
  return ITEM.test(line) ? list(lines, at, depth) : null;
}

/** Up to the line that closes it, or to the end of the text. */
function codeBlock(lines: readonly string[], at: number, fence: string): Block {
  const close = endOf(lines, at + 1, (each) => each.trim() !== fence);
  const text = lines.slice(at + 1, close).join('\n');
  return { pieces: [element('pre', [{ is: 'text', text }])], end: close + 1 };
}

/** Items of one kind, each with the lines below it that are indented as far as its text. */
function list(lines: readonly string[], from: number, depth: number): Block {
  const start = ITEM.exec(lines[from] ?? '')?.[2];
  const items: Piece[] = [];
  let at = from;
  for (;;) {
    const [, marker, number] = ITEM.exec(lines[at] ?? '') ?? [];
    if (marker === undefined || (number === undefined) !== (start === undefined)) break;
    const indent = ' '.repeat(Math.min(marker.length, 2));
    const end = endOf(lines, at + 1, (each) => each.startsWith(indent) && !BLANK.test(each));
    const first = (lines[at] ?? '').slice(marker.length);
    const more = lines.slice(at + 1, end).map((each) => each.slice(leading(each, marker.length)));
    items.push(element('li', blocks([first, ...more], depth + 1)));
    at = end;
  }
  if (start === undefined) return { pieces: [element('ul', items)], end: at };
  return { pieces: [{ is: 'element', tag: 'ol', start: Number(start), pieces: items }], end: at };
}

/** Spaces that a line begins with, `most` at most. */
function leading(line: string, most: number): number {
  let spaces = 0;
  while (spaces < most && line[spaces] === ' ') spaces += 1;
  return spaces;
}

function endOf(lines: readonly string[], from: number, isInside: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && isInside(lines[end] ?? '')) end += 1;
  return end;
}

/**
 * What may mean something inside a line: an escape, a run of code marks or of emphasis marks, a link, a bare address.
 * The alternatives begin differently, and none looks behind the next bracket.
 */
const TOKEN =
  /\\[\\`*_[\]]|`+|\*+|_+|\[([^[\]\n]+)\]\(([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)?)\)|https?:\/\/[^\s<>"']+/g;
const LETTER = /[\p{L}\p{N}]/u;
const MARKS = { '*': 'em', _: 'em', '**': 'strong' } as const;
type Mark = keyof typeof MARKS;

/** An emphasis that has begun: each mark once, so that nothing nests deeper than there are marks. */
interface Open {
  readonly mark: Mark;
  readonly before: Piece[];
}

function inline(text: string): readonly Piece[] {
  const open: Open[] = [];
  let pieces: Piece[] = [];
  /** Where the text begins that no token has taken. */
  let from = 0;
  const take = (end: number) => {
    if (end > from) pieces.push({ is: 'text', text: text.slice(from, end) });
  };
  /** Gives up what began last: its mark is text. */
  const giveUp = () => {
    const last = open.pop();
    if (last === undefined) return;
    last.before.push({ is: 'text', text: last.mark });
    for (const piece of pieces) last.before.push(piece);
    pieces = last.before;
  };
  const emphasise = (mark: Mark, opens: boolean, closes: boolean) => {
    const begun = open.findLastIndex((each) => each.mark === mark);
    if (closes && begun >= 0 && (pieces.length > 0 || begun < open.length - 1)) {
      while (open.length > begun + 1) giveUp();
      const { before } = open.pop() as Open;
      before.push(element(MARKS[mark], pieces));
      pieces = before;
    } else if (opens && begun < 0) {
      open.push({ mark, before: pieces });
      pieces = [];
    } else pieces.push({ is: 'text', text: mark });
  };

  const codeEnds = endsOfCode(text);
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const [whole, label, address] = token;
    const { index } = token;
    const end = index + whole.length;
    let next = end;
    if (whole.startsWith('\\')) {
      take(index);
      pieces.push({ is: 'text', text: whole.slice(1) });
    } else if (whole.startsWith('`')) {
      const close = codeEnds.get(index);
      if (close === undefined) continue;
      take(index);
      pieces.push(element('code', [{ is: 'text', text: text.slice(end, close) }]));
      next = close + whole.length;
    } else if (label !== undefined && address !== undefined) {
      if (!mayLeadTo(address)) continue;
      take(index);
      pieces.push(...link(label, address));
    } else if (whole.startsWith('http')) {
      const bare = withoutEnd(whole, `${PUNCTUATION}*_\``);
      if (!isWebAddress(bare)) continue;
      take(index);
      pieces.push({ is: 'link', href: bare, pieces: [{ is: 'text', text: bare }] });
      next = index + bare.length;
    } else {
      const marks = marksOf(whole);
      if (marks === null) continue;
      const [previous, following] = [text[index - 1] ?? ' ', text[end] ?? ' '];
      const opens = !LETTER.test(previous) && !/\s/.test(following);
      const closes = !LETTER.test(following) && !/\s/.test(previous);
      if (!opens && !closes) continue;
      take(index);
      const isEnd = closes && open.some(({ mark }) => mark === marks[0]);
      for (const mark of isEnd ? marks.toReversed() : marks) emphasise(mark, opens, closes);
    }
    from = next;
    TOKEN.lastIndex = next;
  }
  take(text.length);
  while (open.length > 0) giveUp();
  return pieces;
}

/** The marks of a run, the outer one first; null for a run that is no emphasis. */
function marksOf(run: string): readonly Mark[] | null {
  if (run in MARKS) return [run as Mark];
  return run === '***' ? ['**', '*'] : null;
}

/** Where the code ends that begins at a run of code marks: at the next run of the same length. */
function endsOfCode(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const nextOf = new Map<number, number>();
  for (const { 0: run, index } of [...text.matchAll(/`+/g)].reverse()) {
    const next = nextOf.get(run.length);
    if (next !== undefined) ends.set(index, next);
    nextOf.set(run.length, index);
  }
  return ends;
}

function mayLeadTo(address: string): boolean {
  return isWebAddress(address) || /^mailto:[^@]+@[^@]+$/i.test(address);
}

/** A link whose text is another address shows both. */
function link(label: string, address: string): readonly Piece[] {
  const to = (text: string): Piece => ({ is: 'link', href: address, pieces: [{ is: 'text', text }] });
  if (!isWebAddress(label.trim()) || label === address) return [to(label)];
  return [{ is: 'text', text: `${label} (` }, to(address), { is: 'text', text: ')' }];
}
