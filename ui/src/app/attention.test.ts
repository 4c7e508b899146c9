import { describe, expect, it } from 'vitest';
import type { Query } from '../api/client.ts';
import type { AlertGroup } from '../api/shapes.ts';
import { type AttentionChoice, createAttention } from './attention.ts';

function group(number: number, fields: { urgent?: boolean; route?: string } = {}): AlertGroup {
  const { urgent = false, route = 'RT1' } = fields;
  return { id: `AG${number}`, number, urgent, route: { id: route, name: route } } as AlertGroup;
}

function tab(choice: Partial<AttentionChoice> = {}) {
  const called: number[][] = [];
  const asked: Query[] = [];
  const refused: string[] = [];
  const state = { firing: [group(7)], hidden: true, away: false };
  const attention = createAttention({
    api: {
      list: async (query) => {
        asked.push(query);
        const isRefused = String(query.label).includes('=~');
        const errors = isRefused ? [{ pointer: '/query/label/0', code: 'invalid_regex' }] : [];
        return state.away || isRefused
          ? { ok: false, problem: { status: isRefused ? 400 : 503, errors } as never }
          : { ok: true, value: { items: state.firing, next_cursor: null }, etag: null as never };
      },
    },
    choice: () => ({ attention: 'all', attentionRoutes: [], attentionViews: [], ...choice }),
    views: () => [
      { id: 'Mine', query: 'owner=me&tab=all' },
      { id: 'Shop', query: 'label=namespace%3D%22shop%22' },
      { id: 'Old', query: 'tab=resolved' },
      { id: 'Broken', query: 'label=pod%3D~%22%5B%22' },
    ],
    isHidden: () => state.hidden,
    call: (news) => called.push(news.map(({ number }) => number)),
    refused: (views) => refused.splice(0, refused.length, ...views),
  });
  return { state, called, asked, refused, attention };
}

describe('a tab that nobody sees', () => {
  it('calls for what began to fire since, once, and not for what fired before', async () => {
    const { state, called, attention } = tab();
    await attention.look();
    expect(called).toEqual([]);
    state.firing = [group(9), group(8), group(7)];
    await attention.look();
    await attention.look();
    expect(called).toEqual([[9, 8]]);
  });

  it('does not call for what was there while it was in sight', async () => {
    const { state, called, attention } = tab();
    await attention.look();
    state.hidden = false;
    state.firing = [group(8)];
    await attention.look();
    state.hidden = true;
    await attention.look();
    expect(called).toEqual([]);
  });

  it('makes up for a look that failed', async () => {
    const { state, called, attention } = tab();
    await attention.look();
    state.away = true;
    await attention.look();
    state.away = false;
    state.firing = [group(8)];
    await attention.look();
    expect(called).toEqual([[8]]);
  });

  it.each<[Partial<AttentionChoice>, number[][]]>([
    [{ attention: 'all' }, [[10, 9, 8]]],
    [{ attention: 'urgent' }, [[9]]],
    [{ attention: 'routes', attentionRoutes: ['RT2'] }, [[10]]],
    [{ attention: 'routes' }, []],
    [{ attention: 'views', attentionViews: ['Shop'] }, [[10, 9, 8]]],
    [{ attention: 'views', attentionViews: ['Old', 'gone'] }, []],
    [{ attention: 'off' }, []],
  ])('calls by the choice of the person: %j', async (choice, expected) => {
    const { state, called, attention } = tab(choice);
    await attention.look();
    state.firing = [group(10, { route: 'RT2' }), group(9, { urgent: true }), group(8)];
    await attention.look();
    expect(called).toEqual(expected);
  });

  it('asks for what fires in the chosen views, and tells a group of two of them once', async () => {
    const { state, called, asked, attention } = tab({
      attention: 'views',
      attentionViews: ['Shop', 'Mine', 'Old'],
    });
    await attention.look();
    expect(asked).toEqual([
      expect.objectContaining({ owner: 'me', status: ['firing'] }),
      expect.objectContaining({ label: ['namespace="shop"'], status: ['firing'] }),
    ]);
    state.firing = [group(8), group(7)];
    await attention.look();
    expect(called).toEqual([[8]]);
  });

  it('is called for the other views when the service refuses one, which is named', async () => {
    const { state, called, refused, attention } = tab({
      attention: 'views',
      attentionViews: ['Broken', 'Shop'],
    });
    await attention.look();
    expect(refused).toEqual(['Broken']);
    state.firing = [group(8), group(7)];
    await attention.look();
    expect(called).toEqual([[8]]);
  });
});
