/** Text from outside: what of it may be a link, how people read it, and how they keep it. */

/** Only http and https become links; everything else stays text (ui §1.1 rule 3). */
export function isWebAddress(text: string): boolean {
  try {
    const { protocol } = new URL(text);
    return protocol === 'http:' || protocol === 'https:';
  } catch {
    // Not a URL at all.
    return false;
  }
}

export interface TextPart {
  readonly text: string;
  readonly link: boolean;
}

/** Splits plain text into text and web addresses. */
export function splitAddresses(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(/https?:\/\/[^\s<>"']+/g)) {
    const address = withoutEnd(match[0], PUNCTUATION);
    if (!isWebAddress(address)) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), link: false });
    parts.push({ text: address, link: true });
    from = match.index + address.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), link: false });
  return parts;
}

/** What belongs to the sentence around an address when it stands behind it. */
export const PUNCTUATION = '.,;:!?)]}';

/** An address without the characters behind it that are none of it. */
export function withoutEnd(address: string, strangers: string): string {
  let end = address.length;
  while (end > 0 && strangers.includes(address.charAt(end - 1))) end -= 1;
  return address.slice(0, end);
}

/** JSON with two spaces of indentation; null for text that is no JSON. */
export function prettyJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

const UNITS = ['byte', 'kilobyte', 'megabyte'] as const;

/** `1.4 MB`: decimal units, one digit below ten. */
export function formatBytes(bytes: number, locale: string): string {
  const power = bytes < 1_000 ? 0 : bytes < 1_000_000 ? 1 : 2;
  const amount = bytes / 1_000 ** power;
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: UNITS[power] ?? 'byte',
    // The short form of a byte has no plural.
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power > 0 && amount < 10 ? 1 : 0,
  }).format(amount);
}

/** Bytes from base64, for a download of what is no text. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Gives a text to the browser as a file to keep. */
export function downloadText(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
