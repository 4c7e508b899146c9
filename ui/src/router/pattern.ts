/** Path patterns such as `/routes/:id`. */

/** The parameters of a path that fits, or null. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const expected = pattern.split('/');
  const given = path.split('/');
  if (expected.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':') && value !== '') params[part.slice(1)] = decode(value);
    else if (part !== value) return null;
  }
  return params;
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // A broken escape is an id that does not exist.
    return value;
  }
}

/** What browsers leave out of an address, or read as a slash: either makes another site of a path. */
const MISREAD = /[\\\p{Cc}]/u;

/** A path of this site that is safe to go to after sign-in: one leading slash, no scheme. */
export function safeReturnTo(value: string | null): string {
  if (value === null || value.length > 2_000) return '/';
  const relative = value.startsWith('/') && !value.startsWith('//') && !MISREAD.test(value);
  return relative ? value : '/';
}
