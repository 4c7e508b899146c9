/**
 * The built-in texts of a Route as templates, for people who want to begin with them. Root messages themselves are laid
 * out by parts (messages §2), so that they can be shortened part by part.
 */
import { type Language, type PlainKey, text } from '../messages/texts/texts.ts';
import type { RouteTemplateKind } from '../route/policy.ts';

/** What is written into a Root message by default, as a template of that kind. */
export function builtinSource(kind: RouteTemplateKind, language: Language): string {
  switch (kind) {
    case 'root_message':
      return rootSource(language);
    case 'line':
      return LINE;
    case 'ack_timeout_notice':
      return text(language, 'ack_timeout_notice', {
        number: '{{ .AlertGroup.Number }}',
        title: '{{ .AlertGroup.Title }}',
      });
  }
}

const LINE =
  '{{ range (.Labels.Remove (stringSlice "alertname" "severity" "environment" "prometheus")).SortedPairs }}' +
  '{{ .Name }}: {{ .Value }} {{ end }}';

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
