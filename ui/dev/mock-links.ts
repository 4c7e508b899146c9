/** Link rules, Lookup tables and previews: answers of the mock in the shapes of the API. */
import type {
  LinkRule,
  LookupTable,
  TemplatePreview,
  TemplatePreviewInput,
} from '../src/api/configuration.ts';

const AT = '2026-09-01T08:00:00Z';

export const MOCK_LINK_RULES: readonly LinkRule[] = [
  {
    id: 'KR000000000001',
    name: 'Explore',
    matchers: [],
    scope: { type: 'alert_group', label: null },
    url_template:
      '{{- $row := default .Labels.cluster .Labels.environment -}}\n' +
      '{{- with lookup "grafana" $row "address" }}{{ . }}/explore{{ end }}\n',
    builtin: true,
    created_at: AT,
    etag: '"1"',
  },
  {
    id: 'KR000000000002',
    name: 'Logs of a pod',
    matchers: [{ label: 'namespace', op: '!=', value: '' }],
    scope: { type: 'label_value', label: 'pod' },
    url_template: 'https://logs.example.org/search?q={{ urlquery .Value }}',
    builtin: false,
    created_at: AT,
    etag: '"3"',
  },
];

const COLUMNS = ['address', 'datasource_uid', 'team', 'chat'];

export const MOCK_LOOKUP_TABLES: readonly LookupTable[] = [
  {
    id: 'TB000000000001',
    name: 'grafana',
    description: 'Where each cluster is looked at',
    columns: COLUMNS,
    entries: Array.from({ length: 400 }, (_, row) => ({
      key: `prod-${row}`,
      values: Object.fromEntries(COLUMNS.map((column) => [column, `${column} of ${row}`])),
    })),
    created_at: AT,
    etag: '"2"',
  },
];

/** Knows one mistake: a function called `nope`. */
export function mockTemplatePreview(input: TemplatePreviewInput): TemplatePreview {
  const lines = input.template.slice(0, Math.max(0, input.template.indexOf('nope'))).split('\n');
  const isWrong = input.template.includes('nope');
  const hasFormat = input.kind !== 'link_rule' && input.kind !== 'webhook_request';
  const mistake = {
    pointer: '/template' as const,
    code: 'unknown_function',
    detail: 'function "nope" is not defined',
    line: lines.length,
    column: (lines.at(-1)?.length ?? 0) + 1,
  };
  return {
    valid: !isWrong,
    output: isWrong ? null : `🔴 **#1 ApiErrors**\n\n${input.template}\n\n[Ack] [Resolve]`,
    truncated: false,
    format: hasFormat ? (input.format ?? 'markdown') : null,
    source: input.template === '' ? '{{ .AlertGroup.Title }} on {{ .CommonLabels.cluster }}' : null,
    sample: 'example',
    errors: isWrong ? [mistake] : [],
  };
}
