/** How a messenger writes what a message is made of. One object per format; nothing else knows any markup. */
import { plainFormat } from '../../templates/index.ts';
import type { OutputFormat } from '../../templates/types.ts';
import { codePoints } from '../../text.ts';
import { mentionless, oneLine } from '../neutral.ts';

/**
 * Texts named `content` are already in the format: values went through `value`, texts of the catalogue need no
 * escaping. Everything else is untrusted and escaped here.
 */
export interface MessageFormat extends OutputFormat {
  /** An untrusted value in one line, escaped; it names nobody. */
  value(text: string): string;
  /** @param url one that passed `safeUrl` */
  anchor(content: string, url: string): string;
  bold(content: string): string;
  italic(content: string): string;
  struck(content: string): string;
  /** One label or annotation. */
  pair(name: string, content: string): string;
  bullets(items: readonly string[]): string;
  /** A list right under the line that introduces it. */
  under(line: string, list: string): string;
  /** Lines that belong together. */
  lines(lines: readonly string[]): string;
  /** Parts 3 to 5: blocks of pairs, none of them empty. */
  labels(blocks: readonly (readonly string[])[]): readonly string[];
  /** Parts, one after another. */
  parts(parts: readonly string[]): string;
  /** Length as the messenger's limit counts it. */
  length(output: string): number;
}

/** Plain text: previews without a format, logs, texts of webhooks. */
const asItIs = (content: string): string => content;
const value = (text: string): string => mentionless(oneLine(text));

export const plain: MessageFormat = {
  ...plainFormat,
  value,
  anchor: asItIs,
  bold: asItIs,
  italic: asItIs,
  struck: asItIs,
  pair: (name, content) => `${value(name)}: ${content}`,
  bullets: (items) => items.map((item) => `- ${item}`).join('\n'),
  under: (line, list) => `${line}\n${list}`,
  lines: (lines) => lines.join('\n'),
  labels: (blocks) => blocks.map((lines) => lines.join('\n')),
  parts: (parts) => parts.join('\n'),
  length: codePoints,
};
