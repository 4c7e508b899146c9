/** Makes HTML that a template printed fit a channel bot (templates §7.4, §7.5): known tags, balanced, safe addresses. */
import { mentionless } from '../neutral.ts';
import { safeUrl } from '../safe-url.ts';
import { decodeEntities, escapeHtml, hrefOf } from './html-text.ts';

const TAGS: ReadonlySet<string> = new Set('b strong i em u s del code pre a blockquote'.split(' '));
/** No attribute holds `<` or `>`, so reading takes time in proportion to the text. */
const TOKEN = /<(\/?)([a-z][a-z0-9-]*)((?:\s[^<>]*)?)>|[^<]+|</gi;

interface Open {
  readonly name: string;
  /** Nothing was written for it, so nothing closes it. */
  readonly silent: boolean;
}

export function finishHtml(output: string): string {
  const open: Open[] = [];
  let result = '';
  for (const [token, slash, name, attributes = ''] of output.matchAll(TOKEN)) {
    if (name === undefined) result += escapeHtml(decodeEntities(token));
    else if (slash === '/') result += closing(open, name.toLowerCase()) ?? escapeHtml(token);
    else result += opening(open, name.toLowerCase(), attributes) ?? escapeHtml(token);
  }
  return mentionless(result + closedDownTo(open, 0));
}

/** The opening tag as it is written, `''` for one that is left out, null for one that is shown as text. */
function opening(open: Open[], name: string, attributes: string): string | null {
  if (!TAGS.has(name) || !fitsInside(open, name)) return null;
  const text = openingText(open, name, attributes);
  open.push({ name, silent: text === '' });
  return text;
}

function openingText(open: readonly Open[], name: string, attributes: string): string {
  const isNested = open.some((outer) => outer.name === name);
  switch (name) {
    case 'a': {
      const href = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/i.exec(attributes);
      const url = safeUrl(decodeEntities(href?.[1] ?? href?.[2] ?? href?.[3] ?? ''));
      return isNested || url === null ? '' : `<a href="${hrefOf(url)}">`;
    }
    case 'blockquote':
      if (isNested) return '';
      return /\sexpandable\b/i.test(attributes) ? '<blockquote expandable>' : '<blockquote>';
    default:
      return `<${name}>`;
  }
}

/** Code holds no other tags, except that `pre` may hold one `code`. */
function fitsInside(open: readonly Open[], name: string): boolean {
  const outer = open.at(-1)?.name;
  if (outer === 'code') return false;
  return outer !== 'pre' || name === 'code';
}

function closing(open: Open[], name: string): string | null {
  const index = open.findLastIndex((outer) => outer.name === name);
  return index < 0 ? null : closedDownTo(open, index);
}

function closedDownTo(open: Open[], index: number): string {
  return open
    .splice(index)
    .reverse()
    .map(({ name, silent }) => (silent ? '' : `</${name}>`))
    .join('');
}
