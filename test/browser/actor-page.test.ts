/** The page of one actor in real Chromium: what it waits for, who runs it, and its last messages step by step. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
let desk: Page;
let group: Json;

const actor = () => api.get(`/actors/alert_group/${group.id}`);
const fact = (name: string) => desk.locator('.page > .facts div', { hasText: name }).getByRole('definition');
const history = () => desk.locator('#history');

/** An Alert Group of two Alerts, of which one is over. */
async function makeGroup(): Promise<void> {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  const post = (second: 'firing' | 'resolved') =>
    sender.post({
      groupKey: '{}:{alertname="Looked at"}',
      status: 'firing',
      alerts: [
        { labels: { alertname: 'Looked at', instance: 'a' }, annotations: { summary: 'VerySecretText' } },
        { labels: { alertname: 'Looked at', instance: 'b' }, status: second },
      ],
    });
  expect(await post('firing')).toBe(202);
  group = await until('the group', async () => (await api.get('/alert-groups?q=Looked at')).items[0]);
  await until(
    'both Alerts',
    async () => (await api.get(`/alert-groups/${group.id}`)).firing_alert_count === 2,
  );
  expect(await post('resolved')).toBe(202);
  await until('the end of one', async () =>
    (await actor()).messages.some(({ events }: Json) => events.includes('alerts_resolve')),
  );
}

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  api = await Api.signIn(ready);
  await makeGroup();
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const open = () => desk.goto(`${ready.app_url}/machines/alert_group/${group.id}`);

test('a step shows the transition that was taken and its guard, what it led to, its commit and the replica', async () => {
  const { messages } = await actor();
  const ended = messages.find(({ events }: Json) => events.includes('alerts_resolve'));
  expect(ended.transitions).toEqual([
    { from: 'firing', to: null, event: 'alerts_resolve', guard: 'othersFire', actions: ['record'] },
  ]);
  expect(ended.effects).toContainEqual({ kind: 'record', type: 'timeline.added', to: null, count: 1 });
  expect(Date.parse(ended.committed_at)).toBeGreaterThanOrEqual(Date.parse(ended.at));
  expect(JSON.stringify(messages)).not.toContain('VerySecret');

  await open();
  const slider = history().getByRole('slider');
  await slider.waitFor();
  const row = history().getByRole('row', { name: 'alerts_resolve' });
  for (let step = messages.length; step > 0 && (await row.count()) === 0; step--)
    await slider.press('ArrowLeft');
  expect(await row.getByRole('cell').allTextContents()).toEqual(
    expect.arrayContaining(['alerts_resolve', 'othersFire', 'stays', 'record']),
  );
  // The header and the transition; what its guard would have led to otherwise is not there.
  expect(await history().getByRole('row').count()).toBe(2);
  const detail = (name: string) => history().locator('dl div', { hasText: name }).getByRole('definition');
  expect(await detail('Stored with it').textContent()).toContain('timeline.added');
  expect(await detail('Committed').locator('time').getAttribute('datetime')).toBe(ended.committed_at);
  expect(await detail('Committed').textContent()).toMatch(/\(\d+ ms after its turn\)/);
  const [{ id: replica }] = (await api.get('/system-status')).coordination.replicas;
  expect(await detail('replica').textContent()).toBe(replica);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'actor-step.png'), fullPage: true });
});

test('a turn that is not committed yet is told from the others', async () => {
  await desk.route('**/api/v1/actors/**', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    body.messages[0].committed_at = null;
    await route.fulfill({ response, json: body });
  });
  await open();
  await history().getByText('not yet', { exact: true }).waitFor();
  await history().getByRole('slider').press('ArrowLeft');
  await history().getByText('ms after its turn').waitFor();
  await desk.unroute('**/api/v1/actors/**');
});

test('its next wake-up and its replica are shown', async () => {
  await api.post(`/alert-groups/${group.id}/snooze`, {
    until: new Date(Date.now() + 3 * 3_600_000).toISOString(),
  });
  const { wake_at, replica, shard } = await until('a wake-up', async () => {
    const read = await actor();
    return read.wake_at !== null && read;
  });
  await open();
  await fact('Acts by itself next').locator(`time[datetime="${wake_at}"]`).waitFor();
  const { replicas } = (await api.get('/system-status')).coordination;
  expect(replicas.map(({ id }: Json) => id)).toEqual([replica]);
  expect(await fact('In the care of replica').textContent()).toBe(replica);
  expect(await fact('Shard').textContent()).toBe(String(shard));
  expect(await fact('Waits in its inbox').textContent()).toBe('0');
  expect(await fact('Waits in memory').textContent()).toBe('0');
  expect(await desk.locator('#inbox').count()).toBe(0);
});

test('what waits in its inbox is counted, and the oldest of it listed', async () => {
  const since = (index: number) => new Date(Date.UTC(2026, 2, 9, 14, 0, index)).toISOString();
  await desk.route('**/api/v1/actors/**', async (route) => {
    const response = await route.fetch();
    const inbox = Array.from({ length: 20 }, (_, index) => ({
      type: `message-${index}`,
      since: since(index),
    }));
    const waiting = { waiting: 1_000, waiting_in_memory: 2_345 };
    await route.fulfill({ response, json: { ...(await response.json()), ...waiting, inbox } });
  });
  await open();
  const inbox = desk.locator('#inbox');
  await inbox.getByRole('heading', { name: /^Waits in its inbox\s*1000$/ }).waitFor();
  const rows = inbox.locator('tbody tr');
  expect(await rows.count()).toBe(20);
  expect(await rows.first().getByRole('cell').first().textContent()).toBe('message-0');
  expect(await rows.last().locator('time').getAttribute('datetime')).toBe(since(19));
  await inbox.getByText('The oldest 20 are listed.').waitFor();
  expect(await fact('Waits in its inbox').textContent()).toBe('1,000');
  expect(await fact('Waits in memory').textContent()).toBe('2,345');
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.unroute('**/api/v1/actors/**');
});
