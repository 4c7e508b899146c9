import { describe, expect, it } from 'vitest';
import type { Query } from '../api/client.ts';
import type { AlertGroup } from '../api/shapes.ts';
import { type AttentionChoice, createAttention } from './attention.ts';

function group(
  number: number,
  fields: { urgent?: boolean; route?: string; reopened?: number } = {},
): AlertGroup {
  const { urgent = false, route = 'RT1', reopened = 0 } = fields;
  return { id: `AG${number}`, number, urgent, reopen_count: reopened, route: { id: route } } as AlertGroup;
}

/** What the service finds of them. */
function found(groups: readonly AlertGroup[], { urgent, route }: Query): readonly AlertGroup[] {
  return groups.filter(
    (each) =>
      (urgent !== true || each.urgent) &&
      (!Array.isArray(route) || route.length === 0 || route.includes(each.route.id)),
  );
}

function tab(choice: Partial<AttentionChoice> = {}) {
  const called: number[][] = [];
  const asked: Query[] = [];
  const refused: string[] = [];
  const state = {
    firing: [group(7)],
    hidden: true,
    away: false,
    more: null as string | null,
    slow: Promise.resolve(),
  };
  const views = [
    { id: 'Mine', query: 'owner=me&tab=all' },
    { id: 'Shop', query: 'label=namespace%3D%22shop%22' },
    { id: 'Old', query: 'tab=resolved' },
    { id: 'Broken', query: 'label=pod%3D~%22%5B%22' },
  ];
  const attention = createAttention({
    api: {
      list: async (query) => {
        asked.push(query);
        const isRefused = String(query.label).includes('=~');
        const errors = isRefused ? [{ pointer: '/query/label/0', code: 'invalid_regex' }] : [];
        const value = { items: found(state.firing, query), next_cursor: state.more };
        const isOk = !state.away && !isRefused;
        await state.slow;
        return isOk ? { ok: true, value, etag: null } : { ok: false, problem: { errors } as never };
      },
    },
    choice: () => ({ attention: 'all', attentionRoutes: [], attentionViews: [], ...choice }),
    views: () => views,
    isHidden: () => state.hidden,
    call: (news) => called.push(news.map(({ number }) => number)),
    refused: (views) => refused.splice(0, refused.length, ...views),
  });
  return { state, views, called, asked, refused, attention };
}

describe('a tab that nobody sees', () => {
  it('calls again for what comes to fire again: its Snooze ended, or nobody has it any more', async () => {
    const { state, called, attention } = tab();
    await attention.look();
    state.firing = [];
    await attention.look();
    state.firing = [group(7)];
    await attention.look();
    await attention.look();
    expect(called).toEqual([[7]]);
  });

  it('calls for what was opened again, and for what rose to Urgent, between two looks', async () => {
    const { state, called, attention } = tab();
    await attention.look();
    state.firing = [group(7, { reopened: 1 })];
    await attention.look();
    await attention.look();
    state.firing = [group(7, { reopened: 1, urgent: true })];
    await attention.look();
    await attention.look();
    expect(called).toEqual([[7], [7]]);
  });

  it('calls for what rises to Urgent when that was chosen, and for what comes into a chosen Route', async () => {
    const urgent = tab({ attention: 'urgent' });
    await urgent.attention.look();
    urgent.state.firing = [group(7, { urgent: true })];
    await urgent.attention.look();
    expect(urgent.called).toEqual([[7]]);
    const routes = tab({ attention: 'routes', attentionRoutes: ['RT2'] });
    await routes.attention.look();
    routes.state.firing = [group(7, { route: 'RT2' })];
    await routes.attention.look();
    expect(routes.called).toEqual([[7]]);
  });

  it('does not take for news what fired before it was read, while more fire than are read', async () => {
    const { state, called, attention } = tab();
    state.more = 'cursor';
    state.firing = Array.from({ length: 100 }, (_, index) => group(200 - index));
    await attention.look();
    state.firing = [group(201), group(50), ...state.firing.slice(2)];
    await attention.look();
    expect(called).toEqual([[201]]);
  });

  it('does not take for news what another set of views shows', async () => {
    const { state, views, called, attention } = tab({
      attention: 'views',
      attentionViews: ['Shop', 'Later'],
    });
    await attention.look();
    views.push({ id: 'Later', query: '' });
    state.firing = [group(3), group(7)];
    await attention.look();
    expect(called).toEqual([]);
    state.firing = [group(8), group(3), group(7)];
    await attention.look();
    expect(called).toEqual([[8]]);
  });

  it('looks once more after a look that is on its way, and leaves that out when it was told to forget', async () => {
    const { state, called, asked, attention } = tab();
    await attention.look();
    let letGo = (): void => undefined;
    state.slow = new Promise((resolve) => {
      letGo = resolve;
    });
    state.firing = [group(8), group(7)];
    const late = [attention.look()];
    attention.forget();
    state.firing = [group(9), group(8), group(7)];
    late.push(attention.look(), attention.look());
    expect(asked).toHaveLength(2);
    letGo();
    await Promise.all(late);
    expect(asked).toHaveLength(3);
    state.firing = [group(10), ...state.firing];
    await attention.look();
    expect([called, asked.length]).toEqual([[[10]], 4]);
  });

  it('asks at most twice for one view, where its pages end early', async () => {
    const { state, asked, attention } = tab();
    state.more = 'cursor';
    await attention.look();
    expect(asked).toHaveLength(2);
  });

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
