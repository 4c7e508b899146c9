/** Takes values out of an answer (webhooks §4.4). */
import { JsonNumber, type JsonValue, parsePath, readJson, selectNodes } from '../../json-path/index.ts';
import type { ExtractionRule } from './configuration.ts';

const VALUE_BYTES = 4096;

export interface Extraction {
  /** By the names of their rules. */
  readonly values: Readonly<Record<string, string>>;
  /** Names of rules that found nothing. */
  readonly missing: readonly string[];
}

/** @param body null: there was more than can be read */
export function extractValues(rules: readonly ExtractionRule[], body: Buffer | null): Extraction {
  if (rules.length === 0) return { values: {}, missing: [] };
  const json = body && readJson(body.toString('utf8'));
  const found = rules.map(({ name, path }) => [name, json ? valueAt(path, json.value) : null] as const);
  return {
    values: Object.fromEntries(found.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
    missing: found.flatMap(([name, value]) => (value === null ? [name] : [])),
  };
}

function valueAt(path: string, root: JsonValue): string | null {
  const parsed = parsePath(path);
  const [first] = parsed.ok ? (selectNodes(parsed.path, root) ?? []) : [];
  const text = first === undefined ? null : textOf(first);
  return text !== null && Buffer.byteLength(text) <= VALUE_BYTES ? text : null;
}

function textOf(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.source;
  return typeof value === 'boolean' ? String(value) : null;
}
