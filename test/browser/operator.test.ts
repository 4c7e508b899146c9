/** What an operator is shown of trouble that Tocsin has or was caused: in real Chromium, the whole service behind it. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let api: Api;
let sender: Sender;
let receiver: WebhookReceiver;
let desk: Page;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, receiver, browser] = await Promise.all([tocsin.start(), startWebhookReceiver(), launchChromium()]);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  api = await Api.signIn(ready);
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await receiver.close();
});

const open = (page: Page, where: string) => page.goto(ready.app_url + where);

async function raise(alertname: string): Promise<void> {
  expect(await sender.post({ groupKey: alertname, alerts: [{ labels: { alertname } }] })).toBe(202);
}

/** The page in both themes on a desk, and on a phone, in either language. */
async function photograph(where: string, name: string, seen: RegExp): Promise<void> {
  const looks = [
    { look: 'dark', dark: true },
    { look: 'phone', width: 360, height: 780, locale: 'ru-RU' },
  ];
  await desk.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
  for (const { look, ...options } of looks) {
    const profile = await newProfile(browser, options);
    const page = await profile.newPage();
    await signIn(page, ready);
    await open(page, where);
    await page.getByText(seen).first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      options.width ?? 1440,
    );
    await page.screenshot({ path: path.join(shots, `${name}-${look}.png`), fullPage: true });
    await profile.close();
  }
}

test('a Destination that only fails is never shown as well: not in lists, not after a restart, until it works', async () => {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const { destination, signing_secret } = await api.post('/destinations', {
    ...{ type: 'webhook', name: 'pager', mode: 'events', events: { url: receiver.url, headers: [] } },
  });
  receiver.trust(signing_secret);
  receiver.answerAll(() => ({ status: 503 }));
  const routes = await api.get('/routes');
  const fallback = routes.items.find((route: Json) => route.is_default);
  await api.change(`/routes/${fallback.id}`, (route) => ({ ...route, destination_ids: [destination.id] }));
  await open(desk, `/destinations/${destination.id}`);
  await desk.getByText('Healthy').waitFor();
  await raise('Unheard');
  await desk.getByText('Every delivery has failed for').waitFor();
  await desk
    .getByText(/answered 503/)
    .first()
    .waitFor();
  await desk.getByText('1 delivery waits').waitFor();
  await desk.getByText('Check that the receiver is up').waitFor();
  expect(await desk.getByText('Healthy').count()).toBe(0);
  expect(await accessibilityFindings(desk)).toEqual([]);
  const { failing } = await api.get(`/destinations/${destination.id}`);
  // As the Request log is written, a moment later.
  const counted = async () =>
    (await api.get('/delivery-hours')).items.find((item: Json) => item.destination.id === destination.id);
  await until('the failures are counted', async () => (await counted()).failed > 0);
  await open(desk, `/destinations/${destination.id}`);
  await desk.getByText(/^0 delivered, [1-9]\d* failed in 24 h$/).waitFor();

  await tocsin.stop();
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  expect((await api.get(`/destinations/${destination.id}`)).failing.since).toBe(failing.since);
  await open(desk, '/admin/system-status');
  await desk.getByRole('link', { name: 'Every delivery to 1 Destination fails' }).waitFor();
  await desk.getByText(/1 delivery waits · .*answered 503/).waitFor();
  expect(await desk.getByText('Everything works').count()).toBe(0);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await photograph(`/destinations/${destination.id}`, 'failing-destination', /answered 503/);
  await open(desk, '/destinations');
  const listed = desk.getByRole('row').filter({ hasText: 'pager' });
  await listed.getByText('Failing for').waitFor();
  await listed.getByText('1 delivery waits').waitFor();
  await listed.getByText(/answered 503/).waitFor();

  receiver.answerAll(null);
  await until('the first success', async () => {
    const { failing: now } = await api.get(`/destinations/${destination.id}`);
    return now === null || undefined;
  });
  await desk.getByText('Healthy').waitFor();

  await until('the delivery is counted', async () => (await counted()).delivered > 0);
  for (const where of [`/destinations/${destination.id}`, '/destinations', '/admin/system-status']) {
    await open(desk, where);
    await desk.getByText(/^[1-9]\d* delivered, [1-9]\d* failed in 24 h$/).waitFor();
    expect(await desk.locator('.deliveries svg path').count()).toBe(2);
    expect(await accessibilityFindings(desk)).toEqual([]);
    await desk.screenshot({
      path: path.join(shots, `deliveries-${where.split('/')[1]}-${where.length}.png`),
      fullPage: true,
    });
  }
});

