import { describe, expect, it } from 'vitest';
import { readViews, type ViewStore, withStart, withView, writeViews } from './saved-views.ts';

function storeOf(text: string | null): ViewStore & { text: string | null } {
  return {
    text,
    getItem() {
      return this.text;
    },
    setItem(_, value) {
      this.text = value;
    },
  };
}
const VIEW = { name: 'Mine', query: 'owner=me&sort=started_at', start: true };

describe('saved views', () => {
  it('come back as they were kept', () => {
    const store = storeOf(null);
    expect(readViews(store)).toEqual([]);
    expect(writeViews(store, [VIEW])).toBe(true);
    expect(readViews(store)).toEqual([VIEW]);
  });

  it.each(['nonsense', '7', '[1, {"name": ""}, {"name": "x"}]'])('%s is none', (text) => {
    expect(readViews(storeOf(text))).toEqual([]);
  });

  it('lose what the address bar would not understand', () => {
    const stored = JSON.stringify([{ name: 'Old', query: 'owner=bob&tab=all&colour=red' }]);
    expect(readViews(storeOf(stored))).toEqual([{ name: 'Old', query: 'tab=all', start: false }]);
  });

  it('say when the browser keeps nothing', () => {
    const closed: ViewStore = {
      getItem: () => null,
      setItem: () => {
        throw new Error('closed');
      },
    };
    expect(writeViews(closed, [VIEW])).toBe(false);
  });

  it('are replaced by name, and one at most is the start', () => {
    const two = withView([VIEW], 'All', 'tab=all');
    expect(withView(two, 'Mine', 'owner=none').map(({ query }) => query)).toEqual(['owner=none', 'tab=all']);
    const started = withStart(two, 'All');
    expect(started.map(({ start }) => start)).toEqual([false, true]);
    expect(withStart(started, 'All').some(({ start }) => start)).toBe(false);
  });
});
