import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createI18n, type Key, type Loaders } from './i18n.svelte.ts';

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
});
afterEach(() => void vi.unstubAllGlobals());

const root = () => ({ lang: '' }) as HTMLElement;
const FIRST: Key = 'nav.alertGroups';
const GROUP: Key = 'group.commands';
const REST: Key = 'nav.routes';

/** Texts that say their language, and come when they are let go. */
function slowTexts() {
  const waiting = new Map<string, { arrive: () => void; fail: () => void }>();
  const texts = (name: string, key: Key) => () =>
    new Promise<object>((resolve, reject) => {
      waiting.set(name, { arrive: () => resolve({ [key]: name }), fail: () => reject(new Error(name)) });
    });
  const of = (language: string) => ({
    first: texts(`${language} first`, FIRST),
    group: texts(`${language} group`, GROUP),
    rest: texts(`${language} rest`, REST),
  });
  const loaders: Loaders = { en: of('en'), ru: of('ru') };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const take = async (name: string, how: 'arrive' | 'fail') => {
    const entry = waiting.get(name);
    if (entry === undefined) throw new Error(`${name} was not asked for`);
    waiting.delete(name);
    entry[how]();
    await settle();
  };
  return {
    loaders,
    arrive: (name: string) => take(name, 'arrive'),
    fail: (name: string) => take(name, 'fail'),
    asked: () => [...waiting.keys()],
  };
}

async function english() {
  const texts = slowTexts();
  const made = createI18n(root(), 'en', texts.loaders);
  await texts.arrive('en first');
  const i18n = await made;
  const shown = () => [FIRST, GROUP, REST].map((key) => i18n.t(key as 'nav.alertGroups'));
  return { ...texts, i18n, shown };
}

describe('texts that come later', () => {
  it('the page of a group waits for its own and not for all others, also when those did not arrive before', async () => {
    const { i18n, arrive, fail, shown, asked } = await english();
    const all = i18n.complete().catch((error: Error) => error.message);
    expect(asked()).toEqual(['en group', 'en rest']);
    await arrive('en group');
    await i18n.withGroup();
    expect(shown()).toEqual(['en first', 'en group', '']);
    await fail('en rest');
    expect(await all).toBe('en rest');
    await i18n.withGroup();
    const again = i18n.complete();
    await arrive('en rest');
    await again;
    expect(shown()).toEqual(['en first', 'en group', 'en rest']);
  });

  it('another language shows at once, and without what does not arrive', async () => {
    const { i18n, arrive, fail, shown } = await english();
    const all = i18n.complete();
    await arrive('en group');
    await arrive('en rest');
    await all;
    const changed = i18n.use('ru');
    await arrive('ru first');
    await arrive('ru group');
    expect(shown()).toEqual(['en first', 'en group', 'en rest']);
    await fail('ru rest');
    await changed;
    expect(shown()).toEqual(['ru first', 'ru group', '']);
    const again = i18n.complete();
    await arrive('ru rest');
    await again;
    expect(shown()).toEqual(['ru first', 'ru group', 'ru rest']);
  });

  it('languages do not mix when texts are asked for, and the language is changed back, meanwhile', async () => {
    const { i18n, arrive, shown } = await english();
    const changed = i18n.use('ru');
    const group = i18n.withGroup();
    await arrive('en group');
    await group;
    expect(shown()).toEqual(['en first', 'en group', '']);
    await arrive('ru first');
    await arrive('ru first');
    await arrive('ru group');
    await changed;
    expect(shown()).toEqual(['ru first', 'ru group', '']);
    const back = i18n.use('en');
    const forth = i18n.use('ru');
    await arrive('en first');
    await arrive('en group');
    await Promise.all([back, forth]);
    expect(shown()).toEqual(['ru first', 'ru group', '']);
  });

  it('those that come after the language was changed are asked for in the new one', async () => {
    const { i18n, arrive, shown } = await english();
    const group = i18n.withGroup();
    const changed = i18n.use('ru');
    await arrive('ru first');
    await arrive('ru group');
    await changed;
    await arrive('en group');
    await group;
    expect(shown()).toEqual(['ru first', 'ru group', '']);
  });
});
