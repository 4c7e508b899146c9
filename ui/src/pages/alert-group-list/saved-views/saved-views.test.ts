import { describe, expect, it } from 'vitest';
import type { SavedViewsApi } from '../../../api/configuration.ts';
import { readOldViews, takeOverViews, type ViewStorage } from './saved-views.ts';

const ME = 'SR0000000000AA';
const OTHER = 'SR0000000000BB';

function storageOf(content: unknown): ViewStorage & { text: string | null } {
  return {
    text: typeof content === 'string' ? content : JSON.stringify(content),
    getItem() {
      return this.text;
    },
    setItem(_, value) {
      this.text = value;
    },
    removeItem() {
      this.text = null;
    },
  };
}

interface Kept {
  id: string;
  name: string;
  query: string;
  shared: boolean;
  is_default: boolean;
  owner: { id: string };
}

/** A service that holds so many views at most. */
function service({ kept = [], most = 50 }: { kept?: Partial<Kept>[]; most?: number } = {}) {
  const items = kept.map((view, index) => ({
    ...{ id: `VW${index}`, name: 'Mine', query: '', shared: false, is_default: false, owner: { id: ME } },
    ...view,
  }));
  const refused = (code: string) => ({ ok: false, problem: { status: 409, code } });
  const api = {
    list: async () => ({ ok: true, value: { items: [...items], next_cursor: null } }),
    async create(view: Pick<Kept, 'name' | 'query' | 'shared'>) {
      if (items.length >= most) return refused('too_many');
      const isTaken = items.some(({ name, owner }) => name === view.name && owner.id === ME);
      if (isTaken) return refused('name_taken');
      const value = { ...view, id: `VW${items.length}`, is_default: false, owner: { id: ME } };
      items.push(value);
      return { ok: true, value };
    },
    async choose(id: string | null) {
      for (const item of items) item.is_default = item.id === id;
      return { ok: true, value: null };
    },
  };
  return { items, api: api as unknown as SavedViewsApi };
}

const MINE = { name: 'Mine', query: 'owner=me&sort=started_at', start: true };
const ALL = { name: 'All', query: 'tab=all', start: false };

describe('views of the version before', () => {
  it.each(['nonsense', '7', '[1, {"name": ""}, {"name": "x"}]'])('%s is none', (text) => {
    expect(readOldViews(storageOf(text))).toEqual([]);
  });

  it('lose what the address bar would not understand', () => {
    const stored = [{ name: 'Old', query: 'owner=bob&tab=all&colour=red' }];
    expect(readOldViews(storageOf(stored))).toEqual([{ name: 'Old', query: 'tab=all', start: false }]);
  });

  it('become the person’s own, with their start, and are gone from the browser', async () => {
    const storage = storageOf([MINE, ALL]);
    const { items, api } = service();
    const ids = await takeOverViews(storage, api, ME);
    expect(items).toMatchObject([
      { name: 'Mine', query: MINE.query, shared: false, is_default: true },
      { name: 'All', query: ALL.query, is_default: false },
    ]);
    expect([...ids]).toEqual([
      ['Mine', 'VW0'],
      ['All', 'VW1'],
    ]);
    expect(storage.text).toBeNull();
  });

  it('are saved once, and beside another of the same name', async () => {
    const { items, api } = service({
      kept: [{ ...ALL }, { name: 'Mine', query: 'owner=none', is_default: true }],
    });
    await takeOverViews(storageOf([MINE, ALL]), api, ME);
    await takeOverViews(storageOf([MINE, ALL]), api, ME);
    expect(items.map(({ name, query }) => [name, query])).toEqual([
      ['All', 'tab=all'],
      ['Mine', 'owner=none'],
      ['Mine (2)', MINE.query],
    ]);
    expect(items.map(({ is_default }) => is_default)).toEqual([false, true, false]);
  });

  it('keep the mark of another name where it is as long as names may be', async () => {
    const name = 'n'.repeat(200);
    const { items, api } = service({ kept: [{ name, query: 'tab=all' }] });
    await takeOverViews(storageOf([{ ...MINE, name }]), api, ME);
    expect(items.map((view) => view.name)).toEqual([name, `${'n'.repeat(196)} (2)`]);
  });

  it('are saved although another person shares the same', async () => {
    const { items, api } = service({ kept: [{ ...ALL, shared: true, owner: { id: OTHER } }] });
    await takeOverViews(storageOf([ALL]), api, ME);
    expect(items).toHaveLength(2);
  });

  it('stay in the browser when the service does not take them', async () => {
    const storage = storageOf([MINE, ALL]);
    await takeOverViews(storage, service({ most: 1 }).api, ME);
    expect(readOldViews(storage)).toEqual([ALL]);
    const away = { list: async () => ({ ok: false, problem: { status: 503 } }) } as never;
    await takeOverViews(storage, away, ME);
    expect(readOldViews(storage)).toEqual([ALL]);
  });
});
