import { describe, expect, test } from 'vitest';
import { parseTemplate, type Template, type TemplateKind } from '../templates/index.ts';
import { bridgeReply, bridgeRoot } from './bridge.ts';
import { channelBotReply, channelBotRoot } from './channel-bot.ts';
import { chatServerReply, chatServerRoot } from './chat-server.ts';
import { visibleText } from './formats/html.ts';
import type { MessageSettings } from './input.ts';
import { BRIDGE_LIMITS, call, group412, groupOf, settings } from './messages.fixture.ts';
import { previewRoot } from './root.ts';

const PAGE = 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA';
const Z = '\u200B';

function parsed(kind: TemplateKind, source: string): Template {
  const result = parseTemplate(kind, source);
  if (!result.ok) throw new Error(result.error.message);
  return result.template;
}

const NONE = { rootMessage: null, line: null, ackTimeoutNotice: null };
const withRoot = (source: string, changes: Partial<MessageSettings> = {}) =>
  settings({ ...changes, templates: { ...NONE, rootMessage: parsed('root_message', source) } });
const withLine = (source: string) => settings({ templates: { ...NONE, line: parsed('line', source) } });
const withNotice = (source: string) =>
  settings({ templates: { ...NONE, ackTimeoutNotice: parsed('ack_timeout_notice', source) } });

describe('a root_message template', () => {
  const own = withRoot('**{{ .AlertGroup.Title }}** {{ .CommonLabels.ns }}\n\n{{ .AlertGroup.Summary }}');

  test('stands in place of parts 2 to 7; the others stay', () => {
    const group = group412({ unclaimed: true, status: 'acknowledged', owner: 'Ann' });
    expect(bridgeRoot(group, own, call(), BRIDGE_LIMITS).envelope.body).toBe(
      `**HighErrorRate** shop\n\n5xx \\> 2 %\n\n[Open in Tocsin](${PAGE})\n\n⚠ No owner after all notices\n\nOwner: Ann`,
    );
  });

  test('that prints nothing leaves its part out', () => {
    expect(chatServerRoot(group412(), withRoot('{{ if false }}x{{ end }}\n'), call()).attachment.text).toBe(
      `[Open in Tocsin](${PAGE})`,
    );
  });

  test('gives up lines from its end, and closes what it left open', () => {
    const source = '<b>first\n{{ range until 400 }}line {{ . }} of many\n{{ end }}</b>';
    const { text, truncated, failure } = channelBotRoot(group412(), withRoot(source), call());
    expect(visibleText(text).length).toBeLessThanOrEqual(4_096);
    expect([truncated, failure]).toEqual([true, null]);
    expect(text).toMatch(
      /\n<b>first\n(line \d+ of many\n)+line \d+ of many<\/b>\n<a href="[^"]*">Open in Tocsin<\/a>$/,
    );
  });

  test('that leaves a code block open swallows nothing behind it', () => {
    const { attachment } = chatServerRoot(group412(), withRoot('```\ncode'), call());
    expect(attachment.text).toBe(`\`\`\`\ncode\n\`\`\`\n\n[Open in Tocsin](${PAGE})`);
  });

  test('mentions in the line above the attachment of a Loud post, and nobody elsewhere', () => {
    const own = withRoot('@all {{ mention "channel" }} {{ mention "group" "sre" }} {{ mention "owner" }}.');
    const loud = chatServerRoot(group412(), own, call({ mentions: [] }));
    expect(loud.message).toBe('🔴 #412 HighErrorRate @channel @sre');
    expect(loud.attachment.text).toMatch(new RegExp(`^@${Z}all channel sre \\.\n`));
    const edit = chatServerRoot(group412(), own, call());
    expect(edit.message).toBe('🔴 #412 HighErrorRate');
    expect(edit.hash).toBe(loud.hash);
  });
});

describe('a line template', () => {
  const own = withLine('{{ .Labels.pod }} @ {{ .AlertGroup.Number }}\n {{ .Status }}');

  test('stands in place of each line, and gives a single Alert one', () => {
    expect(chatServerRoot(group412(), own, call()).attachment.text).toContain(
      `Alerts: 1 firing, 1 resolved\n\n- a @${Z} 412 firing\n- ~~b @${Z} 412 resolved~~\n\n`,
    );
    const single = chatServerRoot(
      groupOf(1, () => ({ pod: 'x' })),
      own,
      call(),
    ).attachment.text;
    expect(single).toContain(`\n\n- x @${Z} 412 firing\n\n`);
    expect(single).not.toContain('Alerts:');
  });

  test('that prints nothing for an Alert leaves it out', () => {
    const some = withLine('{{ if eq .Status "firing" }}{{ .Labels.pod }}{{ end }}');
    expect(chatServerRoot(group412(), some, call()).attachment.text).toContain('1 resolved\n\n- a\n\n[');
  });
});

