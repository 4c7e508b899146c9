import { Parser } from 'commonmark';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GROUP_STATUSES } from '../model.ts';
import { codePoints } from '../text.ts';
import { bridgeRoot } from './bridge.ts';
import { channelBotRoot } from './channel-bot.ts';
import { chatServerRoot } from './chat-server.ts';
import { commonmark } from './formats/commonmark.ts';
import { html } from './formats/html.ts';
import { visibleText } from './formats/html-text.ts';
import { markdown } from './formats/markdown.ts';
import type { GroupMessage } from './input.ts';
import { alerts, call, group412, settings } from './messages.fixture.ts';
import { oneLine } from './neutral.ts';

const PAGE = 'https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA';
const LISTED =
  'document paragraph softbreak linebreak emph strong code link text list item block_quote'.split(' ');

/** What has broken somebody's markup before. */
const nasty = fc.oneof(
  fc.constantFrom(
    '@channel <b>x</b>',
    '@all',
    '[x](javascript:alert(1))',
    '![i](http://h/i.png)',
    '<a href="tg://user?id=1">a</a>',
    '](svc-mention:m1)',
    '[@a](svc-mention:m1)',
    '</blockquote></b>',
    '```\ncode',
    '# h\n===\n---',
    '1. a\n2) b\n- c\n> d\n    e',
    '| a | b |\n|---|---|',
    '~~s~~ **b** __i__ `c`',
    '&amp; &#64;all &lt;b&gt; &copy;',
    'http://h/a_b?c=*d* <https://h/>',
    '\\',
    '\\\\@here\\',
    '\u202Eevil\u2066\u200B',
    '\uD83D',
    '\uDE00\uD83D',
    '\u0000\u001b[0m\u0007\r\n\t\u0085\u2028',
    '\uE0000\uE001',
    '🔥👩‍👩‍👧',
    '',
    ' ',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .tuple(fc.constantFrom('_', '@', '🔥', '<', '\n', '&'), fc.integer({ min: 1, max: 9_000 }))
    .map(([unit, count]) => unit.repeat(count)),
);
const labels = fc.dictionary(
  fc.oneof(fc.constantFrom('alertname', 'cluster', 'pod', 'severity'), nasty),
  nasty,
  {
    maxKeys: 6,
  },
);

const groups: fc.Arbitrary<GroupMessage> = fc
  .record({
    title: nasty,
    summary: fc.option(nasty),
    status: fc.constantFrom(...GROUP_STATUSES),
    name: nasty,
    common: labels,
    annotations: labels,
    own: fc.array(fc.record({ labels, state: fc.constantFrom('firing', 'resolved') }), {
      minLength: 1,
      maxLength: 14,
    }),
    link: nasty,
  })
  .map(({ title, summary, status, name, common, annotations, own, link }) =>
    group412({
      title,
      summary,
      status,
      owner: name,
      snooze: { by: name, until: null },
      resolution: { by: 'person', name },
      groupLabels: common,
      commonLabels: common,
      commonAnnotations: annotations,
      alerts: alerts(own),
      firingCount: own.filter(({ state }) => state === 'firing').length,
      resolvedCount: own.filter(({ state }) => state === 'resolved').length,
      links: [
        { kind: 'link_rule', name: link, url: 'https://h/?q=1' },
        { kind: 'source', url: link },
      ],
    }),
  );

const RUNS = { numRuns: 60 };
const LIMITS = [420, 1_000, 16_383];

/** Every `@` names nobody. */
const NAMES_SOMEBODY = /@(?!\u200B)/;

function nodesOf(body: string) {
  const nodes: { type: string; literal: string; destination: string }[] = [];
  const walker = new Parser().parse(body).walker();
  for (let step = walker.next(); step; step = walker.next()) {
    const { type, literal, destination } = step.node;
    if (step.entering) nodes.push({ type, literal: literal ?? '', destination: destination ?? '' });
  }
  return nodes;
}

const HTTP = /^https?:\/\//i;

/** What a bridge does not expect: kinds of nodes, links elsewhere. */
function unlisted(nodes: ReturnType<typeof nodesOf>): string[] {
  const kinds = nodes.map(({ type }) => type).filter((type) => !LISTED.includes(type));
  return [...kinds, ...targetsOf(nodes).filter((target) => !HTTP.test(target))];
}

function targetsOf(nodes: ReturnType<typeof nodesOf>): string[] {
  const links = nodes.filter(({ type }) => type === 'link' || type === 'image');
  return links.map(({ destination }) => destination);
}

/** Reads HTML as strictly as messengers do. */
function expectBalanced(text: string) {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [tag, slash, name = ''] of text.matchAll(/<(\/?)([a-z]+)[^<>]*>|<|>/g)) {
    if (!KNOWN_TAG.test(tag)) wrong.push(tag);
    if (slash !== '/') open.push(name);
    else if (open.pop() !== name) wrong.push(tag);
  }
  expect([...wrong, ...open]).toEqual([]);
  expect(text.replace(/&(amp|lt|gt|quot);/g, '')).not.toContain('&');
}

const KNOWN_TAG = /^<(\/?(b|i|s|blockquote|a)|blockquote expandable|a href="https:\/\/[^"<>]*")>$/;

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
        expect(chatServerRoot(group, settings(), call(), limit).hash).toBe(hash);
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
      { numRuns: 200 },
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
      { numRuns: 400 },
    );
  });

  test('a chat server gets no link elsewhere and nothing left open', () => {
    fc.assert(
      fc.property(outputs, (output) => {
        const finished = markdown.finish(output);
        expect(targetsOf(nodesOf(finished)).filter((target) => !HTTP.test(target))).toEqual([]);
        expect(finished).not.toMatch(NAMES_SOMEBODY);
      }),
      { numRuns: 200 },
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
      { numRuns: 200 },
    );
  });
});
