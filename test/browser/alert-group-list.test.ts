/** The Alert Group list at a glance, in real Chromium. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const LONG = 'x'.repeat(4_000);

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let sender: Sender;
let api: Api;

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  api = await Api.signIn(ready);
  const fallback = (await api.get('/routes')).items.find((route: Json) => route.is_default);
  await api.change(`/routes/${fallback.id}`, (route) => ({
    ...route,
    group_key: ['alertname', 'cluster', 'pod'],
  }));
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

/** Raises one Alert and waits for its Alert Group. */
async function raise(labels: Record<string, string>, summary: string): Promise<void> {
  const { total } = await counted();
  const alerts = [{ labels: { severity: 'warning', ...labels }, annotations: { summary } }];
  expect(await sender.post({ groupKey: `${total}`, alerts })).toBe(202);
  await until('the Alert Group', async () => (await counted()).total > total);
}

async function counted(): Promise<{ total: number }> {
  return { total: (await api.get('/alert-group-counts')).all };
}

async function openList(profile: Parameters<typeof newProfile>[1], where = ''): Promise<Page> {
  const page = await (await newProfile(browser, profile)).newPage();
  await signIn(page, ready);
  await page.goto(`${ready.app_url}/alert-groups${where}`);
  await rows(page).first().waitFor();
  return page;
}

const rows = (page: Page): Locator => page.locator('[data-group]');
const boxes = (page: Page): Promise<{ width: number; height: number; bottom: number }[]> =>
  rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().toJSON()));

test('on a phone eight rows are in sight, each with what tells it from the others', async () => {
  for (const pod of ['api-1', 'api-2', 'web-1', 'web-2', 'cart-1', 'cart-2'])
    await raise({ alertname: 'PodCrash', cluster: 'eu', pod }, `${pod} restarted 9 times`);
  await raise({ alertname: 'DiskFull', cluster: 'us', severity: 'critical' }, 'No room for the database');
  await raise({ alertname: 'Certificate', cluster: 'us', severity: 'info' }, 'Expires in 6 days');
  const page = await openList({ width: 390, height: 844 });
  const crash = rows(page).filter({ hasText: 'web-1' });
  for (const shown of ['PodCrash', 'web-1', 'Nobody', '1/1'])
    await crash.getByText(shown, { exact: true }).filter({ visible: true }).waitFor();
  await crash.getByText('web-1 restarted 9 times').filter({ visible: true }).waitFor();
  expect(await crash.getByText('eu', { exact: true }).count()).toBe(0);
  expect((await boxes(page)).filter(({ bottom }) => bottom <= 844)).toHaveLength(8);
  const forms = await page.evaluate<string[]>(
    `[...document.querySelectorAll('[data-group] .square')].map((mark) => getComputedStyle(mark).clipPath)`,
  );
  expect(new Set(forms).size).toBe(3);
});

test('texts of any kind change the form of no row', async () => {
  await raise({ alertname: LONG.slice(0, 3_900), cluster: LONG.slice(0, 900) }, LONG);
  await raise({ alertname: '<b>Bold</b><img src=x>', cluster: '"><script>' }, '<i>markup</i> &amp;');
  await raise({ alertname: '\u202EDisk\u2066 שלום 🔥', cluster: '\u202Eeu' }, '\u202Eevil שלום 🔥');
  for (const profile of [
    { width: 390, height: 844 },
    { width: 360, height: 780, dark: true, locale: 'ru-RU' },
    {},
    { dark: true },
  ]) {
    const page = await openList(profile, '?q=');
    await rows(page).getByText('<b>Bold</b><img src=x>').first().waitFor();
    const shown = await boxes(page);
    expect(Math.max(...shown.map(({ height }) => height))).toBeLessThanOrEqual(72);
    expect(new Set(shown.map(({ width }) => width)).size).toBe(1);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.context().close();
  }
});

test('what fires for an hour stands out until somebody has it', async () => {
  const page = await openList({ width: 390, height: 844 });
  const disk = rows(page).filter({ hasText: 'DiskFull' });
  expect(await page.getByTitle('Firing for long').count()).toBe(0);
  await page.clock.install({ time: Date.now() + 3_700_000 });
  await page.reload();
  await disk.getByTitle('Firing for long').getByText('1h').waitFor();
  await disk.getByRole('button', { name: /^Commands/ }).click();
  await disk.getByRole('button', { name: 'Acknowledge' }).click();
  await disk.getByTitle('Firing for long').waitFor({ state: 'detached' });
});

test('the search reads tokens, completes them by the keyboard, and is the same as filters and address', async () => {
  const page = await openList({});
  const search = page.getByRole('combobox', { name: /^Search/ });
  await page.keyboard.press('/');
  await page.keyboard.type('po');
  await page.getByRole('option', { name: 'pod:' }).waitFor();
  // Longer than typing waits: as a word it would match nothing, and leave nothing to complete.
  await page.waitForTimeout(600);
  expect(new URL(page.url()).search).toBe('');
  await page.keyboard.type('d:web');
  await page.getByRole('option', { name: 'pod:web-1' }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { name: 'pod:web-1', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await until('one row', async () => (await rows(page).count()) === 1);
  const parameters = () => [...new URL(page.url()).searchParams].map((each) => each.join(' '));
  expect(parameters()).toEqual(['label pod="web-1"']);
  await page.getByRole('button', { name: 'Remove: pod="web-1"' }).click();
  await until('no text', async () => (await search.inputValue()) === '');
  await search.pressSequentially('severity:critical -status:acknowledged "for the" ');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing matches').waitFor();
  expect(parameters()).toEqual(['not_status acknowledged', 'q for the', 'severity critical']);
  await page.goto(
    `${ready.app_url}/alert-groups?tab=acknowledged&severity=critical&label=cluster%21%3D%22eu%22`,
  );
  await rows(page).filter({ hasText: 'DiskFull' }).waitFor();
  expect(await search.inputValue()).toBe('status:acknowledged severity:critical -cluster:eu');
});

test('a fault in the search is shown at its place and changes nothing', async () => {
  const page = await openList({ locale: 'ru-RU' });
  const before = await rows(page).count();
  const search = page.locator('#list-search');
  await search.fill('disk severity:hot');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('severity: critical, warning или info.').waitFor();
  expect(await page.locator('mark').textContent()).toBe('severity:hot');
  const selected = '((field) => [field.selectionStart, field.selectionEnd])(document.activeElement)';
  expect(await page.evaluate(selected)).toEqual([5, 17]);
  expect(new URL(page.url()).search).toBe('');
  expect(await rows(page).count()).toBe(before);
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('showing what waited keeps the focus in its row, and gives it to the first row from the keyboard', async () => {
  const page = await openList({});
  const focused = () => page.locator('[data-group]:focus-within').getAttribute('data-group');
  await page.keyboard.press('j');
  const before = await focused();
  await raise({ alertname: 'Arrived' }, 'Pressed with the pointer');
  await page.getByRole('button', { name: '1 new' }).click();
  await rows(page).filter({ hasText: 'Arrived' }).waitFor();
  expect(await focused()).toBe(before);
  await raise({ alertname: 'Later' }, 'Pressed with the keyboard');
  await page.getByRole('button', { name: '1 new' }).press('Enter');
  await page.locator('[data-group]:focus-within').filter({ hasText: 'Later' }).waitFor();
});
