/** Marks in alerts that turn the direction of text turn nothing but themselves; text from right to left reads as written. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const TITLE = '\u202EDisk\u2066Full';
const SUMMARY = '\u202Eevil: שלום עולם';

let tocsin: Installation;
let browser: Browser;
let page: Page;
let group: Json;

beforeAll(async () => {
  tocsin = new Installation();
  const [ready, chromium] = await Promise.all([tocsin.start(), launchChromium()]);
  browser = chromium;
  const api = await Api.signIn(ready);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  const labels = { alertname: TITLE, instance: `${TITLE}-1`, severity: 'warning' };
  expect(
    await sender.post({ groupKey: 'marks', alerts: [{ labels, annotations: { summary: SUMMARY } }] }),
  ).toBe(202);
  group = await until('the Alert Group', async () => (await api.get('/alert-groups')).items[0]);
  await api.change(`/integrations/${ready.integration_id}`, (integration) => ({
    ...integration,
    name: TITLE,
  }));
  await api.change(`/routes/${group.route.id}`, (route) => ({ ...route, name: TITLE }));
  await api.post(`/alert-groups/${group.id}/notes`, { body: SUMMARY });
  page = await (await newProfile(browser)).newPage();
  await signIn(page, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

interface Shown {
  readonly text: string;
  /** Everything in the element at which the turning ends. */
  readonly around: string;
  /** The element that shows it stands in a line and lets the turning out, whether or not other text is there now. */
  readonly isLetOut: boolean;
}

/** Every text of the page with a turning mark, and what such a mark can reach. */
const TURNING_TEXTS = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const isOpen = (element) => {
    const { display, unicodeBidi } = getComputedStyle(element);
    return display === 'inline' && unicodeBidi === 'normal';
  };
  const found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent;
    if (!/[\\u202A-\\u202E\\u2066-\\u2069]/.test(text)) continue;
    let element = walker.currentNode.parentElement;
    const isLetOut = isOpen(element);
    while (isOpen(element)) element = element.parentElement;
    found.push({ text: text.trim(), around: element.textContent.trim(), isLetOut });
  }
  return found;
})()`;

const turningTexts = (): Promise<Shown[]> => page.evaluate(TURNING_TEXTS);

test.each([
  ['the list of Alert Groups', () => '/alert-groups'],
  ['the page of an Alert Group', (): string => `/alert-groups/${group.id}`],
  ['the Audit log', () => '/admin/audit-log'],
])('on %s', async (_, where: () => string) => {
  await page.goto(tocsin.first.app_url + where());
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
  await until('the title', async () => (await turningTexts()).some(({ text }) => text.endsWith(TITLE)));
  const shown = await turningTexts();
  expect(shown.filter(({ text, around, isLetOut }) => text !== around || isLetOut)).toEqual([]);
});

test('text from right to left reads as written', async () => {
  await page.goto(`${tocsin.first.app_url}/alert-groups/${group.id}`);
  await page.getByText('שלום עולם').first().waitFor();
});
