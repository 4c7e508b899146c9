/**
 * The built-in texts of a Route as templates, for people who want to begin with them. Root messages themselves are laid
 * out by parts (messages §2), so that they can be shortened part by part.
 */
import { type Language, text } from '../messages/texts/texts.ts';
import type { RouteTemplateKind } from './ports.ts';

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
  const level = (name: 'critical' | 'warning' | 'info') => text(language, `severity.${name}`);
  const started = text(language, 'started', {
    time: '{{ .AlertGroup.StartedAt | date "2006-01-02 15:04 MST" }}',
  });
  const count = text(language, 'alerts.count', {
    f: '{{ len .Alerts.Firing }}',
    r: '{{ len .Alerts.Resolved }}',
  });
  return `{{- $level := dict "critical" "${level('critical')}" "warning" "${level('warning')}" "info" "${level('info')}" -}}
{{ get .AlertGroup.SeverityLevel $level }}{{ if .AlertGroup.Urgent }} · ${text(language, 'urgent')}{{ end }}
{{- with .CommonLabels.cluster }} · cluster: {{ . }}{{ end }}
{{- with .CommonLabels.environment }} · environment: {{ . }}{{ end }} · ${started}
{{ range (.GroupLabels.Remove (stringSlice "alertname" "severity" "cluster" "environment")).SortedPairs }}
{{- if .Value }}
{{ .Name }}: {{ .Value }}{{ end }}{{ end }}
{{- $known := concat .GroupLabels.Names (list "alertname" "severity" "cluster" "environment" "prometheus") }}
{{- range (.CommonLabels.Remove $known).SortedPairs }}
{{ .Name }}: {{ .Value }}{{ end }}
{{- range (.CommonAnnotations.Remove (stringSlice "summary" "description" "dashboard_url")).SortedPairs }}
{{- if not (hasPrefix "runbook" .Name) }}
{{ .Name }}: {{ .Value }}{{ end }}{{ end }}
{{- with .AlertGroup.Summary }}

{{ . }}{{ end }}
{{- if gt (len .Alerts) 1 }}

${count}
{{ $shared := concat .CommonLabels.Names (list "severity" "environment" "prometheus") }}
{{- range $i, $alert := .Alerts }}{{ if lt $i 10 }}
- {{ range $j, $pair := ($alert.Labels.Remove $shared).SortedPairs }}{{ if $j }}, {{ end }}{{ $pair.Name }}: {{ $pair.Value }}{{ end }}
{{- end }}{{ end }}{{ end }}
`;
}
