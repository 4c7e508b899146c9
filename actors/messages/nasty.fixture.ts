/** Anything that senders, people and templates may write, and what must hold of a message all the same. */
import { Parser } from 'commonmark';
import fc from 'fast-check';
import { expect } from 'vitest';
import { GROUP_STATUSES } from '../model.ts';
import type { GroupMessage } from './input.ts';
import { alerts, group412 } from './messages.fixture.ts';

const LISTED =
  'document paragraph softbreak linebreak emph strong code link text list item block_quote'.split(' ');

/** What has broken somebody's markup before. */
export const nasty = fc.oneof(
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
    '<mailto:x> ftp://h/a-b.c www.h.example <a+b.c:d>',
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
export const labels = fc.dictionary(
  fc.oneof(fc.constantFrom('alertname', 'cluster', 'pod', 'severity'), nasty),
  nasty,
  {
    maxKeys: 6,
  },
);

export const groups: fc.Arbitrary<GroupMessage> = fc
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

/** Marks that turn the direction of what follows them, so that a text reads as something else. */
export const TURNING = /[\u202A-\u202E\u2066-\u2069]/;

/** Every `@` names nobody. */
export const NAMES_SOMEBODY = /@(?!\u200B)/;

export function nodesOf(body: string) {
  const nodes: { type: string; literal: string; destination: string }[] = [];
  const walker = new Parser().parse(body).walker();
  for (let step = walker.next(); step; step = walker.next()) {
    const { type, literal, destination } = step.node;
    if (step.entering) nodes.push({ type, literal: literal ?? '', destination: destination ?? '' });
  }
  return nodes;
}

export const HTTP = /^https?:\/\//i;

/** What a bridge does not expect: kinds of nodes, links elsewhere. */
export function unlisted(nodes: ReturnType<typeof nodesOf>): string[] {
  const kinds = nodes.map(({ type }) => type).filter((type) => !LISTED.includes(type));
  return [...kinds, ...targetsOf(nodes).filter((target) => !HTTP.test(target))];
}

export function targetsOf(nodes: ReturnType<typeof nodesOf>): string[] {
  const links = nodes.filter(({ type }) => type === 'link' || type === 'image');
  return links.map(({ destination }) => destination);
}

/** Reads HTML as strictly as messengers do. */
export function expectBalanced(text: string) {
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

export const KNOWN_TAG = /^<(\/?(b|i|s|blockquote|a)|blockquote expandable|a href="https:\/\/[^"<>]*")>$/;
