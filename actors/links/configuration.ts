/** Link rules and Lookup tables as renders use them: one picture, replaced as a whole when something is saved. */
import { compileMatchers, type LabelTest } from '../route/matcher.ts';
import { parseTemplate, type Template, type TemplateError } from '../templates/index.ts';
import type { LinkRuleFields, LinkRuleScope, LookupRow, LookupTableFields, StoredLinkRule } from './ports.ts';

export interface LinkConfiguration {
  /** By name, then by creation. */
  readonly rules: readonly LinkRule[];
  /** By name. */
  readonly tables: ReadonlyMap<string, CellReader>;
}

/** Hands out the present {@link LinkConfiguration}. A save reloads it before it is answered. */
export interface LinkSource {
  current(): LinkConfiguration;
  /** Resolves when {@link current} shows what is stored now. */
  reload(): Promise<void>;
}

/** One cell; empty when the table, the row or the column does not exist. */
export function cellOf(
  { tables }: Pick<LinkConfiguration, 'tables'>,
  table: string,
  key: string,
  column: string,
): string {
  return tables.get(table)?.(key, column) ?? '';
}

/** The Link rule that every Organization begins with (messages §9.3). */
export const EXPLORE_NAME = 'Explore';
/** The Lookup table with a row per environment or cluster, and the columns `address` and `datasource_uid`. */
export const EXPLORE_TABLE = 'grafana';

/** `toJson` sorts the members of a dict, so that they come in the order in which Grafana writes them itself. */
const TEMPLATE = `{{- $row := default .Labels.cluster .Labels.environment -}}
{{- $address := lookup "${EXPLORE_TABLE}" $row "address" | trimSuffix "/" -}}
{{- $uid := lookup "${EXPLORE_TABLE}" $row "datasource_uid" -}}
{{- $expr := "" -}}
{{- range .Alerts.Firing -}}
  {{- $expr = queryParam "g0.expr" .GeneratorURL -}}
  {{- if $expr }}{{ break }}{{ end -}}
{{- end -}}
{{- if and $address $uid $expr -}}
  {{- $query := dict "datasource" (dict "type" "prometheus" "uid" $uid) "expr" $expr "refId" "A" -}}
  {{- $pane := dict "datasource" $uid "queries" (list $query) "range" (dict "from" "now-1h" "to" "now") -}}
  {{- $address }}/explore?schemaVersion=1&orgId=1&panes={{ dict "p" $pane | toJson | urlquery -}}
{{- end -}}
`;

export const EXPLORE: LinkRuleFields = {
  name: EXPLORE_NAME,
  matchers: [],
  scope: { type: 'alert_group', label: null },
  url_template: TEMPLATE,
};

/** Link rules ready to be run: parsed once when the configuration is read, not with every render. */
export interface LinkRule {
  readonly id: StoredLinkRule['id'];
  readonly version: number;
  readonly name: string;
  readonly scope: LinkRuleScope;
  /** Of the common labels of an Alert Group. */
  readonly takes: LabelTest;
  /** An error only where a stored template is no longer understood. */
  readonly template:
    | { readonly ok: true; readonly template: Template }
    | { readonly ok: false; readonly error: TemplateError };
}

/**
 * The rules that can give a link, in their order. The built-in one as it came gives none without its table, so that an
 * installation that does not use it pays nothing for it.
 */
export function readyRules(
  stored: readonly StoredLinkRule[],
  tables: ReadonlyMap<string, unknown>,
): readonly LinkRule[] {
  const isIdle = ({ builtin, fields }: StoredLinkRule) =>
    builtin && fields.url_template === EXPLORE.url_template && !tables.has(EXPLORE_TABLE);
  return stored.filter((rule) => !isIdle(rule)).map(readyRule);
}

function readyRule({ id, version, fields }: StoredLinkRule): LinkRule {
  return {
    id,
    version,
    name: fields.name,
    scope: fields.scope,
    takes: compileMatchers(fields.matchers),
    template: parseTemplate('link_rule', fields.url_template),
  };
}

/** A row as people write it: cells by the names of their columns. */
export interface LookupEntry {
  readonly key: string;
  readonly values: Readonly<Record<string, string>>;
}

export function entryOf([key, ...cells]: LookupRow, columns: readonly string[]): LookupEntry {
  return { key, values: Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? ''])) };
}

/** The row of an entry that has every column. */
export function rowOf({ key, values }: LookupEntry, columns: readonly string[]): LookupRow {
  return [key, ...columns.map((name) => values[name] ?? '')];
}

/** A cell by key and column; empty when there is no such cell. Keys and names compare exactly. */
export type CellReader = (key: string, column: string) => string;

export function cellReader({ columns, rows }: Pick<LookupTableFields, 'columns' | 'rows'>): CellReader {
  const places = new Map(columns.map((name, index) => [name, index + 1]));
  const byKey = new Map(rows.map((row) => [row[0], row]));
  return (key, column) => {
    const place = places.get(column);
    return place === undefined ? '' : (byKey.get(key)?.[place] ?? '');
  };
}
