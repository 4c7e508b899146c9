/** Markdown of chat servers. */
import { codePoints } from '../../text.ts';
import { emphasised, escapedLine, escapedLines, linkTarget } from './backslash.ts';
import type { MessageFormat } from './format.ts';
import { finishMarkdown } from './markdown-finish.ts';

/** `<` stays: the server shows HTML as text, and not every client takes `\<` for an escape. */
const SPECIAL = /[\\`*_{}[\]()>#+\-.!~|]/g;

export const markdown: MessageFormat = {
  name: 'markdown',
  escape: (value) => escapedLines(value, SPECIAL),
  link: linkTarget,
  finish: (output) => finishMarkdown(output, 'markdown'),
  value: (text) => escapedLine(text, SPECIAL),
  anchor: (content, url) => `[${content}](${linkTarget(url)})`,
  bold: (content) => emphasised('**', content),
  italic: (content) => emphasised('*', content),
  struck: (content) => emphasised('~~', content),
  pair: (name, content) => `**${escapedLine(name, SPECIAL)}:** ${content}`,
  bullets: (items) => items.map((item) => `- ${item}`).join('\n'),
  under: (line, list) => `${line}\n${list}`,
  lines: (lines) => lines.join('\n'),
  labels: (blocks) => blocks.map((lines) => lines.join('\n')),
  parts: (parts) => parts.join('\n\n'),
  length: codePoints,
};
