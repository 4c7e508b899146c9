/** The page of one Alert Group, for somebody who was just woken, in real Chromium. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { signUp } from '../harness/seeded.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let sender: Sender;
let api: Api;
let desk: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  api = await Api.signIn(ready);
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const HERE = { namespace: 'shop', cluster: 'eu', severity: 'critical' };
const NOTES = {
  summary: 'Checkout answers one request in five with an error',
  description: 'The payment provider times out. See the dashboard for the share of each provider.',
  runbook_url: 'https://wiki.example/runbooks/checkout',
  dashboard_url: 'https://grafana.example/d/checkout',
};

/** Raises one Alert and waits for its newest Alert Group. */
async function raise(
  alertname: string,
  labels: Record<string, string> = {},
  startsAt = new Date().toISOString(),
): Promise<Json> {
  const alerts = [{ labels: { alertname, ...labels }, annotations: NOTES, startsAt }];
  expect(await sender.post({ groupKey: alertname, alerts })).toBe(202);
  return until(
    `the Alert Group ${alertname}`,
    async () => (await api.get(`/alert-groups?q=${alertname}`)).items[0],
  );
}

/** A group of the key that was there before: acknowledged, explained and over. */
async function endedBefore(alertname: string, note: string): Promise<Json> {
  const startsAt = new Date(Date.now() - 60_000).toISOString();
  const group = await raise(alertname, HERE, startsAt);
  await api.post(`/alert-groups/${group.id}/acknowledge`, {});
  await api.post(`/alert-groups/${group.id}/resolve`, { note });
  const resolved = [{ status: 'resolved' as const, labels: { alertname, ...HERE }, startsAt }];
  expect(await sender.post({ groupKey: alertname, alerts: resolved })).toBe(202);
  await until('its Alert to resolve', async () => {
    const { firing_alert_count: firing } = await api.get(`/alert-groups/${group.id}`);
    return firing === 0;
  });
  return group;
}

const open = async (page: Page, group: Json) => {
  await page.goto(`${ready.app_url}/alert-groups/${group.id}`);
  await page.getByRole('heading', { level: 1, name: group.title }).waitFor();
};

test('says what else fires nearby, and how it went before with the same key', async () => {
  const before = await endedBefore('CheckoutErrors', 'Restarted the gateway, it took ten minutes.');
  const beside = await raise('GatewaySaturated', { ...HERE, severity: 'warning' });
  const group = await raise('CheckoutErrors', HERE);
  expect(group.id).not.toBe(before.id);
  await open(desk, group);
  const nearby = desk.getByRole('region', { name: 'What else fires' });
  await nearby.getByText('cluster').waitFor();
  const previous = desk.getByRole('region', { name: 'Previous Alert Groups with this key' });
  const { past } = await api.get(`/alert-groups/${group.id}/context`);
  const lasted = Math.floor(past.median_duration_seconds);
  const said = lasted < 60 ? `${lasted} secs?` : `${Math.floor(lasted / 60)} mins?`;
  await previous
    .getByText(new RegExp(`^1 time in the 30 days before this one · usually over after ${said}`))
    .waitFor();
  await previous.getByText(/First acknowledged by\s+admin ×1/).waitFor();
  await previous.getByText('Restarted the gateway, it took ten minutes.').waitFor();
  await api.post(`/alert-groups/${beside.id}/acknowledge`, {});
  const later = await raise('PaymentsSlow', HERE);
  await nearby.getByRole('link', { name: `#${later.number} PaymentsSlow` }).waitFor();
  await nearby.getByRole('link', { name: /GatewaySaturated/ }).click();
  await desk.getByRole('heading', { level: 1, name: 'GatewaySaturated' }).waitFor();
});

