/**
 * HTML as the Bot API reads it (its documentation, "HTML style"; td/telegram/MessageEntity.cpp, `parse_html`). What the
 * server takes though no careful client sends it is a violation: an `&` that begins none of the four entities.
 */

export interface Entity {
  readonly type: string;
  /** UTF-16 units of the text. */
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  /** Of a `tg://user?id=` link. */
  readonly user?: number;
}

export interface Parsed {
  readonly text: string;
  readonly entities: readonly Entity[];
  readonly violations: readonly string[];
}

/** Why a text cannot be read; the description without what stands before it in an answer. */
export class Unreadable extends Error {}

const TYPES: Readonly<Record<string, string>> = {
  ...{ a: 'text_link', b: 'bold', strong: 'bold', i: 'italic', em: 'italic', s: 'strikethrough' },
  ...{ strike: 'strikethrough', del: 'strikethrough', u: 'underline', ins: 'underline', code: 'code' },
  ...{
    pre: 'pre',
    blockquote: 'blockquote',
    'tg-spoiler': 'spoiler',
    span: 'spoiler',
    'tg-emoji': 'custom_emoji',
  },
};
/** Formatting beyond this is dropped by the server (reported, not documented): a violation here. */
const MOST_ENTITIES = 100;

interface Open {
  readonly tag: string;
  readonly at: number;
  readonly attributes: Readonly<Record<string, string | true>>;
}

export function parseHtml(source: string): Parsed {
  return new Reader(source).read();
}

class Reader {
  readonly #source: string;
  readonly #open: Open[] = [];
  readonly #entities: Entity[] = [];
  readonly #violations: string[] = [];
  #text = '';
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Parsed {
    while (this.#at < this.#source.length) {
      const next = this.#source[this.#at];
      if (next === '&') this.#entity();
      else if (next === '<') this.#tag();
      else this.#plain();
    }
    const left = this.#open.at(-1);
    if (left) throw new Unreadable(`Can't find end tag corresponding to start tag "${left.tag}"`);
    if (this.#entities.length > MOST_ENTITIES) this.#violations.push(`${this.#entities.length} entities`);
    const entities = this.#entities.sort(
      (one, other) => one.offset - other.offset || other.length - one.length,
    );
    return { text: this.#text, entities, violations: this.#violations };
  }

  #plain(): void {
    const special = this.#source.slice(this.#at).search(/[&<]/);
    const end = special < 0 ? this.#source.length : this.#at + special;
    this.#text += this.#source.slice(this.#at, end);
    this.#at = end;
  }

  /** `decode_html_entity`: four names, and numbers in both notations; anything else is text as it stands. */
  #entity(): void {
    const found = /^&(?:(lt|gt|amp|quot)|#(\d{1,7})|#x([0-9a-f]{1,6}));/i.exec(
      this.#source.slice(this.#at, this.#at + 12),
    );
    if (!found) {
      this.#violations.push(`a bare & at byte offset ${this.#offset(this.#at)}`);
      this.#text += this.#source[this.#at++];
      return;
    }
    const [whole, name, decimal, hex] = found;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    this.#text +=
      name === undefined ? String.fromCodePoint(code) : { lt: '<', gt: '>', amp: '&', quot: '"' }[name];
    this.#at += whole.length;
  }

  #tag(): void {
    const from = this.#at;
    const end = /^<\/([^>]*)>/.exec(this.#source.slice(this.#at));
    if (end) {
      this.#end((end[1] ?? '').trim().toLowerCase(), from);
      this.#at += end[0].length;
      return;
    }
    const start =
      /^<([^\s<>/"']*)((?:\s+[^\s=<>/"']+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9.-]+))?)*)\s*>/.exec(
        this.#source.slice(this.#at),
      );
    if (!start) throw new Unreadable(`Unclosed start tag at byte offset ${this.#offset(from)}`);
    const tag = (start[1] ?? '').toLowerCase();
    if (TYPES[tag] === undefined)
      throw new Unreadable(`Unsupported start tag "${tag}" at byte offset ${this.#offset(from)}`);
    const attributes = attributesOf(start[2] ?? '');
    if (tag === 'span' && attributes.class !== 'tg-spoiler')
      throw new Unreadable(`Tag "span" must have class "tg-spoiler" at byte offset ${this.#offset(from)}`);
    this.#open.push({ tag, at: this.#text.length, attributes });
    this.#at += start[0].length;
  }

  #end(name: string, from: number): void {
    const last = this.#open.pop();
    if (!last) throw new Unreadable(`Unexpected end tag at byte offset ${this.#offset(from)}`);
    if (name !== '' && name !== last.tag)
      throw new Unreadable(
        `Unmatched end tag at byte offset ${this.#offset(from)}, expected "</${last.tag}>", found "</${name}>"`,
      );
    const length = this.#text.length - last.at;
    if (length > 0) this.#entities.push(...entityOf(last, this.#text.slice(last.at), length));
  }

  #offset(at: number): number {
    return Buffer.byteLength(this.#source.slice(0, at));
  }
}

function attributesOf(text: string): Open['attributes'] {
  const found = text.matchAll(/([^\s=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+)))?/g);
  return Object.fromEntries(
    [...found].map(([, name = '', ...values]) => [
      name.toLowerCase(),
      values.find((value) => value !== undefined) ?? true,
    ]),
  );
}

function entityOf({ tag, at: offset, attributes }: Open, content: string, length: number): readonly Entity[] {
  const place = { offset, length };
  if (tag === 'blockquote')
    return [{ type: attributes.expandable === undefined ? 'blockquote' : 'expandable_blockquote', ...place }];
  if (tag !== 'a') return [{ type: TYPES[tag] ?? tag, ...place }];
  const href = typeof attributes.href === 'string' ? parseHtml(attributes.href).text : content;
  const user = /^tg:\/\/user\?id=(\d+)$/.exec(href)?.[1];
  if (user !== undefined) return [{ type: 'text_mention', ...place, user: Number(user) }];
  return isLinkable(href) ? [{ type: 'text_link', ...place, url: href }] : [];
}

/** A link to a host without a dot is lost without an error (td/telegram/LinkManager.cpp, `get_checked_link`). */
function isLinkable(href: string): boolean {
  if (!URL.canParse(href)) return false;
  const { protocol, hostname } = new URL(href);
  return /^(https?|tg|ton|tonsite):$/.test(protocol) && (hostname.includes('.') || hostname.startsWith('['));
}

/** What the server finds by itself in a text: names after an `@` (td/telegram/MessageEntity.cpp, `find_mentions`). */
export function mentionsIn(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\p{L}\p{N}_@/])@([A-Za-z][A-Za-z0-9_]{2,31})(?![\p{L}\p{N}_])/gu)].map(
    ([, name = '']) => name,
  );
}
