import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mentionsIn, parseHtml } from '../../../test/fakes/channel-bot/html.ts';
import {
  channelBotReply,
  channelBotRoot,
  type GroupMessage,
  NO_NOTES,
  type ReplyEvent,
} from '../../messages/index.ts';
import { settings } from '../../messages/messages.fixture.ts';
import { groups, nasty } from '../../messages/nasty.fixture.ts';
import { parseTemplate } from '../../templates/index.ts';
import { keyboardOf } from './channel.ts';

/** Of each a Root message and 24 replies. */
const GROUPS = 200;
/** Long ones are those of the groups. */
const name = nasty.map((text) => text.slice(0, 400));
const LARGEST_SOURCE = 32_768;
const sign = () => 'x'.repeat(55);
const root = { kind: 'root', notes: NO_NOTES, mentions: [], sign } as const;

/** What the messenger makes of a text: nobody is rung, and no link leads elsewhere than the group and its Alerts do. */
function expectHarmless(source: string, group: GroupMessage, linked: number | null = null): void {
  expect(Buffer.byteLength(source)).toBeLessThanOrEqual(LARGEST_SOURCE);
  const { text, entities, violations } = parseHtml(source);
  expect(violations).toEqual([]);
  expect(text.length).toBeLessThanOrEqual(4_096);
  expect(mentionsIn(text)).toEqual([]);
  const people = entities.flatMap(({ user }) => user ?? []);
  expect(people).toEqual(linked === null ? [] : [linked]);
  const known = new Set([...group.links.map(({ url }) => url), ...group.alerts.map(urlOf)].map(normal));
  const strange = entities
    .flatMap(({ url }) => url ?? [])
    .filter((url) => !isOurs(url) && !known.has(normal(url)));
  expect(strange).toEqual([]);
}

function urlOf({ generatorUrl }: GroupMessage['alerts'][number]): string {
  return generatorUrl ?? '';
}

/** As an address is written in a link. */
function normal(url: string): string {
  return URL.canParse(url) ? new URL(url).href.replaceAll('@', '%40') : url;
}

function isOurs(url: string): boolean {
  return url.startsWith('https://oncall.example.org/') || url.startsWith('https://t.me/');
}

test('no alert rings anybody, leads elsewhere or breaks the HTML, in whatever message of its group', () => {
  const parsed = parseTemplate('root_message', '{{ .Title }} {{ range .Alerts }}{{ .Labels }}{{ end }}');
  if (!parsed.ok) throw new Error(parsed.error.message);
  const own = settings({ templates: { rootMessage: parsed.template, line: null, ackTimeoutNotice: null } });
  const account = { externalId: '5001', username: 'ann', displayName: 'Ann' };
  const loud = { mentions: [{ type: 'user', name: 'ann', account } as const], sign };
  let texts = 0;
  const expectText = (source: string, group: GroupMessage, linked: number | null = null) => {
    texts++;
    expectHarmless(source, group, linked);
  };
  fc.assert(
    fc.property(
      groups,
      fc.array(name, { minLength: 23, maxLength: 23 }),
      fc.boolean(),
      (group, names, isOwn) => {
        const message = channelBotRoot(group, isOwn ? own : settings(), root);
        expectText(message.text, group);
        for (const { callback_data: data } of keyboardOf(message).inline_keyboard.flat())
          expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64);
        const under = isOwn ? null : 'https://t.me/c/1234567890/57';
        const events: readonly ReplyEvent[] = [
          { event: 'alerts_added', alerts: group.alerts },
          ...names.map((owner) => ({ event: 'takeover', owner, formerOwner: owner }) as const),
        ];
        for (const event of events)
          expectText(channelBotReply(event, group, settings(), loud, { under }).text, group, 5001);
      },
    ),
    { numRuns: GROUPS },
  );
  expect(texts).toBeGreaterThanOrEqual(5_000);
});
