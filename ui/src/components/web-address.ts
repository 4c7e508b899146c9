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
    const address = match[0].replace(/[.,;:!?)\]}]+$/, '');
    if (!isWebAddress(address)) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), link: false });
    parts.push({ text: address, link: true });
    from = match.index + address.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), link: false });
  return parts;
}
