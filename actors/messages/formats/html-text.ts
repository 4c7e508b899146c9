/** Text of HTML: escaping, entities, and what of it people see. */

const CHARACTERS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => CHARACTERS[character] ?? character);
}

/** A URL inside `href="…"`. `@` is written as `%40`: with a zero-width space behind it, it would lead elsewhere. */
export function hrefOf(url: string): string {
  return escapeHtml(url.replaceAll('@', '%40'));
}

/** Decodes the four named entities that messengers know, and numeric ones. Any other `&` is a character. */
export function decodeEntities(text: string): string {
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
