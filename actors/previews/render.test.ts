import { expect, test } from 'vitest';
import { previewRequest } from '../channels/webhook-template/preview.ts';
import { group412, settings } from '../messages/messages.fixture.ts';
import type { TemplateKind } from '../templates/index.ts';
import { previewSource } from './render.ts';

const GROUP = {
  number: 412,
  title: 'HighErrorRate',
  summary: null,
  status: 'firing',
  route: 'Payments',
  severityLevel: 'critical',
  urgent: true,
  startedAt: 0,
  url: 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA',
  reopenCount: 0,
  owner: null,
  alerts: [
    {
      fingerprint: 'a',
      status: 'firing',
      labels: {},
      annotations: {},
      startsAt: 0,
      endsAt: null,
      generatorUrl: null,
    },
  ],
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalUrl: 'https://oncall.example.org',
} as const;

test.each<TemplateKind>(['root_message', 'line', 'ack_timeout_notice', 'link_rule', 'webhook_request'])(
  'a clock that ran away ends a preview of %s',
  (kind) => {
    let now = 0;
    const monotonic = () => {
      now += 1_900_000;
      return now;
    };
    const template = '{{ range until 1000 }}{{ $x := add 1 1 | print | len }}{{ end }}';
    const asked = {
      ...({ kind, template, format: 'html', routeId: null, language: null, lengthLimit: null } as const),
      sample: { alertGroupId: null, storedSnapshotId: null },
    };
    const sample = { group: GROUP, message: () => group412() };
    const { error } = previewSource(asked, sample, {
      ...settings(),
      ...{ monotonic, webhookRequest: previewRequest },
    });
    expect(error?.message).toBe('the render took too long');
  },
);
