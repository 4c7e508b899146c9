/** Credentials that an Admin wrote out in a configuration are shown to its readers, but not in logs (secrets §9). */
import { isSensitiveName, maskShapes, REDACTED } from './masking.ts';

const PARAMETER = /([?&]([^=&?#\s]{1,256})=)([^&#\s]+)/g;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}):[ \t]*(\S.*)$/gm;
/** What holds no credential itself: a scheme, and a template that reads one. */
const READS_SECRET = /^(?:[A-Za-z]+ +)?\{\{[^{}]*\.Secrets[^{}]*\}\}$/;

/** The same value with every text in it, and every header in it, fit for a log line. */
export function maskLiterals(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map(maskLiterals);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, maskLiterals(inner)] as const);
  const fields = Object.fromEntries(entries);
  const { name, value: said } = fields;
  // A header; what else has a name and a value has more besides.
  if (entries.length !== 2 || typeof name !== 'string' || typeof said !== 'string') return fields;
  return { ...fields, value: shown(name, said) };
}

/** A URL, a request with its headers, or any other text. */
function maskText(text: string): string {
  return maskShapes(text)
    .replace(PARAMETER, (_, before: string, name: string, said: string) => before + shown(name, said))
    .replace(HEADER_LINE, (line: string, name: string, said: string) =>
      shown(name, said) === said ? line : `${name}: ${REDACTED}`,
    );
}

function shown(name: string, said: string): string {
  return said === '' || !isSensitiveName(name) || READS_SECRET.test(said.trim()) ? said : REDACTED;
}
