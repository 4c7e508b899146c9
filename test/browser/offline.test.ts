/** A start of the page without a line: what it shows, what it refuses, and what a sign-out leaves in the browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let ready: Ready;
let api: Api;
let browser: Browser;
let profile: BrowserContext;
let page: Page;

beforeAll(async () => {
  tocsin = new Installation();
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  browser = await launchChromium();
  profile = await newProfile(browser, { width: 390, height: 844, offline: true });
  page = await profile.newPage();
  await signIn(page, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const rowOf = (name: string) =>
  page
    .getByRole('row', { name: new RegExp(name) })
    .or(page.getByText(name))
    .first();
/** What the browser stores of the service, by the name of the store. */
const kept = () =>
  page.evaluate<Record<string, string[]>>(`(async () => {
    const paths = async (name) => (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname);
    return Object.fromEntries(await Promise.all((await caches.keys()).map(async (name) => [name, await paths(name)])));
  })()`);

async function raise(name: string): Promise<Json> {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  expect(await sender.post({ groupKey: name, alerts: [{ labels: { alertname: name } }] })).toBe(202);
  return until(`the group ${name}`, async () => (await api.get(`/alert-groups?q=${name}`)).items[0]);
}

test('shows the last list and its age, takes no Command, and is live again by itself', async () => {
  const group = await raise('LineGone');
  await rowOf('LineGone').waitFor();
  await page.reload();
  await rowOf('LineGone').waitFor();
  await until('the page and the list are kept', async () => {
    const { 'tocsin.shell': shell = [], 'tocsin.answers': answers = [] } = await kept();
    return shell.includes('/') && answers.includes('/api/v1/alert-groups') ? true : undefined;
  });
  await profile.setOffline(true);
  await page.reload();
  await rowOf('LineGone').waitFor();
  const bar = page.getByText('nothing is sent until it does');
  await bar.waitFor();
  expect(await page.title()).toMatch(/^\(\?\)/);
  await page
    .getByRole('button', { name: /^Commands/ })
    .first()
    .click();
  const resolve = page.getByRole('button', { name: 'Resolve', exact: true }).first();
  expect(await resolve.getAttribute('aria-disabled')).toBe('true');
  await resolve.click({ force: true });
  await page.getByText('This was not sent, and nothing was changed').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  // It is opened from the icon on a phone, too.
  await page.goto(ready.app_url);
  await rowOf('LineGone').waitFor();
  await bar.waitFor();

  await api.post(`/alert-groups/${group.id}/acknowledge`, {});
  await profile.setOffline(false);
  await bar.waitFor({ state: 'detached', timeout: 20_000 });
  await page.getByText('Acknowledged', { exact: true }).first().waitFor();
});

test('does so while the service is down, and its page is the newer one once it is back', async () => {
  await page.reload();
  await rowOf('LineGone').waitFor();
  await tocsin.stop();
  await page.reload();
  await rowOf('LineGone').waitFor();
  await page.getByText('nothing is sent until it does').waitFor();
  ready = await tocsin.start();
  await page.getByText('nothing is sent until it does').waitFor({ state: 'detached', timeout: 30_000 });
});

test('a sign-out leaves no answer of the service in the browser', async () => {
  expect((await kept())['tocsin.answers']).not.toEqual([]);
  await page.goto(`${ready.app_url}/alert-groups`);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: /^Menu of/ }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await until(
    'the answers are gone',
    async () => (await kept())['tocsin.answers'] === undefined || undefined,
  );
  await profile.setOffline(true);
  await page.goto(`${ready.app_url}/alert-groups`);
  await page.getByText('Tocsin does not answer').first().waitFor();
  expect(await rowOf('LineGone').count()).toBe(0);
});