test('the runbook is first, and a label leads to the groups that have it', async () => {
  const group = (await api.get('/alert-groups?q=CheckoutErrors')).items[0];
  await open(desk, group);
  const links = desk.getByRole('navigation', { name: 'Links' }).getByRole('link');
  expect((await links.allTextContents()).map((text) => text.trim())).toEqual([
    'Runbook',
    'Dashboard',
    'Source',
  ]);
  const labels = desk.getByRole('table', { name: 'Labels of all Alerts' });
  await labels.getByRole('rowheader', { name: 'alertname Group key' }).waitFor();
  await desk.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await labels.getByRole('button', { name: 'Copy namespace as a matcher' }).click();
  await desk.getByText('Copied').waitFor();
  expect(await desk.evaluate('navigator.clipboard.readText()')).toBe('namespace="shop"');
  const [left, right] = await Promise.all(
    ['What else fires', 'Timeline'].map((name) => desk.getByRole('region', { name }).boundingBox()),
  );
  expect(left!.x + left!.width).toBeLessThan(right!.x);
  await labels.getByRole('link', { name: 'Show Alert Groups with this namespace' }).click();
  await desk.getByText('namespace="shop"').first().waitFor();
  expect(new URL(desk.url()).searchParams.getAll('label')).toEqual(['namespace="shop"']);
});

test('Commands stay in reach of the thumb on a phone', async () => {
  const page = await (await newProfile(browser, { width: 390, height: 844 })).newPage();
  await signIn(page, ready);
  await open(page, (await api.get('/alert-groups?q=CheckoutErrors')).items[0]);
  await page.getByRole('region', { name: 'Previous Alert Groups with this key' }).scrollIntoViewIfNeeded();
  const button = page.getByRole('button', { name: 'Acknowledge' });
  const box = await button.boundingBox();
  expect(box!.y + box!.height).toBeGreaterThan(844 - 80);
  expect(box!.y + box!.height).toBeLessThanOrEqual(844);
});

test('says what changed since the last look, marks it, and leads to the first of it', async () => {
  const startsAt = new Date().toISOString();
  const group = await raise('QueueGrows', HERE, startsAt);
  await open(desk, group);
  const timeline = desk.getByRole('region', { name: 'Timeline' });
  await timeline.getByText('Created with 1 Alert').waitFor();
  expect(await desk.getByText('Since you last looked:').count()).toBe(0);

  await desk.goto(`${ready.app_url}/profile`);
  const reader = await signUp(api, ready, 'ada', 'Ada');
  await reader.post(`/alert-groups/${group.id}/acknowledge`, {});
  await reader.post(`/alert-groups/${group.id}/notes`, { body: 'The consumers were restarted.' });
  await api.post(`/alert-groups/${group.id}/notes`, { body: 'A Note of the reader.' });
  const alerts = [{}, { queue: 'mail' }, { queue: 'invoices' }].map((queue) => ({
    labels: { alertname: 'QueueGrows', ...HERE, ...queue },
    annotations: NOTES,
    startsAt,
  }));
  expect(await sender.post({ groupKey: 'QueueGrows', alerts })).toBe(202);
  await until('the two Alerts', async () => {
    const { items } = await api.get(`/alert-groups/${group.id}/timeline`);
    return items.some(({ event }: Json) => event === 'alerts_added');
  });

  // What the address leaves out of the Timeline is told all the same.
  await desk.goto(`${ready.app_url}/alert-groups/${group.id}?kind=timers`);
  const notice = desk.getByRole('status').filter({ hasText: 'Since you last looked:' });
  await notice.getByText('now Acknowledged').waitFor();
  const told = await notice.innerText();
  for (const words of ['2 new Alerts', 'Owner: Ada', '1 Note (Ada)']) expect(told).toContain(words);
  await notice.getByRole('button', { name: 'Show the first change' }).click();
  await until('the first change to have the focus', async () =>
    (
      await desk.evaluate<string>('document.activeElement.closest("#timeline li")?.textContent ?? ""')
    ).includes('Acknowledged'),
  );
  expect(await timeline.getByText('new', { exact: true }).count()).toBe(3);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'alert-group-changes.png') });

  // Seen is seen, and who signs out leaves nothing behind.
  await desk.reload();
  await timeline.getByText('Created with 1 Alert').waitFor();
  expect(await desk.getByText('Since you last looked:').count()).toBe(0);
  const kept = () => desk.evaluate<string | null>("localStorage.getItem('tocsin.looks')");
  expect(await kept()).toContain(group.id);
  await desk.getByRole('button', { name: 'Menu of admin' }).click();
  await desk.getByRole('button', { name: 'Sign out' }).click();
  await desk.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(await kept()).toBeNull();
  await signIn(desk, ready);
});

