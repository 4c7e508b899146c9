/** The HTML of channel bots. */
import { mentionless, oneLine, severalLines } from '../neutral.ts';
import type { MessageFormat } from './format.ts';
import { finishHtml } from './html-finish.ts';
import { escapeHtml, hrefOf, visibleText } from './html-text.ts';

export const html: MessageFormat = {
  name: 'html',
  escape: (value) => mentionless(escapeHtml(severalLines(value))),
  link: hrefOf,
  finish: finishHtml,
  value,
  anchor: (content, url) => `<a href="${hrefOf(url)}">${content}</a>`,
  bold: (content) => tagged('b', content),
  italic: (content) => tagged('i', content),
  struck: (content) => tagged('s', content),
  pair: (name, content) => `${value(name)}: ${content}`,
  bullets: (items) => items.map((item) => `• ${item}`).join('\n'),
  under: (line, list) => `${line}\n${list}`,
  lines: (lines) => lines.join('\n'),
  labels: (blocks) =>
    blocks.length === 0 ? [] : [`<blockquote expandable>${blocks.flat().join('\n')}</blockquote>`],
  parts: (parts) => parts.join('\n'),
  length: (output) => visibleText(output).length,
};

function value(text: string): string {
  return mentionless(escapeHtml(oneLine(text)));
}

function tagged(tag: string, content: string): string {
  return content === '' ? '' : `<${tag}>${content}</${tag}>`;
}
