/** Text as HTML. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Fit for text and for quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}

/** Plain text as a paragraph that keeps its lines; addresses in it can be followed, as in any messenger. */
export function plain(text: string): string {
  const linked = escapeHtml(text).replace(
    /https?:\/\/(?:[^\s&]|&amp;)*(?:[^\s&.,;:!?)]|&amp;)/g,
    '<a href="$&">$&</a>',
  );
  return `<p class="plain">${linked}</p>`;
}
