/**
 * Makes what a template printed fit its format (templates §7 rules 4, 5). Output that is fine stays as its author wrote it;
 * anything else is printed again from what a CommonMark parser made of it.
 */
import { type Node, Parser } from 'commonmark';
import { safeUrl } from '../../text.ts';
import { mentionless, oneLine, severalLines } from '../neutral.ts';

/** `commonmark` is the list of bridge §3.6; a chat server's `markdown` has everything. */
type Dialect = 'markdown' | 'commonmark';

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

/** Prints a parsed CommonMark document. What its dialect does not know comes out as text, escaped. */
function printMarkdown(document: Node, dialect: Dialect): string {
  return blocksOf(document, dialect, '\n\n');
}

function blocksOf(container: Node, dialect: Dialect, between: string): string {
  return childrenOf(container)
    .map((node) => block(node, dialect))
    .filter((text) => text !== '')
    .join(between);
}

function block(node: Node, dialect: Dialect): string {
  switch (node.type) {
    case 'paragraph':
      return inlines(node, dialect).split('\n').map(lineStart).join('\n');
    case 'block_quote':
      return indented(blocksOf(node, dialect, '\n\n'), '> ', '> ');
    case 'list':
      return node.listType === 'bullet' ? bullets(node, dialect) : numbers(node, dialect);
    default:
      return dialect === 'markdown' ? unlistedBlock(node) : blockAsText(node);
  }
}

function bullets(list: Node, dialect: Dialect): string {
  const between = list.listTight ? '\n' : '\n\n';
  const items = childrenOf(list).map((item) => indented(blocksOf(item, dialect, between), '- ', '  '));
  return items.join(between);
}

function numbers(list: Node, dialect: Dialect): string {
  const between = list.listTight ? '\n' : '\n\n';
  const delimiter = list.listDelimiter;
  const items = childrenOf(list).map((item, index) => {
    const content = blocksOf(item, dialect, between);
    const number = (list.listStart ?? 1) + index;
    if (dialect === 'commonmark') return `${number}\\${delimiter} ${content}`;
    const marker = `${number}${delimiter} `;
    return indented(content, marker, ' '.repeat(marker.length));
  });
  return items.join(dialect === 'commonmark' ? '\n\n' : between);
}

function unlistedBlock(node: Node): string {
  const literal = (node.literal ?? '').replace(/\n$/, '');
  switch (node.type) {
    case 'heading':
      return `${'#'.repeat(node.level)} ${inlines(node, 'markdown')}`;
    case 'code_block': {
      const fence = '`'.repeat(Math.max(3, longestTicks(literal) + 1));
      // With a backtick in it, the line would begin no block.
      return `${fence}${(node.info ?? '').replaceAll('`', '')}\n${literal}\n${fence}`;
    }
    case 'thematic_break':
      return '***';
    default:
      return literal;
  }
}

function blockAsText(node: Node): string {
  switch (node.type) {
    case 'heading':
      return `\\${'#'.repeat(node.level)} ${inlines(node, 'commonmark').replaceAll('\n', ' ')}`;
    case 'thematic_break':
      return '\\-\\-\\-';
    default:
      return textOnly(node.literal ?? '');
  }
}

/** Lines without any markup, as one paragraph. */
function textOnly(literal: string): string {
  const lines = literal.split('\n').map((line) => escapeAll(line.trim()));
  return lines.filter((line) => line !== '').join('\\\n');
}

function inlines(container: Node, dialect: Dialect): string {
  return childrenOf(container)
    .map((node) => inline(node, dialect))
    .join('');
}

