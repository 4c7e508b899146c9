/**
 * Replaces the values of JSON members with sensitive names, at any depth, and leaves every other character as it was
 * sent. Reads text that breaks off as well: what is shown of a large body is only its beginning. No text, whatever it
 * holds, is gone through more than a few times.
 */
import { isSensitiveName, REDACTED } from '../../secrets/masking.ts';

/** To its end, or to the end of the text: it matches at every quotation mark. */
const STRING = /"(?:[^"\\]|\\.)*(?:"|\\?$)/sy;
const COLON = /\s*:\s*/y;
const SCALAR = /[^,\]}\s]*/y;

export function maskJsonMembers(text: string): string {
  let masked = '';
  let done = 0;
  let at = text.indexOf('"');
  while (at >= 0) {
    const end = endOf(STRING, text, at);
    const value = endOf(COLON, text, end);
    if (value === end) {
      // No name. Where it ends another string may begin: the text need not be JSON.
      at = text.indexOf('"', Math.max(at + 1, end - 1));
      continue;
    }
    const isSensitive = isSensitiveName(unescaped(text.slice(at + 1, end - 1)));
    const next = isSensitive ? endOfValue(text, value) : value;
    if (isSensitive) {
      masked += `${text.slice(done, value)}"${REDACTED}"`;
      done = next;
    }
    at = text.indexOf('"', next);
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

/** `from` when it does not match there. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.exec(text);
  return Math.max(from, pattern.lastIndex);
}
