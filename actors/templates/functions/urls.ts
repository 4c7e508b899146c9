/** Functions on URLs (templates §6). */
import { safeUrl } from '../../messages/safe-url.ts';
import { Refusal } from '../refusal.ts';
import { escaping, one, type TemplateFunction, text, two } from './define.ts';
import { escapePathSegment, unescapeQuery } from './escapes.ts';

function parameter(name: string, url: string): string {
  const [address = ''] = url.split('#', 1);
  const start = address.indexOf('?');
  if (start < 0) return '';
  for (const pair of address.slice(start + 1).split('&')) {
    const end = pair.indexOf('=');
    const key = unescapeQuery(end < 0 ? pair : pair.slice(0, end));
    const value = unescapeQuery(end < 0 ? '' : pair.slice(end + 1));
    if (key === name && value !== null) return value;
  }
  return '';
}

export const URLS: Readonly<Record<string, TemplateFunction>> = {
  urlUnescape: one(text, (value) => {
    const plain = unescapeQuery(value);
    if (plain === null) throw new Refusal('bad escape');
    return plain;
  }),
  urlPathEscape: one(text, escapePathSegment),
  queryParam: two(text, text, parameter),
  safeUrl: escaping(
    one(text, (value, call) => {
      const safe = safeUrl(value);
      return safe === null ? '' : call.context.format.link(safe);
    }),
  ),
  safeHtml: one(text, (value) => value),
};
