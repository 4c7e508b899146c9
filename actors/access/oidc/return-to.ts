/** Where a browser goes on after a sign-in: a page of our own, whatever a link says (seed 2 §4.1). */

const MOST_CHARACTERS = 2_000;
const FORBIDDEN = /[\\\p{Cc}]/u;

/** The path as it may stand in a Location header; `/` in the place of anything that leads elsewhere. */
export function returnPath(wanted: string | null): string {
  if (wanted === null || !isOurs(wanted)) return '/';
  return wanted.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
}

function isOurs(path: string): boolean {
  if (!path.startsWith('/') || path.startsWith('//') || path.length > MOST_CHARACTERS) return false;
  return !FORBIDDEN.test(path);
}
