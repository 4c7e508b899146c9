import { describe, expect, test } from 'vitest';
import { groupData, lineData, linkRuleData, type TemplateAlert, type TemplateGroup } from './data.ts';
import { FIVE_PAST_TWO, rendered } from './run.fixture.ts';

const alert = (fingerprint: string, over: Partial<TemplateAlert> = {}): TemplateAlert => ({
  fingerprint,
  status: 'firing',
  labels: { alertname: 'Disk', pod: fingerprint },
  annotations: { summary: 'full' },
  startsAt: FIVE_PAST_TWO,
  endsAt: null,
  generatorUrl: 'https://prom/graph',
  ...over,
});

const GROUP: TemplateGroup = {
  number: 412,
  title: 'Disk',
  summary: null,
  status: 'acknowledged',
  route: 'payments',
  severityLevel: 'critical',
  urgent: true,
  startedAt: FIVE_PAST_TWO,
  url: 'https://t/alert-groups/A',
  reopenCount: 2,
  owner: 'Alice',
  alerts: [
    alert('c', { status: 'resolved', endsAt: FIVE_PAST_TWO, startsAt: FIVE_PAST_TWO + 1_000_000 }),
    alert('b', { generatorUrl: 'javascript:alert(1)' }),
    alert('a'),
    alert('d', { startsAt: FIVE_PAST_TWO + 2_000_000 }),
  ],
  groupLabels: { alertname: 'Disk' },
  commonLabels: { alertname: 'Disk', cluster: 'prod' },
  commonAnnotations: { summary: 'full' },
  externalUrl: 'https://t',
};

describe('a group', () => {
  const data = groupData(GROUP, 'Europe/Berlin');
  test.each([
    [
      '{{ .AlertGroup }}',
      '{412 Disk  acknowledged payments critical true 2026-03-09 15:05:00 +0100 UTC+01:00 https://t/alert-groups/A 2 Alice}',
    ],
    ['{{ .Status }} {{ .ExternalURL }} [{{ .Receiver }}]', 'firing https://t []'],
    ['{{ range .Alerts }}{{ .Fingerprint }}{{ end }} {{ len .Alerts.Resolved }}', 'dabc 1'],
    [
      '{{ range .Alerts }}[{{ .GeneratorURL }}]{{ end }}',
      '[https://prom/graph][https://prom/graph][][https://prom/graph]',
    ],
    [
      '{{ (index .Alerts 0).EndsAt }} {{ (index .Alerts 3).EndsAt }}',
      '0001-01-01 00:00:00 +0000 UTC 2026-03-09 15:05:00 +0100 UTC+01:00',
    ],
    [
      '{{ .GroupLabels.alertname }} {{ .CommonLabels.SortedPairs }} {{ .CommonAnnotations.summary }}',
      'Disk [{alertname Disk} {cluster prod}] full',
    ],
    ['{{ .Labels }}', '✗ 1:4 template_syntax no field "Labels" in Data'],
  ])('%s gives %j', (source, result) => {
    expect(rendered(source, { data })).toBe(result);
  });

  test('of which no Alert fires reads resolved', () => {
    const resolved = GROUP.alerts.map((each) => ({ ...each, status: 'resolved' as const }));
    expect(rendered('{{ .Status }}', { data: groupData({ ...GROUP, alerts: resolved }, 'UTC') })).toBe(
      'resolved',
    );
  });

  test('shows at most 1,000 Alerts', () => {
    const alerts = Array.from({ length: 1_200 }, (_, index) => alert(String(index)));
    expect(rendered('{{ len .Alerts }}', { data: groupData({ ...GROUP, alerts }, 'UTC') })).toBe('1000');
  });
});

test('a line is one Alert with the group beside its fields', () => {
  const data = lineData(GROUP, alert('a'), 'UTC');
  expect(rendered('{{ .Labels.pod }} {{ .Status }} #{{ .AlertGroup.Number }}', { data })).toBe(
    'a firing #412',
  );
  expect(rendered('{{ .Alerts }}', { data })).toBe('✗ 1:4 template_syntax no field "Alerts" in Alert');
});

test('a Link rule reads the labels and the value it is evaluated for', () => {
  const data = linkRuleData(GROUP, { labels: { pod: 'a' }, value: 'a' }, 'UTC');
  expect(rendered('{{ .Labels.pod }} {{ .Value }} {{ .CommonLabels.cluster }}', { data })).toBe('a a prod');
});
