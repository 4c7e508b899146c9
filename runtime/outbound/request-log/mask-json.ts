/**
 * Replaces the values of JSON members with sensitive names, at any depth, and leaves every other character as it was
 * sent. Reads text that breaks off as well: what is shown of a large body is only its beginning.
 */
import { isSensitiveName, REDACTED } from '../../secrets/masking.ts';

const MEMBER = /"((?:[^"\\]|\\.)*)"(\s*:\s*)/g;
const STRING = /"(?:[^"\\]|\\.)*(?:"|$)/y;
const SCALAR = /[^,\]}\s]*/y;

export function maskJsonMembers(text: string): string {
  let masked = '';
  let done = 0;
  MEMBER.lastIndex = 0;
  for (let member = MEMBER.exec(text); member; member = MEMBER.exec(text)) {
    if (!isSensitiveName(unescaped(member[1] ?? ''))) continue;
    const from = MEMBER.lastIndex;
    const to = endOfValue(text, from);
    masked += `${text.slice(done, from)}"${REDACTED}"`;
    done = to;
    MEMBER.lastIndex = to;
  }
  return masked + text.slice(done);
}

function unescaped(name: string): string {
  return name.includes('\\')
    ? name.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : name;
}

/** Where the value that begins at `from` ends; the end of the text when it breaks off. */
function endOfValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return endOf(STRING, text, from);
  if (first !== '{' && first !== '[') return endOf(SCALAR, text, from);
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') {
      at = endOf(STRING, text, at);
      continue;
    }
    if (character === '{' || character === '[') depth++;
    if (character === '}' || character === ']') depth--;
    at++;
    if (depth === 0) return at;
  }
  return text.length;
}

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.exec(text);
  return Math.max(from, pattern.lastIndex);
}
