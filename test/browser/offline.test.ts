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
/** What the browser stores, by the name of the store: paths, and texts of the lists. */
const kept = () =>
  page.evaluate<Record<string, string[]>>(`(async () => {
    const said = async (name) => {
      const cache = await caches.open(name);
      const paths = (await cache.keys()).map(({ url }) => new URL(url).pathname);
      if (name === 'tocsin.shell') return paths;
      return Promise.all(paths.map(async (path) => (await cache.match(path)).text()));
    };
    return Object.fromEntries(await Promise.all((await caches.keys()).map(async (name) => [name, await said(name)])));
  })()`);
/** Waits until the page and a list with this name are kept. */
const isKept = (name: string) =>
  until('the page and the list are kept', async () => {
    const { 'tocsin.shell': shell = [], 'tocsin.lists': lists = [] } = await kept();
    return (shell.includes('/') && lists.some((list) => list.includes(name))) || undefined;
  });

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
  await isKept('LineGone');
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

test('does so while the service is down, and reads all of it again, the session too, once it is back', async () => {
  await page.reload();
  await rowOf('LineGone').waitFor();
  await isKept('LineGone');
  await tocsin.stop();
  await page.reload();
  await rowOf('LineGone').waitFor();
  await page.getByText('nothing is sent until it does').waitFor();
  const session = page.waitForResponse((answer) => answer.url().endsWith('/sessions/current') && answer.ok());
  ready = await tocsin.start();
  await page.getByText('nothing is sent until it does').waitFor({ state: 'detached', timeout: 30_000 });
  await session;
});

test('the wall is left to the browser, which loads it again when the line is back', async () => {
  await isKept('LineGone');
  await profile.setOffline(true);
  await expect(page.goto(`${ready.app_url}/wall`)).rejects.toThrow('ERR_INTERNET_DISCONNECTED');
  await profile.setOffline(false);
});

test('a sign-out leaves no answer of the service in the browser', async () => {
  await page.goto(`${ready.app_url}/alert-groups`);
  await isKept('LineGone');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: /^Menu of/ }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await until('the list is gone', async () => (await kept())['tocsin.lists'] === undefined || undefined);
  await profile.setOffline(true);
  await page.goto(`${ready.app_url}/alert-groups`);
  await page.getByText('Tocsin does not answer').first().waitFor();
  expect(await rowOf('LineGone').count()).toBe(0);
});
