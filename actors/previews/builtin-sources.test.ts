import { describe, expect, test } from 'vitest';
import { chatServerReply } from '../messages/chat-server.ts';
import { alerts, group412, groupOf, settings } from '../messages/messages.fixture.ts';
import { previewRoot } from '../messages/root.ts';
import { parseTemplate, type Template, type TemplateKind } from '../templates/index.ts';
import { builtinSource } from './builtin-sources.ts';

const PAGE = 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA';
const NONE = { rootMessage: null, line: null, ackTimeoutNotice: null } as const;

function parsed(kind: TemplateKind, source: string): Template {
  const result = parseTemplate(kind, source);
  if (!result.ok) throw new Error(result.error.message);
  return result.template;
}

describe('the built-in messages as templates', () => {
  const group = groupOf(12, (index) => ({ pod: `p${index}` }), {
    commonLabels: { alertname: 'HighErrorRate', cluster: 'prod', severity: 'critical', team: 'web' },
    commonAnnotations: { impact: 'some', runbook_url: 'https://r' },
  });

  test('root_message prints what is laid out otherwise', () => {
    const own = settings({
      templates: { ...NONE, rootMessage: parsed('root_message', builtinSource('root_message', 'en')) },
    });
    const { text, failure } = previewRoot('commonmark', group, own, null);
    expect(failure).toBeNull();
    expect(text).toBe(`🔴 **[#412 HighErrorRate](${PAGE})**

🟥 critical · Urgent · cluster: prod · started 2026-10-04 14:05 UTC

team: web

impact: some

5xx \\> 2 %

Alerts: 12 firing, 0 resolved

${Array.from({ length: 10 }, (_, index) => `- ns: shop, pod: p${index}`).join('\n')}

… 2 more

[Open in Tocsin](${PAGE})

[Ack] [Resolve] [Snooze 1 h] [Snooze 4 h]`);
  });

  test.each(['en', 'ru'] as const)('all of them render in every format, in %s', (language) => {
    const source = (template: 'root_message' | 'line') => parsed(template, builtinSource(template, language));
    for (const format of ['markdown', 'html', 'commonmark', 'plain'] as const) {
      const rootMessage = { ...NONE, rootMessage: source('root_message') };
      expect(previewRoot(format, group, settings({ templates: rootMessage }), null).failure).toBeNull();
      const few = group412({ alerts: alerts([{ labels: { pod: 'a' } }]) });
      const line = settings({ templates: { ...NONE, line: source('line') } });
      expect(previewRoot(format, few, line, null)).toMatchObject({
        failure: null,
        text: expect.stringContaining('pod: a'),
      });
    }
  });

  test.each([
    ['en', '#412 HighErrorRate is waiting for an owner'],
    ['ru', '#412 HighErrorRate ждёт ответственного'],
  ] as const)('ack_timeout_notice, in %s', (language, expected) => {
    const own = settings({
      language,
      templates: {
        ...NONE,
        ackTimeoutNotice: parsed('ack_timeout_notice', builtinSource('ack_timeout_notice', language)),
      },
    });
    const event = { event: 'ack_timeout', last: false } as const;
    const { message } = chatServerReply(event, group412(), own, { mentions: [], sign: null });
    expect(message.split('\n')[0]).toBe(expected);
  });
});
