/** The messenger of the reference bridge as a person sees it, in real Chromium. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import type { Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile } from '../harness/browser.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');
const MESSAGE = {
  ...{ status: 'firing', color: '#d32f2f', emoji: '🔴', title: '#412 HighErrorRate' },
  ...{ link: { url: 'https://oncall.example.org/', text: 'Open in Tocsin' }, body: '*Error rate* above 5%' },
};

let bridge: ReferenceBridge;
let browser: Browser;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  [bridge, browser] = await Promise.all([startReferenceBridge(), launchChromium()]);
});

afterAll(async () => {
  await browser.close();
  await bridge.close();
});

async function call(method: string, where: string, body?: unknown): Promise<Json> {
  const headers = {
    ...{ authorization: `Bearer ${bridge.token}`, 'content-type': 'application/json' },
    'idempotency-key': crypto.randomUUID(),
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${bridge.url}/v1${where}`, { method, headers, ...sent });
  return (await answer.json()) as Json;
}

const shown = (page: Page, text: string) =>
  until(`"${text}" on the page`, async () => (await page.getByText(text).count()) > 0);

test('a person presses a button, sees the answer and the edit come, and writes in the Thread', async () => {
  const buttons = [{ text: 'Ack', data: 'ack-412', style: 'primary' }];
  const place = { channel_id: 'alerts/prod', kind: 'root', mentions: [], notify: true };
  const { message_id } = await call('POST', '/messages', { ...MESSAGE, ...place, buttons });
  const profile = await newProfile(browser, { width: 390, height: 844, dark: true });
  const page = await profile.newPage();
  const troubles: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && troubles.push(message.text())));
  await page.goto(bridge.url);
  await page.getByLabel('You are').selectOption('Bob Jones');
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('button', { name: 'Ack' }).click();
  const [press] = (await call('GET', '/events?wait=10')).events;
  expect(press).toMatchObject({ type: 'press', data: 'ack-412', user: { display_name: 'Bob Jones' } });

  await call('POST', '/event-answers', { event_id: press.id, text: 'Done: Ack' });
  const acknowledged = { ...MESSAGE, status: 'acknowledged', body: 'Acknowledged by Bob', buttons: [] };
  await call('PUT', `/messages/${encodeURIComponent(message_id)}`, acknowledged);
  await shown(page, 'Done: Ack');
  await shown(page, 'Acknowledged by Bob');
  expect(await page.getByRole('button', { name: 'Ack' }).count()).toBe(0);

  const writing = page.getByLabel('Write in the Thread');
  await writing.fill('rolling back');
  await writing.press('Enter');
  await shown(page, 'rolling back');
  const { events } = await call('GET', '/events?wait=10');
  expect(events.at(-1)).toMatchObject({ type: 'thread_message', text: 'rolling back', message_id });
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.screenshot({ path: path.join(shots, 'bridge-reference-phone-dark.png'), fullPage: true });
  expect(troubles).toEqual([]);
  await profile.close();
});