test('a preview of a Route names the earlier Route that takes an Alert, and its Matchers', async () => {
  await raise('Claimed');
  const { policy } = (await api.get('/routes')).items[0];
  const route = (name: string, value: string) => ({
    ...{ name, urgent: false, group_key: ['alertname'], destination_ids: [], policy },
    matchers: [{ label: 'alertname', op: '=~', value }],
  });
  await api.post('/routes', route('Everything', 'Claim.*'));
  const { id } = await api.post('/routes', route('Wanted', 'Claimed'));
  await open(desk, `/routes/${id}`);
  await desk
    .getByText('Does not come here. An earlier Route takes it: Everything alertname=~"Claim.*"')
    .waitFor();
  await desk.getByRole('textbox', { name: 'Value' }).first().fill('Claimed|Other');
  await desk.getByText('1 Alert matches, but an earlier Route takes it: Everything').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'route-preview.png'), fullPage: true });
});

test('a body that is no Snapshot is answered 202, and the page of its Integration says what became of it', async () => {
  expect(await sender.postRaw('{"alerts": [')).toBe(202);
  expect(
    await sender.postRaw('{"groupKey": "a", "status": "firing", "alerts": [{"status": "firing"}]}'),
  ).toBe(202);
  const failures = async () =>
    (await api.get(`/integrations/${ready.integration_id}`)).warnings.find(
      ({ kind }: Json) => kind === 'snapshot_failed',
    );
  await until('both are settled', async () => (await failures())?.failed_count === 2);
  await open(desk, `/integrations/${ready.integration_id}`);
  await desk.getByText('2 bodies of the last 24 hours were no Snapshots').waitFor();
  await desk.getByText('alerts[0].labels', { exact: false }).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await photograph(`/integrations/${ready.integration_id}`, 'failed-snapshots', /alerts\[0\]/);
  await desk.getByRole('link', { name: 'Its body' }).click();
  await desk
    .getByText(/"groupKey"/)
    .first()
    .waitFor();
});

test('over plain http from another host the sign-in page says why nobody can sign in, and the log does', async () => {
  const elsewhere = await launchChromium('--host-resolver-rules=MAP oncall.test 127.0.0.1');
  const { port } = new URL(ready.app_url);
  for (const [look, options] of Object.entries({
    desk: {},
    phone: { width: 360, height: 780, locale: 'ru-RU', dark: true },
  })) {
    const page = await (await newProfile(elsewhere, options)).newPage();
    await page.goto(`http://oncall.test:${port}/sign-in`);
    await page.getByText(`http://oncall.test:${port}`).waitFor();
    await page.getByText('SVC_PUBLIC_URL').waitFor();
    await page.getByLabel(/login|логин/i).fill(ready.login);
    await page.getByLabel(/^(password|пароль)/i).fill(ready.password ?? '');
    await page.getByRole('button', { name: /sign in|войти/i }).click();
    await until('the log says it', async () =>
      tocsin.log.some((line) => line.includes('sign_in_not_https') && line.includes('http://oncall.test')),
    );
    await page.getByText('SVC_PUBLIC_URL').waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.screenshot({ path: path.join(shots, `sign-in-not-https-${look}.png`), fullPage: true });
  }
  await elsewhere.close();
  const here = await (await newProfile(browser)).newPage();
  await open(here, '/sign-in');
  expect(await here.getByText('SVC_PUBLIC_URL').count()).toBe(0);
  await signIn(here, ready);
});

test('the runbook of an alert is a page of Tocsin, in both themes and on a phone, without signing in', async () => {
  for (const [look, options] of Object.entries({
    desk: {},
    phone: { width: 360, height: 780, dark: true },
  })) {
    const page = await (await newProfile(browser, options)).newPage();
    await open(page, '/runbooks/SvcDestinationBroken');
    await page.getByRole('heading', { level: 1, name: 'SvcDestinationBroken' }).waitFor();
    await page.getByRole('heading', { level: 2, name: 'Fix' }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      page.viewportSize()!.width,
    );
    await page.screenshot({ path: path.join(shots, `runbook-${look}.png`), fullPage: true });
  }
});

