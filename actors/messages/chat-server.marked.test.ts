/** What a client makes of messages of a chat server: their Markdown, through the parser that Mattermost's is a fork of. */
import fc from 'fast-check';
import { Marked, type Token, type Tokens } from 'marked';
import { expect, test } from 'vitest';
import { chatServerReply, chatServerRoot } from './chat-server.ts';
import { markdown } from './formats/markdown.ts';
import { call, settings } from './messages.fixture.ts';
import { groups, labels, NAMES_SOMEBODY, nasty } from './nasty.fixture.ts';
import { oneLine } from './neutral.ts';
import type { ReplyEvent } from './replies.ts';

/** As the clients of Mattermost are set: line feeds break lines, HTML is text. */
const marked = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: { html: () => undefined, tag: () => undefined },
});

/** What messages are made of; anything else came from data. */
const OURS = 'paragraph space text escape br strong em del list list_item link'.split(' ');
/** Links of the group and of the service; the fixture's own link is the second. */
const LED_TO = /^https:\/\/(oncall\.example\.org\/|h\/\?q=1$)/;

function* tokensOf(tokens: readonly Token[]): Generator<Token> {
  for (const token of tokens) {
    yield token;
    if (token.type === 'list') yield* tokensOf((token as Tokens.List).items);
    else if ('tokens' in token && token.tokens) yield* tokensOf(token.tokens);
  }
}

/** What a reader would see that nobody of us wrote. */
function strange(text: string): readonly string[] {
  const found = [...tokensOf(marked.lexer(text))];
  const kinds = found.map(({ type }) => type).filter((type) => !OURS.includes(type));
  const targets = found.flatMap((token) => (token.type === 'link' ? [(token as Tokens.Link).href] : []));
  const ordered = found.filter((token) => token.type === 'list' && (token as Tokens.List).ordered);
  const leaves = found.filter((token) => token.type === 'text' && !('tokens' in token && token.tokens));
  const decoded = leaves.filter(({ raw }) => /&#?\w+;/.test(raw));
  return [
    ...kinds,
    ...decoded.map(() => 'a decoded character'),
    ...targets.filter((target) => !LED_TO.test(target)),
    ...ordered.map(() => 'numbers'),
    ...(NAMES_SOMEBODY.test(text) ? ['a Mention'] : []),
  ];
}

/** The text that is shown of one paragraph. */
function shown(source: string): string {
  const leaf = (token: Token): string => ('text' in token ? String(token.text) : '');
  const [paragraph] = marked.lexer(source) as Tokens.Paragraph[];
  return (paragraph?.tokens ?? []).map(leaf).join('');
}

const invisible = (text: string) => text.replaceAll('\u200B', '').trim();

/** Long runs of one character are slow to parse, and no longer than this any different. */
const values = nasty.map((text) => text.slice(0, 200));

test('5,000 values are shown as they are: no link, no Mention, no markup', () => {
  fc.assert(
    fc.property(values, (value) => {
      const written = markdown.value(value);
      expect(strange(written)).toEqual([]);
      const kinds = [...tokensOf(marked.lexer(written))].map(({ type }) => type);
      expect(kinds.filter((kind) => !['paragraph', 'text', 'escape', 'space'].includes(kind))).toEqual([]);
      expect(invisible(shown(`x${written}`))).toBe(invisible(`x${oneLine(value)}`));
      expect(strange(`x${markdown.escape(value)}`)).toEqual([]);
    }),
    { numRuns: 5_000 },
  );
});

test('Root messages and replies hold no markup, link or Mention that is not theirs', () => {
  const own = { mentions: [], sign: null };
  fc.assert(
    fc.property(groups, labels, nasty, (group, more, name) => {
      const { message, attachment } = chatServerRoot(group, settings(), call(), 1_000);
      const events: readonly ReplyEvent[] = [
        { event: 'alerts_added', alerts: group.alerts },
        { event: 'takeover', owner: name, formerOwner: Object.keys(more)[0] ?? name },
      ];
      const replies = events.map((event) => chatServerReply(event, group, settings(), own, 1_000).message);
      for (const text of [message, attachment.text, ...replies]) expect(strange(text)).toEqual([]);
    }),
    { numRuns: 150 },
  );
});
