/** Every page of an installation in which everything has happened once, in four looks and zoomed in. In real Chromium. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPage, PAGES } from '../../ui/src/app/pages.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { followReads } from '../harness/accessible.ts';
import type { Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { everyPath } from '../harness/every-path.ts';
import { groupOf, type Seeded, seed } from '../harness/seeded.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');
/** For the page, a screen of 1440 × 900 at a zoom of 200 %, and the narrowest that has the navigation beside it. */
const ZOOMED = [
  { width: 720, height: 450 },
  { width: 900, height: 563 },
];
const NARROWEST = { width: 360, height: 800 };

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let bridge: ReferenceBridge;
let seeded: Seeded;
let checkout: Json;
let paths: readonly string[];

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser, bridge] = await Promise.all([tocsin.start(), launchChromium(), startReferenceBridge()]);
  seeded = await seed(ready);
  checkout = await groupOf(seeded.api, 'CheckoutErrorRate');
  const one = await everyPath(seeded.api, bridge, ready);
  const further = await furtherPaths();
  const isShown = (pattern: string) => further.some((where) => patternOf(where) === pattern);
  paths = [...further, ...one.filter((where) => !isShown(patternOf(where) ?? ''))];
});

afterAll(async () => {
  await browser.close();
  await seeded.close();
  await tocsin.remove();
  await bridge.close();
});

const patternOf = (where: string) => findPage(new URL(where, 'http://x').pathname)?.entry.pattern;

/** Tabs, and objects in the states that look different. */
async function furtherPaths(): Promise<readonly string[]> {
  const { api } = seeded;
  const integration = `/integrations/${ready.integration_id}`;
  const ids = async (list: string) => (await api.get(list)).items.map(({ id }: Json) => id as string);
  const destinations = await ids('/destinations');
  return [
    ...['/alert-groups', '/alert-groups?tab=all', '/alert-groups?fold=severity'],
    `/alert-groups/${checkout.id}`,
    `/alert-groups/${(await groupOf(api, 'QuotaNearlyUsed')).id}`,
    `/alert-groups/${(await groupOf(api, 'PodRestarting')).id}`,
    ...['/statistics?period=30d', integration],
    ...['alerts', 'sender-routes', 'snapshots', 'tokens'].map((tab) => `${integration}?tab=${tab}`),
    ...(await ids('/routes')).map((id: string) => `/routes/${id}`),
    ...['/connections/new?type=bridge', '/destinations/new?type=webhook'],
    ...destinations.map((id: string) => `/destinations/${id}`),
    ...['general', 'severity-levels', 'alert-handling', 'retention', 'network', 'security'].map(
      (tab) => `/admin/organization/${tab}`,
    ),
    ...['/admin/organization/outgoing-heartbeat', '/nowhere', '/machines/alert_group?try=1'],
    `/machines/alert_group/${checkout.id}`,
  ];
}

const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');

/** Short words in sight that are broken over two lines. Of what is longer than a line, such as an address, none is one. */
const BROKEN_WORDS = `(() => {
  const found = [];
  const range = document.createRange();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const { parentElement: parent, data } = node;
    if (!parent.checkVisibility({ visibilityProperty: true }) || parent.offsetWidth <= 1) continue;
    for (const { 0: text, index } of data.matchAll(/\\S{2,24}(?!\\S)/g)) {
      if (/\\S/.test(data[index - 1] ?? ' ')) continue;
      for (const { 0: word, index: at } of text.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
        range.setStart(node, index + at);
        range.setEnd(node, index + at + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) found.push(word);
      }
    }
  }
  return found;
})()`;

test('every kind of page is among those that are looked at', () => {
  const looked = new Set(paths.map(patternOf));
  expect(PAGES.filter(({ pattern }) => !looked.has(pattern))).toEqual([]);
});

const LOOKS = {
  'en-GB': [
    { width: 1440, height: 900, scheme: 'dark' },
    { width: 2560, height: 1440, scheme: 'light' },
  ],
  'ru-RU': [
    { width: 360, height: 740, scheme: 'dark' },
    { width: 768, height: 1024, scheme: 'light' },
  ],
} as const;

test.each(['en-GB', 'ru-RU'] as const)(
  'every page opens without an error, is accessible and fits in two looks and zoomed in: %s',
  { timeout: 900_000 },
  async (locale) => {
    const page = await (await newProfile(browser, { locale })).newPage();
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (message) => {
      // The browser logs refused requests by itself.
      if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
        faults.push(message.text());
    });
    const allRead = followReads(page);
    const look = async (where: string) => {
      await page.goto(ready.app_url + where);
      for (const { width, height, scheme } of LOOKS[locale]) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: scheme });
        await page.locator('h1').first().waitFor({ state: 'attached' });
        await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
        await allRead();
        const found = (await accessibilityFindings(page)).map(({ id, targets }) => `${id}: ${targets}`);
        if ((await overflow(page)) > 0) found.push(`scrolls sideways by ${await overflow(page)} px`);
        const name = `${locale}-${width}-${scheme}`;
        await page.screenshot({ path: path.join(shots, `page${where.replaceAll(/\W+/g, '-')}-${name}.png`) });
        faults.push(...found.map((each) => `${where} ${name}: ${each}`));
      }
      for (const size of [...ZOOMED, NARROWEST]) {
        await page.setViewportSize(size);
        await allRead();
        const over = await overflow(page);
        if (over > 0) faults.push(`${where} ${locale}, ${size.width} px: scrolls sideways by ${over} px`);
        const broken = await page.evaluate<string[]>(BROKEN_WORDS);
        if (broken.length > 0)
          faults.push(`${where} ${locale}, ${size.width} px: breaks the words ${broken.join(', ')}`);
      }
    };
    await look('/sign-in');
    await signIn(page, ready);
    for (const where of paths) await look(where);
    expect(faults).toEqual([]);
  },
);

test('a large text on a small screen scrolls in one direction only', async () => {
  const page = await (await newProfile(browser, { width: 360, height: 740 })).newPage();
  const allRead = followReads(page);
  await signIn(page, ready);
  const routes = (await seeded.api.get('/routes')).items;
  const most = ['/alert-groups', `/alert-groups/${checkout.id}`, `/routes/${routes[0].id}`];
  for (const where of [...most, `/integrations/${ready.integration_id}`, '/admin/system-status']) {
    await page.goto(ready.app_url + where);
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await allRead();
    await page.evaluate('document.documentElement.style.fontSize = "200%"');
    expect(await overflow(page), where).toBeLessThanOrEqual(0);
  }
});
