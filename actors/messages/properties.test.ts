import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate } from '../templates/index.ts';
import { codePoints } from '../text.ts';
import { bridgeReply, bridgeRoot } from './bridge.ts';
import { channelBotReply, channelBotRoot } from './channel-bot.ts';
import { chatServerReply, chatServerRoot } from './chat-server.ts';
import { html, visibleText } from './formats/html.ts';
import { commonmark, markdown } from './formats/markdown.ts';
import { BRIDGE_LIMITS, call, settings } from './messages.fixture.ts';
import {
  expectBalanced,
  groups,
  HTTP,
  NAMES_SOMEBODY,
  nasty,
  nodesOf,
  TURNING,
  targetsOf,
  unlisted,
} from './nasty.fixture.ts';
import { oneLine } from './neutral.ts';
import type { ReplyEvent } from './replies.ts';

const PAGE = 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA';

const RUNS = { numRuns: 30 };
const LIMITS = [420, 1_000, 16_383];

describe('whatever labels, annotations and names hold', () => {
  test('a bridge gets a body that fits, holds what is allowed, and says what the data says', () => {
    fc.assert(
      fc.property(groups, fc.constantFrom(...LIMITS), (group, maxBodyLength) => {
        const limits = { maxBodyLength, maxButtons: 25, maxButtonText: 64 };
        const { envelope, mentions, hash } = bridgeRoot(group, settings(), call(), limits);
        expect(codePoints(envelope.body)).toBeLessThanOrEqual(maxBodyLength);
        expect(envelope.title).toMatch(/^#412 /);
        expect(codePoints(envelope.title)).toBeLessThanOrEqual(512);
        expect(envelope.title + envelope.body).not.toMatch(NAMES_SOMEBODY);
        expect(envelope.title + envelope.body).not.toMatch(TURNING);
        expect(mentions).toEqual([]);
        const nodes = nodesOf(envelope.body);
        expect(unlisted(nodes)).toEqual([]);
        expect(targetsOf(nodes)).toContain(PAGE);
        expect(bridgeRoot(group, settings(), call(), limits).hash).toBe(hash);
      }),
      RUNS,
    );
  });

  test('a channel bot gets balanced HTML that fits', () => {
    fc.assert(
      fc.property(groups, fc.constantFrom(...LIMITS), (group, limit) => {
        const message = channelBotRoot(group, settings(), call(), limit);
        expect(visibleText(message.text).length).toBeLessThanOrEqual(limit);
        expect(message.text).toMatch(/^(🔴|🟠|⚪|🟢) <b><a href="[^"]*">#412 /u);
        expect(message.text).toContain(`<a href="${PAGE}">Open in Tocsin</a>`);
        expect(message.text).not.toMatch(NAMES_SOMEBODY);
        expect(message.text).not.toMatch(TURNING);
        expectBalanced(message.text);
        expect(channelBotRoot(group, settings(), call(), limit).hash).toBe(message.hash);
      }),
      RUNS,
    );
  });

  test('a chat server gets a line and an attachment that fit', () => {
    fc.assert(
      fc.property(groups, fc.constantFrom(...LIMITS), (group, limit) => {
        const { message, attachment, hash } = chatServerRoot(group, settings(), call(), limit);
        expect(codePoints(message)).toBeLessThanOrEqual(limit);
        expect(codePoints(attachment.text)).toBeLessThanOrEqual(limit);
        expect(message).toMatch(/^(🔴|🟠|⚪|🟢) #412 /u);
        expect(message).not.toContain('\n');
        expect(attachment.text).toContain(`[Open in Tocsin](${PAGE})`);
        expect(JSON.stringify([message, attachment])).not.toMatch(NAMES_SOMEBODY);
        expect(JSON.stringify([message, attachment])).not.toMatch(TURNING);
        expect(chatServerRoot(group, settings(), call(), limit).hash).toBe(hash);
      }),
      RUNS,
    );
  });

  test('the Fallback is laid out within its limit and has every Alert that fits', () => {
    const failing = parseTemplate('root_message', '{{ index .Alerts 99 }}');
    if (!failing.ok) throw new Error(failing.error.message);
    const own = settings({
      templates: { rootMessage: failing.template, line: null, ackTimeoutNotice: null },
    });
    fc.assert(
      fc.property(groups, (group) => {
        const { envelope, failure } = bridgeRoot(group, own, call(), BRIDGE_LIMITS);
        expect(failure).not.toBeNull();
        expect(codePoints(envelope.body)).toBeLessThanOrEqual(BRIDGE_LIMITS.maxBodyLength);
        expect(envelope.body).not.toMatch(NAMES_SOMEBODY);
        expect(unlisted(nodesOf(envelope.body))).toEqual([]);
        const { text } = channelBotRoot(group, own, call());
        expect(visibleText(text).length).toBeLessThanOrEqual(4_096);
        expectBalanced(text);
      }),
      RUNS,
    );
  });

  test('a reply fits, names whom it is told to and nobody else', () => {
    const account = { externalId: '5001', username: 'ann', displayName: 'Ann' };
    const loud = { mentions: [{ type: 'user', name: 'ann', account } as const], sign: null };
    fc.assert(
      fc.property(groups, nasty, fc.constantFrom(500, 4_096), (group, name, limit) => {
        const events: readonly ReplyEvent[] = [
          { event: 'alerts_added', alerts: group.alerts },
          { event: 'takeover', owner: name, formerOwner: name },
          { event: 'ack_timeout', last: true },
        ];
        for (const event of events) {
          const bridge = bridgeReply(event, group, settings(), loud, {
            ...BRIDGE_LIMITS,
            maxBodyLength: limit,
          });
          expect(codePoints(bridge.body)).toBeLessThanOrEqual(limit);
          expect(bridge.body).toMatch(/\n\n\[@ann\]\(svc-mention:m1\)$/);
          expect(bridge.body.replace('[@ann]', '')).not.toMatch(NAMES_SOMEBODY);
          const { message } = chatServerReply(event, group, settings(), loud, limit);
          expect(codePoints(message)).toBeLessThanOrEqual(limit);
          expect(message.split('\n')[0]).toMatch(/ @ann$/);
          expect(message.replace(' @ann', '')).not.toMatch(NAMES_SOMEBODY);
          const { text } = channelBotReply(event, group, settings(), loud, { limit });
          expect(visibleText(text).length).toBeLessThanOrEqual(limit);
          expectBalanced(text.replace('"tg://', '"https://'));
        }
      }),
      RUNS,
    );
  });

  test('a value reads back as itself from CommonMark and HTML', () => {
    fc.assert(
      fc.property(nasty, (value) => {
        const neutral = oneLine(value)
          .replaceAll('@', '@\u200B')
          .replace(/@\u200B\u200B/g, '@\u200B');
        const texts = nodesOf(`x${commonmark.value(value)}`).filter(({ type }) => type === 'text');
        expect(texts.map(({ literal }) => literal).join('')).toBe(`x${neutral}`);
        expect(visibleText(html.value(value))).toBe(neutral);
      }),
      { numRuns: 100 },
    );
  });
});

describe('whatever a template prints', () => {
  const pieces = fc.oneof(
    nasty,
    fc.constantFrom(
      '\n',
      '\n\n',
      '  \n',
      '> ',
      '- ',
      '* ',
      '1. ',
      '#',
      '`',
      '```',
      '**',
      '*',
      '_',
      '[',
      ']',
      '(http://h/)',
      '<b>',
      '</b>',
      '<i',
      '|',
      '    ',
      '~~~',
      '---',
      '[a]: http://h',
      '<!--',
      '<pre>',
      '</a>',
      '<a href="http://h/">',
      '<code>',
      '<blockquote>',
    ),
  );
  const outputs = fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(''));

  test('a bridge gets what it knows, finished for good', () => {
    fc.assert(
      fc.property(outputs, (output) => {
        const finished = commonmark.finish(output);
        expect(unlisted(nodesOf(finished))).toEqual([]);
        expect(finished).not.toMatch(NAMES_SOMEBODY);
        expect(nodesOf(`${finished}\n\nnext`).at(-1)).toMatchObject({ type: 'text', literal: 'next' });
      }),
      { numRuns: 100 },
    );
  });

  test('a chat server gets no link elsewhere and nothing left open', () => {
    fc.assert(
      fc.property(outputs, (output) => {
        const finished = markdown.finish(output);
        expect(targetsOf(nodesOf(finished)).filter((target) => !HTTP.test(target))).toEqual([]);
        expect(finished).not.toMatch(NAMES_SOMEBODY);
      }),
      { numRuns: 100 },
    );
  });

  test('a channel bot gets balanced tags that it knows', () => {
    fc.assert(
      fc.property(outputs, (output) => {
        const finished = html.finish(output);
        expectBalanced(
          finished.replace(/<(\/?)(strong|em|u|del|code|pre)>/g, '<$1b>').replaceAll('http://', 'https://'),
        );
        expect(finished).not.toMatch(NAMES_SOMEBODY);
        expect(html.finish(finished)).toBe(finished);
      }),
      { numRuns: 100 },
    );
  });
});
