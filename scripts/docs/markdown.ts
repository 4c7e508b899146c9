/** Markdown as the HTML of a page: headings with anchors, links to where things are served, nothing that scripts or styles. */
import path from 'node:path';
import { Marked, type Tokens } from 'marked';

export interface Heading {
  readonly level: number;
  readonly id: string;
  /** HTML, without links. */
  readonly html: string;
}

export interface Rendered {
  readonly html: string;
  /** The text of its first heading. */
  readonly title: string;
  readonly headings: readonly Heading[];
}

/** Where a link of a page leads. */
export interface Target {
  /** Null: not served; the text stays and the link goes. */
  readonly href: string | null;
}

/** @param file path in the repository; @param anchor with its `#`, or empty */
export type Locate = (file: string, anchor: string) => Target;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');

/** The text of HTML that this module made. */
export function textOf(html: string): string {
  const text = html.replaceAll(/<[^>]+>/g, '');
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? entity);
}

const CHARACTERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(ENTITIES).map(([character, entity]) => [entity, character])),
  '&#39;': "'",
};

/** The anchor of a heading, as the repository's pages are linked to. */
export function slugOf(text: string): string {
  const kept = text.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '');
  return kept.trim().replaceAll(/\s/g, '-');
}

const cellOf = (tag: string, html: string) => `<${tag}>${html}</${tag}>`;

/**
 * @param file the page's path in the repository, from which its links are relative
 * @throws {Error} from `locate`
 */
export function renderMarkdown(file: string, markdown: string, locate: Locate): Rendered {
  const headings: Heading[] = [];
  const used = new Map<string, number>();

  function idOf(text: string): string {
    const slug = slugOf(text);
    const before = used.get(slug) ?? 0;
    used.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  }

  /** The row of a setting or a metric is linked to as a heading is. */
  function anchorOf(first: Tokens.TableCell | undefined): string {
    const name = /^`(svc_\w+)`/i.exec(first?.text ?? '')?.[1];
    return name === undefined ? '' : ` id="${idOf(name)}"`;
  }

  function located(href: string): string | null {
    if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(href))
      throw new Error(
        `${file} links to ${href}: the pages are read without internet, so write its name instead`,
      );
    if (/^(\/|#)/.test(href)) return href;
    const [, to = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
    return locate(path.posix.join(path.posix.dirname(file), decodeURI(to)), anchor).href;
  }

  const marked = new Marked({
    // An address in a sentence is an example, not a link.
    tokenizer: { url: () => undefined },
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const html = this.parser.parseInline(tokens);
        const plain = html.replaceAll(/<\/?a\b[^>]*>/g, '');
        const id = idOf(textOf(html));
        headings.push({ level: depth, id, html: plain });
        const link =
          depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${id}">${html}${link}</h${depth}>\n`;
      },
      link({ href, title, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const to = located(href);
        if (to === null) return text;
        return `<a href="${escaped(to)}"${title ? ` title="${escaped(title)}"` : ''}>${text}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const to = located(href);
        if (to === null) throw new Error(`${file} shows ${href}, which is not served`);
        const kind = to.endsWith('.svg') ? ' class="drawing"' : '';
        const image = `<img src="${escaped(to)}" alt="${escaped(text)}"${kind} loading="lazy">`;
        return `<a href="${escaped(to)}" class="picture">${image}</a>`;
      },
      table(token: Tokens.Table) {
        const cells = (row: readonly Tokens.TableCell[], tag: string) =>
          row
            .map((cell) => cellOf(cell.text === '' ? 'td' : tag, this.parser.parseInline(cell.tokens)))
            .join('');
        const isNamed = token.header.some((cell) => cell.text !== '');
        const head = isNamed ? `<thead><tr>${cells(token.header, 'th')}</tr></thead>\n` : '';
        const rows = token.rows.map((row) => `<tr${anchorOf(row[0])}>${cells(row, 'td')}</tr>\n`).join('');
        return `<div class="table" tabindex="0"><table>\n${head}<tbody>\n${rows}</tbody>\n</table></div>\n`;
      },
      code({ text, lang }: Tokens.Code) {
        const language = /^\w+/.exec(lang ?? '')?.[0];
        const attribute = language ? ` data-language="${language}"` : '';
        return `<pre tabindex="0"${attribute}><code>${escaped(text)}\n</code></pre>\n`;
      },
      // Nothing in a page is HTML: `<route_id>` outside of code is meant as it is written.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    },
  });
  const html = marked.parse(markdown, { async: false });
  const first = headings[0];
  if (first?.level !== 1) throw new Error(`${file} does not begin with a heading`);
  return { html, title: textOf(first.html), headings };
}
