/** Markdown of chat servers. */
import { codePoints } from '../../text.ts';
import type { MessageFormat } from './format.ts';
import { emphasised, escapedLine, escapedLines, finishMarkdown, linkTarget } from './markdown-finish.ts';

/** `<` stays: the server shows HTML as text, and not every client takes `\<` for an escape. */
const CHAT_SERVER_SPECIAL = /[\\`*_{}[\]()>#+\-.!~|&]/g;

/** Clients make links of addresses, of escaped ones wrong links, and of `<scheme:…>`: U+200B keeps them text. */
function unlinked(escaped: string): string {
  return escaped.replaceAll('://', ':\u200B//').replace(/<(?=[a-z][a-z0-9+.\\-]*:)/gi, '<\u200B');
}

const chatLine = (value: string) => unlinked(escapedLine(value, CHAT_SERVER_SPECIAL));

export const markdown: MessageFormat = {
  name: 'markdown',
  escape: (value) => unlinked(escapedLines(value, CHAT_SERVER_SPECIAL)),
  link: linkTarget,
  finish: (output) => finishMarkdown(output, 'markdown'),
  value: chatLine,
  anchor: (content, url) => `[${content}](${linkTarget(url)})`,
  bold: (content) => emphasised('**', content),
  italic: (content) => emphasised('*', content),
  struck: (content) => emphasised('~~', content),
  pair: (name, content) => `**${chatLine(name)}:** ${content}`,
  bullets: (items) => items.map((item) => `- ${item}`).join('\n'),
  under: (line, list) => `${line}\n${list}`,
  lines: (lines) => lines.join('\n'),
  labels: (blocks) => blocks.map((lines) => lines.join('\n')),
  parts: (parts) => parts.join('\n\n'),
  length: codePoints,
};

/** The CommonMark of bridges: what bridge §3.6 lists and nothing else. */
const BRIDGE_SPECIAL = /[\\`*_{}[\]()<>#+\-.!|~&]/g;
const HARD_BREAK = '\\\n';

export const commonmark: MessageFormat = {
  name: 'commonmark',
  escape: (value) => escapedLines(value, BRIDGE_SPECIAL),
  link: linkTarget,
  finish: (output) => finishMarkdown(output, 'commonmark'),
  value: (text) => escapedLine(text, BRIDGE_SPECIAL),
  anchor: (content, url) => `[${content}](${linkTarget(url)})`,
  bold: (content) => emphasised('**', content),
  italic: (content) => emphasised('*', content),
  struck: (content) => emphasised('~~', content),
  pair: (name, content) => `${escapedLine(name, BRIDGE_SPECIAL)}: ${content}`,
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
