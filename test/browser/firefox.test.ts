/** What a responder does at night, in Debian's Firefox: a second engine, driven by WebDriver BiDi. */
import { type Browser, type ElementHandle, launch, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../harness/api.ts';
import { axeSource } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

/** On a busy machine the browser alone takes a quarter of a minute to start. */
const PATIENCE_MS = 60_000;

let tocsin: Installation;
let ready: Ready;
let api: Api;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  tocsin = new Installation();
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  browser = await launch({
    browser: 'firefox',
    executablePath: '/usr/bin/firefox-esr',
    protocolTimeout: 2 * PATIENCE_MS,
    timeout: 2 * PATIENCE_MS,
    extraPrefsFirefox: { 'intl.accept_languages': 'en-GB', 'ui.prefersReducedMotion': 1 },
  });
  page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.setViewport({ width: 360, height: 740 });
}, 4 * PATIENCE_MS);

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

/** By what a screen reader says of it. */
async function said(role: string, name: string): Promise<ElementHandle> {
  const found = await page.waitForSelector(`::-p-aria([name="${name}"][role="${role}"])`);
  if (found === null) throw new Error(`there is no ${role} ${name}`);
  return found;
}

const press = async (role: string, name: string) => (await said(role, name)).click();

async function shows(pattern: RegExp): Promise<void> {
  await page.waitForFunction(
    `${pattern}.test(document.querySelector('h1')?.closest('main')?.innerText ?? document.body.innerText)`,
  );
}

const findings = async (): Promise<string[]> => {
  await page.evaluate(axeSource);
  return (await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' '))))`)) as string[];
};

async function isFitAndAccessible(): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(await findings()).toEqual([]);
}

test(
  'a group arrives live in Firefox, is read, acknowledged, noted on and snoozed, on a small screen',
  async () => {
    await page.goto(`${ready.app_url}/alert-groups`);
    await (await said('textbox', 'Login')).type(ready.login);
    await page.type('input[type="password"]', ready.password ?? '');
    await page.keyboard.press('Enter');
    await page.waitForFunction('document.querySelector("h1")?.textContent.includes("Alert Groups")');

    const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
    const labels = { alertname: 'CheckoutDown', cluster: 'eu-1', severity: 'critical' };
    const annotations = { summary: 'Checkout answers 5xx' };
    expect(await sender.post({ groupKey: 'firefox', alerts: [{ labels, annotations }] })).toBe(202);
    await page.waitForSelector('[data-group] a');
    await isFitAndAccessible();

    await page.locator('[data-group] a').click();
    await page.waitForFunction('/CheckoutDown/.test(document.querySelector("h1")?.textContent)');
    await press('button', 'Acknowledge');
    const [{ id }] = (await api.get('/alert-groups')).items;
    await shows(/Acknowledged/);
    expect(await api.get(`/alert-groups/${id}`)).toMatchObject({ status: 'acknowledged' });

    await page.type('#note-field', 'rolled back');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await shows(/rolled back/);
    expect((await api.get(`/alert-groups/${id}/notes`)).items).toMatchObject([{ body: 'rolled back' }]);
    await isFitAndAccessible();

    await press('button', 'Snooze');
    await (await page.waitForSelector('dialog[open] ::-p-text(For 1 hr)'))?.click();
    await (await page.waitForSelector('dialog[open] ::-p-aria([name="Snooze"][role="button"])'))?.click();
    await shows(/Snoozed until/);
    expect(await api.get(`/alert-groups/${id}`)).toMatchObject({ status: 'snoozed' });
  },
  4 * PATIENCE_MS,
);
