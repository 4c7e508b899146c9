import { expect, it } from 'vitest';
import { previewRequest } from '../../../actors/channels/webhook-template/preview.ts';
import { alerts, group412, settings } from '../../../actors/messages/messages.fixture.ts';
import { previewSource } from '../../../actors/previews/render.ts';
import type { TemplateGroup } from '../../../actors/templates/data.ts';
import { FUNCTIONS } from '../../../actors/templates/functions/table.ts';
import type { TemplateKind } from '../../../actors/templates/index.ts';
import { rendered } from '../../../actors/templates/run.fixture.ts';
import { TemplateObject } from '../../../actors/templates/values.ts';
import { fieldsOf, functionsOf, SNIPPETS, signaturesOf } from './vocabulary.ts';

it('names every function of templates, and no other', () => {
  const names = functionsOf('root_message').map(({ name }) => name);
  expect(names.sort()).toEqual([...FUNCTIONS.keys()].sort());
});

it.each(signaturesOf('root_message').flat())('%s can be called so', (signature) => {
  const [name = '', ...operands] = signature.split(' ');
  const { least = 0, most = 0 } = FUNCTIONS.get(name) ?? {};
  expect(operands.at(-1) === '…').toBe(most === Number.POSITIVE_INFINITY);
  expect(operands.length).toBeGreaterThanOrEqual(least);
  expect(operands.length).toBeLessThanOrEqual(most);
});

it('offers what a kind has', () => {
  const namesOf = (kind: Parameters<typeof functionsOf>[0]) => functionsOf(kind).map(({ name }) => name);
  expect(namesOf('link_rule')).not.toContain('mention');
  expect(namesOf('line')).toContain('mention');
  expect(functionsOf('webhook_request')).toContainEqual({ name: 'mention', takes: 'target' });
  expect(fieldsOf('link_rule')).toContain('.Value');
  expect(new Set(fieldsOf('line')).size).toBe(fieldsOf('line').length);
});

const GROUP: TemplateGroup = {
  ...({ number: 412, title: 'HighErrorRate', summary: null, status: 'firing', route: 'Payments' } as const),
  ...{ severityLevel: 'critical' as const, urgent: true, reopenCount: 0, owner: null, startedAt: 0 },
  url: 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA',
  alerts: [
    {
      ...({ fingerprint: 'a', status: 'firing', startsAt: 0, endsAt: null, generatorUrl: null } as const),
      labels: { alertname: 'HighErrorRate', pod: 'a' },
      annotations: { summary: 'disk of a is full' },
    },
  ],
  ...{ groupLabels: {}, commonLabels: {}, externalUrl: 'https://oncall.example.org' },
  commonAnnotations: { runbook_url: 'https://runbooks.example.org/disk' },
};
const OF_A_MESSAGE = {
  firing: '* disk of a is full',
  runbook: 'Runbook: https://runbooks',
  owner: '@here',
  since: 's',
};
const PRINTED: Record<TemplateKind, Record<string, string>> = {
  root_message: OF_A_MESSAGE,
  ack_timeout_notice: OF_A_MESSAGE,
  line: { labels: 'pod=a', resolved: '', since: 's' },
  link_rule: {
    runbook: 'https://runbooks.example.org/disk',
    query: 'https://wiki.example.org/search?q=HighErrorRate',
  },
  webhook_request: {
    json: '{"title":"HighErrorRate","url":"https://oncall',
    mentions: '',
    resolved: 'firing',
  },
};
const snippets = (Object.keys(SNIPPETS) as TemplateKind[]).flatMap((kind) =>
  SNIPPETS[kind].map(({ name, text }) => ({ kind, name, text })),
);

it.each(snippets)('of $kind the snippet $name prints what it is for', ({ kind, name, text }) => {
  const message = () =>
    group412({
      alerts: alerts([{ labels: { pod: 'a' }, annotations: { summary: 'disk of a is full' } }]),
      commonAnnotations: GROUP.commonAnnotations,
    });
  const asked = {
    ...({ kind, format: 'commonmark', routeId: null, language: null, lengthLimit: null } as const),
    template: kind === 'webhook_request' ? `POST https://example.org/\n\n${text}` : text,
    sample: { alertGroupId: null, storedSnapshotId: null },
  };
  const { output, error } = previewSource(
    asked,
    { group: GROUP, message },
    {
      ...settings(),
      ...{ monotonic: () => 0, webhookRequest: previewRequest },
    },
  );
  expect(error).toBeNull();
  expect(output?.replaceAll('\\', '') ?? '').toContain(PRINTED[kind][name]);
});

it('the snippet of a JSON body is right for a Storm summary, which has no Alert Group', () => {
  const [json] = SNIPPETS.webhook_request;
  const storm = new TemplateObject('Storm', { Route: 'Payments', URL: 'https://oncall.example.org/' });
  const data = new TemplateObject('Data', { Storm: storm, AlertGroup: null });
  expect(rendered(json.text, { kind: 'webhook_request', data })).toBe(
    '{"title":"Payments","url":"https://oncall.example.org/"}',
  );
});
