/** Escaping as Go's functions of these names do it. */
import { isPrintable } from '../text/quote.ts';

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
  '\0': '\uFFFD',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\0]/g, (character) => HTML[character] ?? character);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: Go escapes them, too.
const JS_ESCAPED = /[\\'"<>&=\0-\x1f]|[^\0-\x7f]/gu;

export function escapeJs(text: string): string {
  return text.replace(JS_ESCAPED, (character) => {
    if (character === '\\' || character === "'" || character === '"') return `\\${character}`;
    const code = character.codePointAt(0) ?? 0;
    if (code > 0x7e && isPrintable(character)) return character;
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

export function escapeQuery(text: string): string {
  return percentEncoded(text, /[A-Za-z0-9_.~-]/).replaceAll('%20', '+');
}

/** One segment of a path. */
export function escapePathSegment(text: string): string {
  return percentEncoded(text, /[A-Za-z0-9_.~$&+=:@-]/);
}

function percentEncoded(text: string, kept: RegExp): string {
  let result = '';
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    result += kept.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return result;
}

/** The text behind a query's escapes; null when an escape is broken. */
export function unescapeQuery(text: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null;
  if (!text.includes('%')) return text.replaceAll('+', ' ');
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})|[^\0-\x7f]+/g, (part, code: string | undefined) =>
      code === undefined ? Buffer.from(part).toString('latin1') : String.fromCharCode(parseInt(code, 16)),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
