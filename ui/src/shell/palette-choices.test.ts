import { describe, expect, it } from 'vitest';
import { en } from '../i18n/en.ts';
import type { I18n, Key } from '../i18n/i18n.svelte.ts';
import { formatMessage } from '../i18n/message.ts';
import { paletteChoices } from './palette-choices.ts';

const plurals = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');
const i18n = {
  t: (key: string, values = {}) => formatMessage(en[key as Key], values, plurals, numbers),
} as unknown as I18n;

const ran: string[] = [];
const command = (name: string, text: string) => ({ name, text, run: () => void ran.push(name) });
const HERE = {
  commands: [command('acknowledge', 'Acknowledge'), command('snooze', 'Snooze…')],
  views: [
    { id: 'VW1', name: 'Night shift', query: 'owner=none' },
    { id: 'VW2', name: 'All of it', query: '' },
  ],
  may: () => true,
};
const found = (typed: string, here: Partial<typeof HERE> = {}) =>
  paletteChoices(typed, { ...HERE, ...here }, i18n).map(({ text, to }) => [
    text,
    typeof to === 'string' ? to : 'run',
  ]);

describe('the palette finds', () => {
  it.each([
    ['#123', [['Open Alert Group #123', '/alert-groups?number=123']]],
    ['123', [['Open Alert Group #123', '/alert-groups?number=123']]],
    [
      'ackn',
      [
        ['Acknowledge', 'run'],
        ['Search Alert Groups for “ackn”', '/alert-groups?tab=all&q=ackn'],
      ],
    ],
    [
      'NIGHT',
      [
        ['Night shift', '/alert-groups?owner=none'],
        ['Search Alert Groups for “NIGHT”', '/alert-groups?tab=all&q=NIGHT'],
      ],
    ],
    [
      'audit',
      [
        ['Audit log', '/admin/audit-log'],
        ['Search Alert Groups for “audit”', '/alert-groups?tab=all&q=audit'],
      ],
    ],
  ])('%s', (typed, expected) => {
    expect(found(typed)).toEqual(expected);
  });

  it('everything there is when nothing is typed, the Commands of the page first', () => {
    const all = found('');
    expect(all.slice(0, 3).map(([text]) => text)).toEqual(['Acknowledge', 'Snooze…', 'Alert Groups']);
    expect(all.at(-1)).toEqual(['All of it', '/alert-groups']);
  });

  it('only what the person may see', () => {
    expect(found('', { may: () => false, commands: [] })).toEqual([
      ['Profile', '/profile'],
      ['Machines', '/machines'],
      ['Docs', '/docs'],
    ]);
    expect(found('#1', { may: () => false, commands: [] })).toEqual([]);
  });

  it.each([
    ['network', 'Organization · Network', '/admin/organization/network'],
    ['severity', 'Organization · Severity levels', '/admin/organization/severity-levels'],
    ['machi', 'Machines', '/machines'],
    ['profile', 'Profile', '/profile'],
    ['docs', 'Docs', '/docs'],
  ])('the page %s', (typed, text, href) => {
    expect(found(typed)[0]).toEqual([text, href]);
  });

  it('tabs of the Organization for those alone who may read it', () => {
    const may = (permission: string) => permission !== 'organization:read';
    expect(found('organization', { may: may as () => boolean }).map(([text]) => text)).toEqual([
      'Search Alert Groups for “organization”',
    ]);
    expect(found('organization')).toHaveLength(9);
  });

  it('each choice once', () => {
    const keys = paletteChoices('', HERE, i18n).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('no page whose name is still on its way', () => {
    const t = ((key: string) => (key.startsWith('nav.') ? key : '')) as I18n['t'];
    const texts = paletteChoices('', { ...HERE, commands: [], views: [] }, { t }).map(({ text }) => text);
    expect(texts.every((text) => /^nav\.\w+$/.test(text))).toBe(true);
  });

  it('Commands that run when they are picked', () => {
    const [first] = paletteChoices('ackn', HERE, i18n);
    if (typeof first?.to === 'function') first.to();
    expect(ran).toEqual(['acknowledge']);
  });
});
