/** The CommonMark of bridges: what bridge protocol §2.4 lists and nothing else. */
import { codePoints } from '../../text.ts';
import { emphasised, escapedLine, escapedLines, linkTarget } from './backslash.ts';
import type { MessageFormat } from './format.ts';
import { finishMarkdown } from './markdown-finish.ts';

const SPECIAL = /[\\`*_{}[\]()<>#+\-.!|~&]/g;
const HARD_BREAK = '\\\n';

export const commonmark: MessageFormat = {
  name: 'commonmark',
  escape: (value) => escapedLines(value, SPECIAL),
  link: linkTarget,
  finish: (output) => finishMarkdown(output, 'commonmark'),
  value: (text) => escapedLine(text, SPECIAL),
  anchor: (content, url) => `[${content}](${linkTarget(url)})`,
  bold: (content) => emphasised('**', content),
  italic: (content) => emphasised('*', content),
  struck: (content) => emphasised('~~', content),
  pair: (name, content) => `${escapedLine(name, SPECIAL)}: ${content}`,
  bullets: (items) => items.map((item) => `- ${item}`).join('\n'),
  under: (line, list) => `${line}\n\n${list}`,
  lines: (lines) => lines.join(HARD_BREAK),
  labels: (blocks) => (blocks.length === 0 ? [] : [blocks.map(quoted).join('\n>\n')]),
  parts: (parts) => parts.join('\n\n'),
  length: codePoints,
};

function quoted(lines: readonly string[]): string {
  return lines.map((line) => `> ${line}`).join(HARD_BREAK);
}
