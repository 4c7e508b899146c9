/** Label matchers in the text form of the API (routes §1.2). */

/**
 * A label matcher in the text form of the API. What people type without quotes gets them; text that is no matcher at
 * all is null.
 */
export function toMatcherText(typed: string): string | null {
  const match = /^\s*("(?:[^"\\]|\\.)*"|[A-Za-z_:][A-Za-z0-9_:]*)\s*(=~|!~|!=|=)\s*(.*?)\s*$/s.exec(typed);
  if (match === null) return null;
  const [, name = '', op = '', value = ''] = match;
  return `${name}${op}${/^"(?:[^"\\]|\\.)*"$/s.test(value) ? value : quote(value)}`;
}

/** The matcher `name="value"` or `name!="value"` of a label. */
export function labelMatcher(name: string, value: string, exclude: boolean): string {
  const plain = /^[A-Za-z_:][A-Za-z0-9_:]*$/.test(name) ? name : quote(name);
  return `${plain}${exclude ? '!=' : '='}${quote(value)}`;
}

function quote(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
