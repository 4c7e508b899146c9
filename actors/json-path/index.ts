/** JSONPath over answers of other programs (RFC 9535). */
export { JsonNumber, type JsonValue, readJson } from './json.ts';
export { type ParsedPath, parsePath } from './parse.ts';
export type { Path } from './path.ts';
export { selectNodes } from './select.ts';
