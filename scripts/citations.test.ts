import { expect, test } from 'vitest';
import { unresolvedCitations } from './citations.ts';

const CHAPTERS = new Map([
  [
    'delivery',
    '# Delivery\n\n## 3. Loop\n\n1. Wake.\n2. Send.\n\n### 3.1 Batching\n\n1. W.\n\n## 4. Mentions\n\nNo list.\n',
  ],
  ['alert-groups', '# Alert Groups\n\n## 1. State\n'],
]);

/** Each as `line: citation: reason`, of one file with this text. */
function found(text: string, file = 'actors/a.ts'): readonly string[] {
  return unresolvedCitations(new Map([[file, text]]), CHAPTERS).map(
    ({ line, citation, reason }) => `${line}: ${citation}: ${reason}`,
  );
}

test.each([
  '/** Wakes (delivery §3). */',
  '/** Wakes (delivery §3.1, §4; alert-groups §1). */',
  '/** Wakes (delivery §3 to §4, §3.1 and §4). */',
  '/** Wakes (delivery §3 rule 2, §3.1 rule 1). */',
  '/** Wakes (delivery §3 rules 1 to 2). */',
  '/** Wakes (delivery §3 rule 1, 2). */',
  '/**\n * Wakes (alert-groups\n * §1, delivery\n * §3\n * rule 2).\n */',
  '<!-- Wakes [delivery §3](contract/delivery.md). -->',
  '/** As RFC 9535 §2.3.5.2.2, §9 say. */',
  '/** As delivery §3.1 says. 5 more. */',
  'cited as `CHAPTER §N[.M]`',
  'const FIGURE = /[-/§#]/;',
])('resolves %s', (text) => {
  expect(found(text)).toEqual([]);
});

test.each([
  ['/** Wakes (delivery §5). */', '1: delivery §5: no such section'],
  ['/** Wakes (delivery §3.2). */', '1: delivery §3.2: no such section'],
  ['/** Wakes (delivery §3, §9). */', '1: delivery §9: no such section'],
  ['/** Wakes (delivery §3 rule 3). */', '1: delivery §3 rule 3: no rule 3 in that section'],
  ['/** Wakes (delivery §3 rules 2 to 4). */', '1: delivery §3 rules 2 to 4: no rule 4 in that section'],
  ['/** Wakes (delivery §4 rule 1). */', '1: delivery §4 rule 1: no rule 1 in that section'],
  ['/** Wakes (§3). */', '1: §3: names no chapter'],
  ['/** Wakes (Delivery §3). */', '1: Delivery §3: names no chapter'],
  ['/** Wakes (`delivery.md` §3). */', '1: §3: names no chapter'],
  ['/** Wakes (delivery §). */', '1: delivery §: no number follows'],
  ['\n/**\n * Wakes (mail\n * §3).\n */', '4: mail §3: names no chapter'],
  ['/** RFC 9535 §2, and (§3). */', '1: §3: names no chapter'],
])('refuses %s', (text, complaint) => {
  expect(found(text)).toEqual([complaint]);
});

test('a chapter cites itself without its name, and others by theirs', () => {
  expect(found('As §1 says, and delivery §3.1.', 'docs/contract/alert-groups.md')).toEqual([]);
  expect(found('As §3 says.', 'docs/contract/alert-groups.md')).toEqual([
    '1: alert-groups §3: no such section',
  ]);
  expect(found('By (§1).', 'docs/contract/README.md')).toEqual(['1: §1: names no chapter']);
});
