/** Prints a parsed CommonMark document. What its dialect does not know comes out as text, escaped. */
import type { Node } from 'commonmark';
import { safeUrl } from '../safe-url.ts';
import { linkTarget } from './backslash.ts';
import type { Dialect } from './markdown-finish.ts';

export function printMarkdown(document: Node, dialect: Dialect): string {
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
      return `${fence}${node.info ?? ''}\n${literal}\n${fence}`;
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
export function textOnly(literal: string): string {
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
      return textRun(literal, dialect);
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
 * what was escaped stays so, and a run of `~~` still strikes through.
 */
function textRun(literal: string, dialect: Dialect): string {
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

/** Keeps the beginning of a paragraph's line from beginning another block. */
function lineStart(line: string): string {
  return line.replace(/^([#>=+-]|~~~)/, '\\$1').replace(/^(\d{1,9})([.)])/, '$1\\$2');
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
