/** How many templates this process parses and renders in a second. */
import { markdown } from '../actors/messages/formats/markdown.ts';
import { groupData, linkRuleData, type TemplateAlert, type TemplateGroup } from '../actors/templates/data.ts';
import {
  parseTemplate,
  plainFormat,
  type RenderContext,
  renderTemplate,
  type Template,
  type TemplateKind,
  type TemplateValue,
} from '../actors/templates/index.ts';
import type { Bench, Row } from './report.ts';

const NOW = Date.UTC(2026, 2, 9, 14, 5) * 1000;

const ROOT_MESSAGE = `**{{ .Status | toUpper }}** · {{ len .Alerts.Firing }} firing
{{ range .CommonLabels.SortedPairs }}{{ if ne .Name "alertname" }}**{{ .Name }}:** {{ .Value }}
{{ end }}{{ end }}{{ with .AlertGroup.Summary }}*{{ . }}*
{{ end }}{{ range $i, $a := .Alerts }}{{ if lt $i 10 }}* {{ $a.Labels.pod | default "no pod" }} since {{ $a.StartsAt | date "15:04" }}{{ if eq $a.Status "resolved" }} (resolved){{ end }}
{{ end }}{{ end }}`;

const LINK = `{{ $row := .Labels.environment | default .Labels.cluster }}{{ $address := lookup "grafana" $row "address" }}{{ if $address }}{{ trimSuffix "/" $address }}/explore?panes={{ dict "expr" (queryParam "g0.expr" (index .Alerts 0).GeneratorURL) | toJson | urlquery }}{{ end }}`;

const GREATEST =
  '{{ range .Alerts }}{{ .Labels.pod }} {{ reReplaceAll "(\\\\w+)-(\\\\d+)" "$2" .Labels.node }} {{ end }}';

function alertOf(index: number): TemplateAlert {
  return {
    fingerprint: index.toString(16).padStart(16, '0'),
    status: index % 3 === 2 ? 'resolved' : 'firing',
    labels: {
      alertname: 'ApiErrors',
      cluster: 'prod-1',
      namespace: 'billing',
      node: `node-${index % 40}`,
      pod: `billing-${index}`,
      severity: 'critical',
    },
    annotations: { summary: '5xx rate above 2 %', runbook_url: 'https://runbooks.example.org/api-errors' },
    startsAt: NOW - index * 1_000_000,
    endsAt: null,
    generatorUrl: 'https://prometheus.example.org/graph?g0.expr=up%3D%3D0',
  };
}

function groupOf(alerts: number): TemplateGroup {
  const common = { alertname: 'ApiErrors', cluster: 'prod-1', namespace: 'billing', severity: 'critical' };
  return {
    number: 412,
    title: 'ApiErrors',
    summary: '5xx rate above 2 %',
    status: 'firing',
    route: 'payments',
    severityLevel: 'critical',
    urgent: true,
    startedAt: NOW,
    url: 'https://oncall.example.org/alert-groups/AG',
    reopenCount: 0,
    owner: null,
    alerts: Array.from({ length: alerts }, (_, index) => alertOf(index)),
    groupLabels: { alertname: 'ApiErrors' },
    commonLabels: common,
    commonAnnotations: {},
    externalUrl: 'https://oncall.example.org',
  };
}

const CONTEXT: RenderContext = {
  format: markdown,
  now: NOW,
  zone: 'Europe/Berlin',
  lookup: (_table, _key, column) => (column === 'address' ? 'https://grafana.example.org/' : ''),
  mention: () => '@all',
};

function parsed(kind: TemplateKind, source: string): Template {
  const result = parseTemplate(kind, source);
  if (!result.ok) throw new Error(result.error.message);
  return result.template;
}

/** @returns renders in a second */
function rate(
  seconds: number,
  template: Template,
  dataOf: () => TemplateValue,
  context: RenderContext,
): number {
  return repeated(seconds, () => {
    const rendered = renderTemplate(template, dataOf(), context);
    if (!rendered.ok) throw new Error(rendered.error.message);
  });
}

function repeated(seconds: number, run: () => void): number {
  for (let warm = 0; warm < 200; warm++) run();
  const begun = performance.now();
  let count = 0;
  while (performance.now() - begun < seconds * 1000) {
    run();
    count++;
  }
  return count / ((performance.now() - begun) / 1000);
}

export const templates: Bench = {
  name: 'templates',
  title: 'Templates, one process, data made anew for each render',
  async run({ seconds, progress }) {
    const each = Math.max(seconds / 5, 0.5);
    const [two, many] = [groupOf(12), groupOf(1_000)];
    const plain = { ...CONTEXT, format: plainFormat };
    const zone = CONTEXT.zone;
    const measure = (what: string, run: () => number): Row => {
      progress(what);
      return { what, value: `${Math.round(run())}/s` };
    };
    const root = parsed('root_message', ROOT_MESSAGE);
    const link = parsed('link_rule', LINK);
    const greatest = parsed('root_message', GREATEST);
    const subject = { labels: two.commonLabels, value: '' };
    const rows = [
      measure('parse a root message', () => repeated(each, () => parsed('root_message', ROOT_MESSAGE))),
      measure('render it with 12 Alerts, markdown', () =>
        rate(each, root, () => groupData(two, zone), CONTEXT),
      ),
      measure('render it with 12 Alerts, plain', () => rate(each, root, () => groupData(two, zone), plain)),
      measure('render a link', () => rate(each, link, () => linkRuleData(two, subject, zone), plain)),
      measure('render 1,000 Alerts with a regular expression each, plain', () =>
        rate(each, greatest, () => groupData(many, zone), plain),
      ),
    ];
    return { rows, raw: rows };
  },
};
