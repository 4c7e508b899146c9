/** Entity tags: the version of a resource in quotes (api §1.6). */
import type { IfMatch } from './operation.ts';

export function etagOf(version: number): string {
  return `"${version}"`;
}

/** Reads an If-Match header: one tag or a list, weak forms too, `*`; what cannot be read matches nothing. */
export function parseIfMatch(header: string): IfMatch {
  const text = header.trim();
  if (text === '*') return { matches: () => true };
  const tags = readTags(text);
  return { matches: (version) => tags.includes(String(version)) };
}

/** Whether an If-None-Match header covers a strong tag given with its quotes. */
export function noneMatchCovers(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === '*') return true;
  return readTags(header).includes(etag.slice(1, -1));
}

function readTags(text: string): readonly string[] {
  const tags: string[] = [];
  for (const part of text.split(',')) {
    const match = /^(?:W\/)?"([^"]*)"$/.exec(part.trim());
    if (!match) return [];
    tags.push(match[1] ?? '');
  }
  return tags;
}
