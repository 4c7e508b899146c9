/** Plain text: previews without a format, logs, texts of webhooks. */
import { plainFormat } from '../../templates/index.ts';
import { codePoints } from '../../text.ts';
import { mentionless, oneLine } from '../neutral.ts';
import type { MessageFormat } from './format.ts';

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