const HOSTILE = [
  `<img src=x onerror="document.title='taken'"> <b>no tag</b>`,
  '[nowhere](javascript:alert(1)) ![no image](https://img.example/x.png)',
  '\u202eturned \u2066around',
  `${'> '.repeat(40)}deep`,
  '**a _b '.repeat(60),
].join('\n\n');

test('a Note is shown with its Markdown, and is never HTML', async () => {
  const group = await raise('NoteForms', HERE);
  await open(desk, group);
  const body = [
    'Restarted **gateway-1** with `kubectl rollout restart`:',
    '1. drain\n2. restart\n   - *slowly*',
    '> it took [ten minutes](https://wiki.example/ten_minutes)',
    '```\nerr  = 0\n```',
    'Ask [us](mailto:ops@example.org).',
  ].join('\n\n');
  const notes = desk.getByRole('region', { name: 'Notes' });
  await notes.getByText(/\*\*bold\*\* \*italic\*/).waitFor();
  const sent: string[] = [];
  desk.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/notes')) sent.push(request.url());
  });
  const field = notes.getByLabel('Add a Note');
  // What the button does not send, its key does not send either.
  await field.fill(' \n');
  await field.press('Control+Enter');
  await field.fill(body);
  await field.press('Control+Enter');
  await desk.getByText('Note added').first().waitFor();
  expect(sent).toHaveLength(1);
  for (const region of [notes, desk.getByRole('region', { name: 'Timeline' })]) {
    await region.locator('strong', { hasText: 'gateway-1' }).waitFor();
    const link = region.getByRole('link', { name: 'ten minutes' });
    expect(await link.getAttribute('href')).toBe('https://wiki.example/ten_minutes');
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    await region.locator('blockquote', { hasText: 'it took' }).waitFor();
    await region.locator('ol ul em', { hasText: 'slowly' }).waitFor();
    expect(await region.locator('pre').innerText()).toBe('err  = 0');
  }
  const [stored] = (await api.get(`/alert-groups/${group.id}/notes`)).items;
  expect(stored.body).toBe(body);
  await desk.screenshot({ path: path.join(shots, 'alert-group-notes.png'), fullPage: true });

  for (const text of [HOSTILE, 'x'.repeat(4_000), '[](**`'.repeat(600)])
    await api.post(`/alert-groups/${group.id}/notes`, { body: text });
  await notes.getByText('xxxxxxxxxx').waitFor();
  await notes.getByText('<b>no tag</b>').waitFor();
  expect(await desk.locator('article img, article b').count()).toBe(0);
  expect(await desk.getByRole('link', { name: 'nowhere' }).count()).toBe(0);
  for (const width of [360, 1440]) {
    await desk.setViewportSize({ width, height: 844 });
    const overflow = await desk.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    await desk.screenshot({ path: path.join(shots, `alert-group-notes-${width}.png`), fullPage: true });
  }
  expect(await accessibilityFindings(desk)).toEqual([]);
});

test.each([
  ['phone, light, ru', { width: 390, height: 844, locale: 'ru-RU' }],
  ['phone, dark', { width: 390, height: 844, dark: true }],
  ['desk, light', { width: 1440, height: 900 }],
  ['desk, dark, ru', { width: 1440, height: 900, dark: true, locale: 'ru-RU' }],
])('is accessible and fits: %s', async (name, profile) => {
  const page = await (await newProfile(browser, profile)).newPage();
  await signIn(page, ready);
  await open(page, (await api.get('/alert-groups?q=CheckoutErrors')).items[0]);
  await page.getByText('Restarted the gateway').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
  const file = `alert-group-${name.replaceAll(', ', '-')}`;
  await page.screenshot({ path: path.join(shots, `${file}.png`) });
  await page.screenshot({ path: path.join(shots, `${file}-whole.png`), fullPage: true });
});
