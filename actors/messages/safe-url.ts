/** Which texts may become links anywhere (messages §9.1). */

const URL_LIMIT = 2_048;
const UNFIT = /[\s\p{Cc}\p{Cf}\uE000-\uE002]/u;

/**
 * A text that somebody else wrote as a link: an absolute http or https URL with a host and without user information,
 * white space or invisible characters, at most 2,048 characters. Null for anything else.
 */
export function safeUrl(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length > URL_LIMIT || UNFIT.test(trimmed) || !/^https?:\/\//i.test(trimmed)) return null;
  const url = URL.parse(trimmed);
  return url?.host && url.username === '' && url.password === '' ? trimmed : null;
}
