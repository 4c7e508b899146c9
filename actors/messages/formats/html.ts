/** The HTML of channel bots. */
import { safeUrl } from '../../text.ts';
import { mentionless, oneLine, severalLines } from '../neutral.ts';
import type { MessageFormat } from './format.ts';

export const html: MessageFormat = {
  name: 'html',
  escape: (value) => mentionless(escapeHtml(severalLines(value))),
  link: hrefOf,
  finish: finishHtml,
  value,
  anchor: (content, url) =>
    isLinkable(url) ? `<a href="${hrefOf(url)}">${content}</a>` : `${content} (${value(url)})`,
  bold: (content) => tagged('b', content),
  italic: (content) => tagged('i', content),
  struck: (content) => tagged('s', content),
  pair: (name, content) => `${value(name)}: ${content}`,
  bullets: (items) => items.map((item) => `• ${item}`).join('\n'),
  under: (line, list) => `${line}\n${list}`,
  lines: (lines) => lines.join('\n'),
  labels: (blocks) =>
    blocks.length === 0 ? [] : [`<blockquote expandable>${blocks.flat().join('\n')}</blockquote>`],
  parts: (parts) => parts.join('\n'),
  length: (output) => visibleText(output).length,
};

/** Messengers with HTML leave a link out, without a word, whose host has no dot: `http://localhost/` (channel-bot §6). */
export function isLinkable(url: string): boolean {
  const hostname = URL.parse(url)?.hostname ?? '';
  return hostname.includes('.') || hostname.startsWith('[');
}

function value(text: string): string {
  return mentionless(escapeHtml(oneLine(text)));
}

function tagged(tag: string, content: string): string {
  return content === '' ? '' : `<${tag}>${content}</${tag}>`;
}

/**
 * Makes HTML that a template printed fit a channel bot (templates §7 rules 4, 5): known tags, balanced, safe
 * addresses.
 */
const TAGS: ReadonlySet<string> = new Set('b strong i em u s del code pre a blockquote'.split(' '));
/** No attribute holds `<` or `>`, so reading takes time in proportion to the text. */
const TOKEN = /<(\/?)([a-z][a-z0-9-]*)((?:\s[^<>]*)?)>|[^<]+|</gi;

interface Open {
  readonly name: string;
  /** Nothing was written for it, so nothing closes it. */
  readonly silent: boolean;
}

function finishHtml(output: string): string {
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

/** Text of HTML: escaping, entities, and what of it people see. */

const CHARACTERS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => CHARACTERS[character] ?? character);
}

/** A URL inside `href="…"`. `@` is written as `%40`: with a zero-width space behind it, it would lead elsewhere. */
function hrefOf(url: string): string {
  return escapeHtml(url.replaceAll('@', '%40'));
}

/** Decodes the four named entities that messengers know, and numeric ones. Any other `&` is a character. */
function decodeEntities(text: string): string {
  return text.replace(
    /&(?:(amp|lt|gt|quot)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi,
    (entity, name?: string, decimal?: string, hex?: string) =>
      name === undefined
        ? character(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal), entity)
        : (ENTITIES[name.toLowerCase()] ?? entity),
  );
}

/** What is left to read: tags removed, entities decoded. */
export function visibleText(output: string): string {
  return decodeEntities(output.replace(/<[^>]*>/g, ''));
}

function character(code: number, entity: string): string {
  const isText =
    code === 9 || code === 10 || (code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe003));
  return isText ? String.fromCodePoint(code) : entity;
}

/** Keeps a text within the tags and the bytes that a channel bot's messenger takes (channel-bot §6). */

const MOST_TAGS = 90;
const MOST_BYTES = 32_768;
const TAG = /<(\/?)([a-z]+)([^>]*)>/g;

interface Pair {
  readonly name: string;
  readonly attributes: string;
  readonly opensAt: number;
  closesAt: number;
}

/**
 * Leaves out tags beyond the limits and keeps their text: formatting from the end first, then links from the end. Links
 * to `page` and to people stay.
 * @param output balanced HTML
 */
export function limitTags(output: string, page: string): string {
  const bytes = Buffer.byteLength(output);
  const pairs = pairsOf(output);
  if (pairs.length <= MOST_TAGS && bytes <= MOST_BYTES) return output;
  const isKept = ({ attributes }: Pair) => attributes.includes(`"${page}"`) || attributes.includes('"tg://');
  const formatting = pairs.filter(({ name }) => name !== 'a').reverse();
  const links = pairs.filter((pair) => pair.name === 'a' && !isKept(pair)).reverse();
  const leaving = [...formatting, ...links].slice(0, Math.max(0, pairs.length - MOST_TAGS));
  let tooMany = bytes - MOST_BYTES - leaving.reduce((sum, pair) => sum + bytesOf(pair), 0);
  // Addresses are nearly all of what is not read.
  for (const link of links.filter((pair) => !leaving.includes(pair))) {
    if (tooMany <= 0) break;
    leaving.push(link);
    tooMany -= bytesOf(link);
  }
  const left = new Set(leaving.flatMap(({ opensAt, closesAt }) => [opensAt, closesAt]));
  return output.replace(TAG, (tag, ...rest: unknown[]) => (left.has(Number(rest.at(-2))) ? '' : tag));
}

function bytesOf({ name, attributes }: Pair): number {
  return Buffer.byteLength(`<${name}${attributes}></${name}>`);
}

/** By their opening tags. */
function pairsOf(output: string): Pair[] {
  const pairs: Pair[] = [];
  const open: Pair[] = [];
  for (const { index, 1: slash, 2: name = '', 3: attributes = '' } of output.matchAll(TAG)) {
    if (slash === '/') {
      const pair = open.pop();
      if (pair) pair.closesAt = index;
    } else {
      const pair = { name, attributes, opensAt: index, closesAt: index };
      open.push(pair);
      pairs.push(pair);
    }
  }
  return pairs;
}
