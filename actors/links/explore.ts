/** The Link rule that every Organization begins with (messages §9.3). */
import type { LinkRuleFields } from './ports.ts';

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