test('an Alert that began hours before it was received shows both times, each by its name', async () => {
  const startsAt = new Date(Date.now() - 3 * 3_600_000).toISOString();
  expect(await sender.post({ groupKey: 'Late', alerts: [{ labels: { alertname: 'Late' }, startsAt }] })).toBe(
    202,
  );
  const startedNow = new Date().toISOString();
  expect(
    await sender.post({
      groupKey: 'Prompt',
      alerts: [{ labels: { alertname: 'Prompt' }, startsAt: startedNow }],
    }),
  ).toBe(202);
  const [late, prompt] = await until('both groups', async () => {
    const found = ['Late', 'Prompt'].map(async (name) => (await api.get(`/alert-groups?q=${name}`)).items[0]);
    const groups = await Promise.all(found);
    return groups.every(Boolean) && groups;
  });
  expect(Date.parse(late.alerts_started_at)).toBe(Date.parse(startsAt));
  await open(desk, '/alert-groups');
  const row = (group: Json) => desk.locator(`[data-group="${group.id}"]`);
  await row(late).getByText('began 3h').filter({ visible: true }).waitFor();
  await row(prompt).waitFor();
  expect(await row(prompt).getByText('began').filter({ visible: true }).count()).toBe(0);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'began-list.png') });
  await open(desk, `/alert-groups/${late.id}`);
  await desk.getByText('Alerts began').waitFor();
  await desk.getByText('Received', { exact: true }).waitFor();
  await photograph(`/alert-groups/${late.id}`, 'began-group', /Alerts began|Алерты начались/);
  await open(desk, `/alert-groups/${prompt.id}`);
  await desk.getByText('Started', { exact: true }).waitFor();
});

test('the map of shards shows which replica owns which, and an actor leads to its own', async () => {
  await raise('Sharded');
  const group = await until(
    'the Alert Group',
    async () => (await api.get('/alert-groups?q=Sharded')).items[0],
  );
  const { shard } = await api.get(`/actors/alert_group/${group.id}`);
  await open(desk, '/admin/system-status');
  await desk.getByRole('heading', { name: /^Replicas/ }).waitFor();
  expect(await desk.getByRole('figure').count()).toBe(0);
  await desk.setViewportSize({ width: 1440, height: 300 });
  await open(desk, `/machines/alert_group/${group.id}`);
  await desk.getByRole('link', { name: String(shard), exact: true }).click();
  const { coordination } = await api.get('/system-status');
  const [{ id: only }] = coordination.replicas;
  await desk.getByText(`Shard ${shard}: ${only}`).waitFor();
  await desk.waitForFunction(`document.activeElement?.textContent.startsWith('Shard ${shard}: ')`);
  const cell = desk.locator('.shard.linked');
  expect(await cell.textContent()).toBe('1');
  const { y } = (await cell.boundingBox())!;
  expect([y > 0, y < 300]).toEqual([true, true]);
  expect(await accessibilityFindings(desk)).toEqual([]);

  // Two replicas, as `leader.test.ts` of the cluster has them; the last shards are nobody's.
  await desk.route('**/api/v1/system-status', async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    body.replicas.push({ ...body.replicas[0], id: 'other', leader: false });
    Object.assign(body.coordination, {
      replicas: [
        ...body.coordination.replicas,
        { ...body.coordination.replicas[0], id: 'other', shards: 100 },
      ],
      shards: {
        ...{ total: 256, without_owner: 6, taken_last_hour: 100 },
        owners: Array.from({ length: 256 }, (_, each) => (each < 150 ? 0 : each < 250 ? 1 : null)),
        moved: Array.from({ length: 100 }, (_, index) => 150 + index),
      },
    });
    await route.fulfill({ response: answer, json: body });
  });
  await open(desk, '/admin/system-status');
  const whose = desk.getByRole('figure').getByRole('listitem');
  await whose.first().waitFor();
  expect(await whose.allTextContents()).toEqual([
    `${only}: 0–149`,
    'other: 150–249',
    'Without owner: 250–255',
  ]);
  expect(await desk.locator('.map .shard.moved').count()).toBe(100);
  expect(await accessibilityFindings(desk)).toEqual([]);
  for (const [look, width, colorScheme] of [
    ['desk', 1440, 'light'],
    ['phone', 390, 'dark'],
  ] as const) {
    await desk.setViewportSize({ width, height: 900 });
    await desk.emulateMedia({ colorScheme });
    expect(await accessibilityFindings(desk)).toEqual([]);
    expect(await desk.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    await desk.getByRole('figure').screenshot({ path: path.join(shots, `shards-${look}.png`) });
  }
  await desk.unrouteAll({ behavior: 'wait' });
});
