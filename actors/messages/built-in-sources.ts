/**
 * What the built-in messages look like as templates, to begin one's own from (messages §12). Tocsin itself lays its
 * messages out by parts, so that parts can give way.
 */
import { type Language, type PlainKey, text } from './texts/texts.ts';

export type RouteTemplate = 'root_message' | 'line' | 'ack_timeout_notice';

export function builtInSource(template: RouteTemplate, language: Language): string {
  switch (template) {
    case 'root_message':
      return rootSource(language);
    case 'line':
      return '{{ range (.Labels.Remove (stringSlice "alertname" "severity" "environment" "prometheus")).SortedPairs }}{{ .Name }}: {{ .Value }} {{ end }}';
    case 'ack_timeout_notice':
      return text(language, 'ack_timeout_notice', {
        number: '{{ .AlertGroup.Number }}',
        title: '{{ .AlertGroup.Title }}',
      });
  }
}

function rootSource(language: Language): string {
  const say = (key: PlainKey, values: Readonly<Record<string, string>> = {}) => text(language, key, values);
  const time = '{{ .AlertGroup.StartedAt | date "2006-01-02 15:04 MST" }}';
  const count = say('alerts.count', { f: '{{ len .Alerts.Firing }}', r: '{{ len .Alerts.Resolved }}' });
  const more = say('alerts.cut', { n: '{{ sub (len .Alerts) 10 }}' });
  return `{{ if eq .AlertGroup.SeverityLevel "critical" -}}
🟥 ${say('severity.critical')}
{{- else if eq .AlertGroup.SeverityLevel "warning" -}}
🟧 ${say('severity.warning')}
{{- else -}}
🟦 ${say('severity.info')}
{{- end }}
{{- if .AlertGroup.Urgent }} · ${say('urgent')}{{ end }}
{{- with .CommonLabels.cluster }} · cluster: {{ . }}{{ end }}
{{- with .CommonLabels.environment }} · environment: {{ . }}{{ end }} · ${say('started', { time })}
${pairs('.GroupLabels.Remove (stringSlice "alertname" "severity" "cluster" "environment")', '.Value')}
${pairs(
  '(.CommonLabels.Remove (stringSlice "alertname" "severity" "cluster" "environment" "prometheus")).Remove .GroupLabels.Names',
  '.Value',
)}
${pairs(
  '.CommonAnnotations.Remove (stringSlice "summary" "description" "dashboard_url")',
  'and .Value (not (hasPrefix "runbook" .Name))',
)}
{{- with .AlertGroup.Summary }}

{{ . }}
{{- end }}
{{- if gt (len .Alerts) 1 }}

${count}
{{ range $index, $alert := .Alerts }}
{{- if lt $index 10 }}
- {{ range $place, $pair := ($alert.Labels.Remove $.CommonLabels.Names).SortedPairs }}
{{- if $place }}, {{ end }}{{ $pair.Name }}: {{ $pair.Value }}
{{- end }}
{{- end }}
{{- end }}
{{- if gt (len .Alerts) 10 }}

${more}
{{- end }}
{{- end }}`;
}

/** A part of its own: a blank line, then one line for each pair of `labels` for which `condition` holds. */
function pairs(labels: string, condition: string): string {
  return `{{- with (${labels}).SortedPairs }}
{{ range . }}
{{- if ${condition} }}
{{ .Name }}: {{ .Value }}
{{- end }}
{{- end }}
{{- end }}`;
}
