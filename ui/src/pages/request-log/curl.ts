/** A request as a command for a shell. What was masked stays masked, so it holds no secret and may need one. Pure. */
import type { RequestDetail } from '../../api/request-log.ts';

export function curlOf({ method, url, request_headers: headers, request_body: body }: RequestDetail): string {
  const parts = [
    `curl -X ${quoted(method)} ${quoted(url)}`,
    ...headers.map(({ name, value }) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return parts.join(' \\\n  ');
}

/** Nothing in single quotes means anything to a shell, but for the quote itself. */
function quoted(text: string): string {
  return /^[A-Z]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
