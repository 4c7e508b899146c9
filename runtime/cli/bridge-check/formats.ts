/** What the commands about bridges take from the command line. */

/** Tokens of the Authorization header. */
export function isToken(text: string): boolean {
  return /^[!-~]{1,512}$/.test(text);
}

/** An absolute http(s) address without user, query and fragment. */
export function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

/** `whsec_` and the base64 of at least 24 bytes (bridge protocol §5). */
export function isPushSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  return base64.length % 4 === 0 && Buffer.from(base64, 'base64').length >= 24;
}
