/**
 * The text of a message as its messenger shows it: a tree of what it may hold. Nothing of it is ever markup of the page
 * (ui §1.1 rule 3): tags come from a list, HTML is read without being run, and links lead to the web alone.
 */
import { type Node, Parser } from 'commonmark';
import { isWebAddress } from '../outside-text.ts';

const TAGS = [
  'p',
  'em',
  'strong',
  'u',
  's',
  'code',
  'pre',
  'ul',
  'ol',
  'li',
  'blockquote',
  'hr',
  'br',
] as const;
type Tag = (typeof TAGS)[number];

export type Piece =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'link'; readonly href: string; readonly pieces: readonly Piece[] }
  /** `start`: of a list with numbers, the first of them. */
  | {
      readonly is: 'element';
      readonly tag: Tag;
      readonly pieces: readonly Piece[];
      readonly start?: number;
    };

const text = (content: string): Piece => ({ is: 'text', text: content });
const element = (tag: Tag, pieces: readonly Piece[]): Piece => ({ is: 'element', tag, pieces });
/** A link to anywhere else is its text. */
const link = (href: string, pieces: readonly Piece[]): readonly Piece[] =>
  isWebAddress(href) ? [{ is: 'link', href, pieces }] : pieces;

/** Levels of quotes, lists and emphasis that are shown; what lies deeper is its text. */
const DEEPEST = 30;

export function piecesOf(source: string, format: string): readonly Piece[] {
  if (format === 'html') return ofHtml(source);
  if (format === 'plain' || format === 'json') return [text(source)];
  return insideOf(new Parser().parse(source), 0);
}

const MARKDOWN = {
  paragraph: 'p',
  heading: 'strong',
  emph: 'em',
  strong: 'strong',
  item: 'li',
  block_quote: 'blockquote',
  thematic_break: 'hr',
} as const satisfies Partial<Record<Node['type'], Tag>>;

function insideOf(node: Node, depth: number): readonly Piece[] {
  if (depth > DEEPEST) return [text(textOf(node))];
  const pieces: Piece[] = [];
  for (let child = node.firstChild; child; child = child.next) pieces.push(...ofMarkdown(child, depth + 1));
  return struck(pieces);
}

/** Without recursion. */
function textOf(node: Node): string {
  const walker = node.walker();
  const parts: string[] = [];
  for (let step = walker.next(); step; step = walker.next()) parts.push(step.node.literal ?? '');
  return parts.join('');
}

function ofMarkdown(node: Node, depth: number): readonly Piece[] {
  const { type, literal } = node;
  if (type in MARKDOWN) return [element(MARKDOWN[type as keyof typeof MARKDOWN], insideOf(node, depth))];
  switch (type) {
    case 'softbreak':
    case 'linebreak':
      return [element('br', [])];
    case 'code':
      return [element('code', [text(literal ?? '')])];
    case 'code_block':
      return [element('pre', [text(literal ?? '')])];
    case 'list':
      return [element(node.listType === 'ordered' ? 'ol' : 'ul', insideOf(node, depth))];
    case 'link':
      return link(node.destination ?? '', insideOf(node, depth));
    default:
      // HTML is text; of an image its description is left.
      return literal === null ? insideOf(node, depth) : [text(literal)];
  }
}

/** What stands between two `~~`, which CommonMark does not know and messengers do. */
function struck(pieces: readonly Piece[]): readonly Piece[] {
  const done: Piece[] = [];
  let inside: Piece[] | null = null;
  for (const piece of pieces) {
    const parts: string[] = piece.is === 'text' ? piece.text.split('~~') : [];
    if (parts.length === 0) (inside ?? done).push(piece);
    parts.forEach((part, index) => {
      if (index > 0 && inside) {
        done.push(element('s', inside));
        inside = null;
      } else if (index > 0) inside = [];
      if (part !== '') (inside ?? done).push(text(part));
    });
  }
  return inside === null ? done : [...done, text('~~'), ...inside];
}

const HTML: Readonly<Record<string, Tag>> = {
  ...{ b: 'strong', strong: 'strong', i: 'em', em: 'em', u: 'u', s: 's', del: 's', code: 'code', pre: 'pre' },
  blockquote: 'blockquote',
};

/** A quote ends its line: the break that follows it would be a second one. */
const AFTER_QUOTE = /(<\/blockquote>)\n/g;

function ofHtml(source: string): readonly Piece[] {
  const document = new DOMParser().parseFromString(source.replace(AFTER_QUOTE, '$1'), 'text/html');
  return ofNodes(document.body, 0);
}

function ofNodes(parent: ParentNode & globalThis.Node, depth: number): readonly Piece[] {
  if (depth > DEEPEST) return [text(parent.textContent ?? '')];
  return [...parent.childNodes].flatMap((node) => {
    if (node.nodeType === globalThis.Node.TEXT_NODE) return [text(node.textContent ?? '')];
    if (!(node instanceof Element)) return [];
    const name = node.tagName.toLowerCase();
    const inside = ofNodes(node, depth + 1);
    if (name === 'a') return link(node.getAttribute('href') ?? '', inside);
    const tag = HTML[name];
    return tag === undefined ? inside : [element(tag, inside)];
  });
}

export interface ShownMessage {
  readonly text: string;
  /** What its buttons say; a preview has them as its last line (templates §10). */
  readonly buttons: readonly string[];
}

export function withButtons(preview: string): ShownMessage {
  const last = /(?<!\n)\n+(\[[^\]\n]+\](?: \[[^\]\n]+\])*)\s*$/.exec(preview);
  if (!last) return { text: preview, buttons: [] };
  const buttons = [...(last[1] ?? '').matchAll(/\[([^\]]+)\]/g)].map(([, name]) => name ?? '');
  return { text: preview.slice(0, last.index), buttons };
}