test('the lines of one message may do together what one template may do: nobody else gets a turn between them', () => {
  const busy =
    '{{ range until 1000 }}{{ range until 90 }}{{ if . }}{{ end }}{{ end }}{{ end }}{{ .Labels.pod }}';
  const failure = (alerts: number) => {
    const group = groupOf(alerts, (index) => ({ pod: `p${index}` }));
    return bridgeRoot(group, withLine(busy), call(), BRIDGE_LIMITS).failure;
  };
  expect(failure(1)).toBeNull();
  expect(failure(10)).toMatchObject({ template: 'line', error: { message: 'the render took too long' } });
});

describe('a template that fails', () => {
  const failing = withRoot('{{ index .Alerts 99 }}');
  const group = group412({
    summary: 'gone',
    commonAnnotations: { note: 'gone' },
    links: [{ kind: 'runbook', url: 'https://wiki.example/r' }],
  });

  test.each([
    ['root_message', failing],
    ['line', withLine('{{ .Labels.pod.x }}')],
  ])('%s: the Fallback has every label, links and buttons, and says why', (template, own) => {
    const message = bridgeRoot(group, own, call(), BRIDGE_LIMITS);
    expect(message.failure).toMatchObject({ template, error: { code: 'template_syntax', line: 1 } });
    expect(message.envelope.buttons).toHaveLength(4);
    expect(
      message.envelope.body,
    ).toBe(`🟥 critical · Urgent · cluster: prod · started 2026\\-10\\-04 14:05 UTC

The Route's message template failed, all labels follow

> alertname: HighErrorRate\\
> cluster: prod\\
> ns: shop\\
> severity: critical

- Alert 1: pod: a
- ~~Alert 2: pod: b~~

[Open in Tocsin](${PAGE}) · [Runbook](https://wiki.example/r)`);
  });

  test('lists 50 Alerts and says how many more there are', () => {
    const { text } = channelBotRoot(
      groupOf(60, (index) => ({ pod: `p${index}` })),
      failing,
      call(),
    );
    expect(text.match(/^• Alert \d+: pod: p\d+$/gm)).toHaveLength(50);
    expect(text).toContain(`\n… 10 more · <a href="${PAGE}">All 60 alerts</a>\n`);
  });

  test('is forgotten with the next success', () => {
    const once = withRoot('{{ (index .Alerts 1).Labels.pod }}');
    expect(
      chatServerRoot(
        groupOf(1, () => ({})),
        once,
        call(),
      ).failure,
    ).not.toBeNull();
    expect(chatServerRoot(group412(), once, call()).failure).toBeNull();
  });
});

describe('an ack_timeout_notice template', () => {
  const quiet = { mentions: [], sign: null };
  const loud = { ...quiet, mentions: [{ type: 'everyone', as: 'all' } as const] };
  const event = { event: 'ack_timeout', last: false } as const;
  const open = `[Open in Tocsin](${PAGE})`;

  test('mentions in a Loud reply only, each once', () => {
    const own = withNotice('@all {{ mention "all" }} {{ .AlertGroup.Title }}\nmore');
    const text = (reply: typeof quiet | typeof loud) =>
      chatServerReply(event, group412(), own, reply).message;
    expect(text(loud)).toBe(`@${Z}all @all HighErrorRate\nmore\n\n${open}`);
    expect(text(quiet)).toBe(`@${Z}all all HighErrorRate\nmore\n\n${open}`);
  });

  test('has the Mentions of its event at the end of its first line', () => {
    const own = withNotice('One\ntwo');
    expect(chatServerReply(event, group412(), own, loud).message).toBe(`One @all\ntwo\n\n${open}`);
    expect(bridgeReply(event, group412(), own, loud, BRIDGE_LIMITS).body).toBe(`One\ntwo\n\n${open}\n\nall`);
  });

  test.each([
    ['fails', '{{ index .Alerts 99 }}', true],
    ['prints nothing', '{{ "" }}', false],
    ['prints a line that fits nowhere', '{{ range until 9 }}{{ repeat 1000 "x" }}{{ end }}', false],
  ])('that %s gives way to the built-in notice', (_name, source, failed) => {
    const reply = channelBotReply(event, group412(), withNotice(source), quiet);
    expect(reply.plainText).toBe('#412 HighErrorRate is waiting for an owner\nOpen in Tocsin');
    expect(reply.failure !== null).toBe(failed);
  });

  test('gives up lines from its end', () => {
    const own = withNotice('<i>{{ range until 300 }}line {{ . }} of many\n{{ end }}</i>');
    const reply = channelBotReply(event, group412(), own, quiet);
    expect(visibleText(reply.text).length).toBeLessThanOrEqual(4_096);
    expect(reply.text).toMatch(
      /^<i>line 0 of many\n[\s\S]+<\/i>\n… \d+ more\n<a href="[^"]*">Open in Tocsin<\/a>$/,
    );
  });
});

test('a preview names whom a template would mention', () => {
  const own = withRoot('{{ mention "all" }} {{ mention "owner" }} {{ mention "group" "s_re" }}');
  expect(previewRoot('markdown', group412(), own, null).text).toContain('\n\n@all @owner @s\\_re\n\n');
});
