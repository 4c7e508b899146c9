import { expect, test } from 'vitest';
import type { DeliveryItem } from '../../api/shapes.ts';
import { en } from '../../i18n/en.ts';
import type { I18n, Key } from '../../i18n/i18n.svelte.ts';
import { formatMessage } from '../../i18n/message.ts';
import { deliverySentences } from './delivery-words.ts';

const plurals = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');
const i18n = {
  t: (key: string, values: Record<string, string | number> = {}) =>
    formatMessage(en[key as Key], values, plurals, numbers),
} as unknown as I18n;

const POSTED = { posted_at: '2026-11-28T14:02:00Z', edited_at: null } as const;
const EDITED = { ...POSTED, edited_at: '2026-11-28T14:05:00Z' } as const;
const NOTHING = { posted_at: null, edited_at: null } as const;

test.each<[string, string, Partial<DeliveryItem>, readonly string[]]>([
  ['current', 'silent', EDITED, ['Posted 14:02', 'edited 14:05']],
  ['current', 'replying', POSTED, ['Posted 14:02', 'a reply is being sent']],
  ['editing', 'silent', POSTED, ['Posted 14:02', 'being edited']],
  ['publishing', 'silent', NOTHING, ['being posted']],
  ['held.storm', 'silent', NOTHING, ['Waiting: a Storm of its Route holds it']],
  ['held.unjudged', 'silent', NOTHING, ['Waiting: its Route has not decided yet']],
  [
    'stale',
    'silent',
    { ...POSTED, state: 'waiting_for_broken_destination' },
    ['Posted 14:02', 'Waiting: the Destination is Broken'],
  ],
  ['wanted', 'silent', NOTHING, []],
])('%s and %s with %j', (root, thread, more, expected) => {
  const item = { state: 'pending', machine: { root, thread }, next: null, ...more } as DeliveryItem;
  expect(deliverySentences(item, i18n, (instant) => instant.slice(11, 16))).toEqual(expected);
});
