/** What can go wrong on the way through the set-up of a messenger, in real Chromium, with the strict fakes behind it. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningChatServer, startChatServer } from '../fakes/chat-server/http.ts';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let chat: RunningChatServer;
let api: Api;
let desk: Page;
let fallback: Json;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser, chat] = await Promise.all([tocsin.start(), launchChromium(), startChatServer()]);
  api = await Api.signIn(ready);
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  fallback = (await api.get('/routes')).items[0];
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await chat.close();
});

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name });
const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true });
const destinationsOf = async (route: Json): Promise<readonly string[]> =>
  (await api.get(`/routes/${route.id}`)).destination_ids;

/** A Destination with a Connection of its own. @returns its id and the address of the last step of its set-up */
async function destination(name: string): Promise<{ readonly id: string; readonly lastStep: string }> {
  const connection = await api.post('/connections', {
    ...{ type: 'chat_server', name, server_url: chat.url, bot_token: chat.token, proxy: { enabled: false } },
  });
  const { team, channel } = chat.server;
  const made = await api.post('/destinations', {
    ...{ type: 'chat_server', name, connection_id: connection.id, team_id: team.id, channel_id: channel.id },
  });
  const { id } = made.destination;
  const query = { type: 'chat_server', connection: connection.id, destination: id, step: 'route' };
  return { id, lastStep: `${ready.app_url}/connections/new?${new URLSearchParams(query)}` };
}

test('a Route that somebody else changed meanwhile is read again, and nothing of theirs is lost', async () => {
  const { id, lastStep } = await destination('Overtaken');
  await desk.goto(lastStep);
  await desk.getByText('No Route posts to Overtaken yet').waitFor();
  await desk.route(
    `**/api/v1/routes/${fallback.id}`,
    async (request) => {
      await api.change(`/routes/${fallback.id}`, (route) => ({ ...route, description: 'by somebody else' }));
      await request.continue();
    },
    { times: 1 },
  );
  await button(desk, 'Add to the Route Default').click();
  await desk.getByText('Somebody else changed this Route meanwhile.').waitFor();
  expect(await destinationsOf(fallback)).toEqual([]);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'wizard-route-overtaken.png'), fullPage: true });

  await button(desk, 'Add to the Route Default').click();
  await desk.getByText('The set-up is complete.').waitFor();
  expect(await desk.getByText('Somebody else changed this Route').count()).toBe(0);
  expect(await destinationsOf(fallback)).toEqual([id]);
  expect((await api.get(`/routes/${fallback.id}`)).description).toBe('by somebody else');
});

test('another Route than the Default one is chosen by keyboard, keeps its Destinations, and the focus says so', async () => {
  const first = await destination('First');
  const { policy } = fallback;
  const payments = await api.post('/routes', {
    ...{ name: 'Payments', matchers: [{ label: 'team', op: '=', value: 'payments' }], urgent: true },
    ...{ group_key: ['alertname'], destination_ids: [first.id], policy },
  });
  const { id, lastStep } = await destination('Second');
  await desk.goto(lastStep);
  const radio = desk.getByRole('radio', { name: 'Payments (team="payments")' });
  await radio.waitFor();
  await desk.getByRole('radio', { name: 'Default (Everything else)' }).focus();
  await desk.keyboard.press('ArrowUp');
  expect(await radio.isChecked()).toBe(true);
  await desk.getByText('It goes on posting to First.').waitFor();
  await desk.screenshot({ path: path.join(shots, 'wizard-route-choice.png'), fullPage: true });
  await desk.keyboard.press('Tab');
  await desk.keyboard.press('Enter');
  await desk.getByText('Alert Groups of these Routes are posted to Second: Payments').waitFor();
  expect(await destinationsOf(payments)).toEqual([first.id, id]);
  expect(await desk.evaluate<string>('document.activeElement?.textContent ?? ""')).toMatch(
    /set-up is complete/,
  );
  expect(await desk.getByRole('radio').count()).toBe(1);
});

test('a Destination that no Route uses leads there; whoever may not change Routes is told whom to ask', async () => {
  const { id, lastStep } = await destination('Unused');
  const link = (page: Page) => page.getByRole('link', { name: 'Choose what is posted there' });
  await desk.goto(`${ready.app_url}/destinations/${id}`);
  await link(desk).click();
  await heading(desk, 'Choose what is posted there').waitFor();
  await desk.getByText('No Route posts to Unused yet').waitFor();
  expect(desk.url()).toBe(lastStep);

  const { password_setup_link: setup } = await api.post('/users', {
    ...{ login: 'grace', name: 'Grace Hopper', role: 'responder', email: null },
  });
  const password = 'quietly rolling thunder';
  const token = new URL(setup.url).hash.replace('#token=', '');
  await new Api(ready.app_url).post('/password-setups', { token, password });
  const page = await (await newProfile(browser, { width: 390, height: 844 })).newPage();
  await signIn(page, { ...ready, login: 'grace', password });
  await page.goto(`${ready.app_url}/destinations/${id}`);
  await page.getByText('No Route uses it').waitFor();
  expect(await link(page).count()).toBe(0);
  await page.goto(lastStep);
  await page.getByText('Ask an Admin when you need it.').waitFor();
  await page.context().close();
});
