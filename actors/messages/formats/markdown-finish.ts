/**
 * Makes what a template printed fit its format (templates §7.4, §7.5). Output that is fine stays as its author wrote it;
 * anything else is printed again from what a CommonMark parser made of it.
 */
import { type Node, Parser } from 'commonmark';
import { mentionless } from '../neutral.ts';
import { safeUrl } from '../safe-url.ts';
import { printMarkdown, textOnly } from './markdown-print.ts';

/** `commonmark` is the list of bridge protocol §2.4; a chat server's `markdown` has everything. */
export type Dialect = 'markdown' | 'commonmark';

const LISTED: ReadonlySet<string> = new Set(
  'document paragraph softbreak linebreak emph strong code link text list item block_quote'.split(' '),
);

export function finishMarkdown(output: string, dialect: Dialect): string {
  if (leavesTargetsOpen(output)) return mentionless(textOnly(output));
  const document = parse(`${output}\n\n${NEXT}`);
  if (isTooDeep(document)) return mentionless(textOnly(output));
  if (standsAlone(document) && !holdsUnfit(document, dialect)) return mentionless(output);
  return mentionless(printMarkdown(parse(output), dialect));
}

/** A paragraph that comes after the output. */
const NEXT = 'next';

const MOST_OPEN = 20;

/**
 * Whether many link targets begin and none of them ends. For each the parser reads on to the next white space: a time
 * that grows with the square of the text.
 */
function leavesTargetsOpen(output: string): boolean {
  return output.split(/\s+/).some((run) => run.includes('](') && unclosed(run) > MOST_OPEN);
}

function unclosed(run: string): number {
  let open = 0;
  for (const [bracket] of run.replace(/\\./g, '').matchAll(/[()]/g)) {
    open = bracket === '(' ? open + 1 : Math.max(0, open - 1);
  }
  return open;
}

/** Deeper than anybody reads, and than a printer or a reader may go down. */
const DEEPEST = 50;

function isTooDeep(document: Node): boolean {
  const walker = document.walker();
  let depth = 0;
  for (let step = walker.next(); step; step = walker.next()) {
    if (!step.node.isContainer) continue;
    depth += step.entering ? 1 : -1;
    if (depth > DEEPEST) return true;
  }
  return false;
}

/** Whether the next paragraph is one, not part of a code block or a list left open. */
function standsAlone({ lastChild: last }: Node): boolean {
  return last?.type === 'paragraph' && last.firstChild?.literal === NEXT;
}

function holdsUnfit(document: Node, dialect: Dialect): boolean {
  const walker = document.walker();
  for (let step = walker.next(); step; step = walker.next()) {
    if (step.entering && isUnfit(step.node, dialect)) return true;
  }
  return false;
}

function isUnfit(node: Node, dialect: Dialect): boolean {
  const isAddress = node.type === 'link' || node.type === 'image';
  if (isAddress && safeUrl(node.destination ?? '') === null) return true;
  return dialect === 'commonmark' && !isListed(node);
}

function isListed(node: Node): boolean {
  if (!LISTED.has(node.type)) return false;
  if (node.type === 'list') return node.listType === 'bullet';
  return node.type !== 'text' || !isTableRow(node.literal ?? '');
}

/** The parser knows no tables, so their bars are text. A bar alone is an escaped one, or begins no table by itself. */
function isTableRow(literal: string): boolean {
  return literal.length > 1 && literal.includes('|');
}

function parse(source: string): Node {
  return new Parser().parse(source);
}