function inline(node: Node, dialect: Dialect): string {
  const literal = node.literal ?? '';
  switch (node.type) {
    case 'text':
      return textRun(node, literal, dialect);
    case 'softbreak':
      return '\n';
    case 'linebreak':
      return dialect === 'markdown' ? '\n' : '\\\n';
    case 'emph':
      return `*${inlines(node, dialect)}*`;
    case 'strong':
      return `**${inlines(node, dialect)}**`;
    case 'code':
      return codeSpan(literal);
    case 'link':
      return linked(node, dialect);
    case 'image':
      return dialect === 'markdown' ? image(node) : imageAsText(node);
    default:
      return dialect === 'markdown' ? literal : escapeAll(literal);
  }
}

const IN_RUNS = { markdown: /[\\`*_[\]!]/g, commonmark: /[\\`*_[\]!<&|]/g };
const ALONE = { markdown: /^[{}()>#+\-.|~]$/, commonmark: /^[{}()>#+\-.~]$/ };

/**
 * The parser gives an escaped character as a text of its own and everything between special characters as one run, so
 * what was escaped stays so, and a run of `~~` still strikes through. A `<` that was escaped must not begin a link; not
 * every chat server takes `\<` for an escape, so U+200B keeps it text.
 */
function textRun({ next }: Node, literal: string, dialect: Dialect): string {
  const begins = next?.type === 'text' && /^[a-z]/i.test(next.literal ?? '');
  if (dialect === 'markdown' && literal === '<' && begins) return '<\u200B';
  return ALONE[dialect].test(literal) ? `\\${literal}` : literal.replace(IN_RUNS[dialect], '\\$&');
}

function linked(node: Node, dialect: Dialect): string {
  const url = safeUrl(node.destination ?? '');
  const content = inlines(node, dialect);
  return url === null ? content : `[${content}](${linkTarget(url)})`;
}

function image(node: Node): string {
  const url = safeUrl(node.destination ?? '');
  const content = inlines(node, 'markdown');
  return url === null ? content : `![${content}](${linkTarget(url)})`;
}

function imageAsText(node: Node): string {
  return `\\!\\[${inlines(node, 'commonmark')}\\]\\(${escapeAll(node.destination ?? '')}\\)`;
}

function codeSpan(literal: string): string {
  const fence = '`'.repeat(longestTicks(literal) + 1);
  const needsSpace = /^`|`$|^ .* $/.test(literal);
  return needsSpace ? `${fence} ${literal} ${fence}` : fence + literal + fence;
}

function longestTicks(literal: string): number {
  return Math.max(0, ...(literal.match(/`+/g) ?? []).map((ticks) => ticks.length));
}

/** Keeps the beginning of a paragraph's line from beginning another block, be it a code block by its white space. */
function lineStart(line: string): string {
  return line
    .trimStart()
    .replace(/^([#>=+-]|~~~)/, '\\$1')
    .replace(/^(\d{1,9})([.)])/, '$1\\$2');
}

function escapeAll(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, '\\$&');
}

function indented(text: string, first: string, further: string): string {
  return text
    .split('\n')
    .map((line, index) => ((index === 0 ? first : further) + line).trimEnd())
    .join('\n');
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child; child = child.next) children.push(child);
  return children;
}

/** Escapes one line for a format whose special characters are `special`. */
export function escapedLine(value: string, special: RegExp): string {
  return mentionless(oneLine(value).replace(special, '\\$&'));
}

/** Escapes a value that keeps its line feeds: no further line can begin a code block or underline a heading. */
export function escapedLines(value: string, special: RegExp): string {
  const [first = '', ...further] = severalLines(value).split('\n');
  const lines = further.map((line) => line.trimStart().replace(special, '\\$&').replace(/^=/, '\\='));
  return mentionless([first.replace(special, '\\$&'), ...lines].join('\n'));
}

/** A URL as the target of a link between parentheses. What looks like an entity there would be decoded. */
export function linkTarget(url: string): string {
  return url
    .replace(/[()<>\\ "@]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/&(?=#?\w+;)/g, '&amp;');
}

export function emphasised(mark: string, content: string): string {
  return content === '' ? '' : mark + content + mark;
}
