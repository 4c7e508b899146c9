/** What can go wrong on the way through the set-up of a messenger, in real Chromium, with the strict fakes behind it. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningBotApi, startBotApi } from '../fakes/channel-bot/http.ts';
import { type RunningChatServer, startChatServer } from '../fakes/chat-server/http.ts';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const shots = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'screenshots');

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let chat: RunningChatServer;
let bots: RunningBotApi;
let api: Api;
let desk: Page;
let fallback: Json;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, browser, chat, bots] = await Promise.all([
    tocsin.start(),
    launchChromium(),
    startChatServer(),
    startBotApi(),
  ]);
  api = await Api.signIn(ready);
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  fallback = (await api.get('/routes')).items[0];
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await Promise.all([chat.close(), bots.close()]);
});

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name });
const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true });
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
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
  await desk.getByText('Somebody else changed the Route Default meanwhile.').waitFor();
  expect(await destinationsOf(fallback)).toEqual([]);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'wizard-route-overtaken.png'), fullPage: true });

  await button(desk, 'Add to the Route Default').click();
  await desk.getByText('The set-up is complete.').waitFor();
  expect(await desk.getByText('Somebody else changed the Route').count()).toBe(0);
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
  await desk.waitForFunction('document.activeElement?.textContent.includes("set-up is complete")');
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

/** To the third step, with a Connection of that name. */
async function connect(name: string, token: string): Promise<void> {
  await desk.goto(`${ready.app_url}/connections/new`);
  await desk.getByRole('button', { name: /^Chat server/ }).click();
  await field(desk, 'Name').fill(name);
  await field(desk, 'Address of the server').fill(chat.url);
  await field(desk, 'Token').fill(token);
  await button(desk, 'Create').click();
  await heading(desk, 'Choose a channel').waitFor();
}

test('going back never offers to make once more what was made, and a reload stays at its step', async () => {
  await connect('Back and forth', chat.token);
  await desk.goBack();
  await heading(desk, 'Which messenger is it for?').waitFor();
  await desk.goForward();
  await heading(desk, 'Choose a channel').waitFor();
  await desk.reload();
  await desk.getByRole('radio', { name: /Alerts/ }).check();
  await field(desk, 'Name').fill('Back and forth');
  await button(desk, 'Check and create').click();
  await heading(desk, 'Try it, and link your account').waitFor();
  await desk.goBack();
  await heading(desk, 'Which messenger is it for?').waitFor();
  await desk.goForward();
  await button(desk, 'Next: choose a Route').click();
  await heading(desk, 'Choose what is posted there').waitFor();
  await desk.reload();
  await desk.getByText('No Route posts to Back and forth yet').waitFor();
  await desk.goBack();
  await heading(desk, 'Try it, and link your account').waitFor();
  const made = (await api.get('/connections')).items.filter(({ name }: Json) => name === 'Back and forth');
  expect(made).toHaveLength(1);
});

test('a token that the server refuses is corrected on the way, and the way goes on', async () => {
  await connect('Mistyped', 'mistyped');
  await desk.getByText('The server refuses the bot token.').waitFor();
  await desk.getByRole('link', { name: 'Edit the Connection' }).click();
  await field(desk, 'Token').fill(chat.token);
  await button(desk, 'Save').click();
  await heading(desk, 'Choose a channel').waitFor();
  await desk.getByRole('radio', { name: /Alerts/ }).waitFor();
});

test('a bot that left the channel meanwhile is said at the channel, where the focus goes', async () => {
  await connect('Left', chat.token);
  const { server } = chat;
  const radio = desk.getByRole('radio', { name: /Alerts/ });
  await radio.check();
  await field(desk, 'Name').fill('Left');
  server.channel.members.delete(server.bot.id);
  await button(desk, 'Check and create').click();
  await desk.getByText('The bot has not joined this channel.').waitFor();
  await until('the channel has the focus', () =>
    radio.evaluate((element) => element === element.ownerDocument.activeElement),
  );
  server.channel.members.add(server.bot.id);
  await button(desk, 'Check and create').click();
  await heading(desk, 'Try it, and link your account').waitFor();
});

test('whoever chooses another Connection for the channel goes on with that one', async () => {
  await connect('Chosen first', chat.token);
  await field(desk, 'Connection').selectOption('Left');
  await desk.getByRole('radio', { name: /Alerts/ }).check();
  await field(desk, 'Name').fill('Elsewhere');
  await button(desk, 'Check and create').click();
  await heading(desk, 'Try it, and link your account').waitFor();
  const other = (await api.get('/connections')).items.find(({ name }: Json) => name === 'Left');
  await desk.getByText(other.callback_url).waitFor();
});

test('a Route or a Destination that is deleted meanwhile is named', async () => {
  const { id, lastStep } = await destination('Deleted later');
  const { policy } = fallback;
  const extra = await api.post('/routes', {
    ...{ name: 'Deleted first', matchers: [{ label: 'team', op: '=', value: 'none' }], urgent: false },
    ...{ group_key: [], destination_ids: [], policy },
  });
  await desk.goto(lastStep);
  await desk.getByRole('radio', { name: /^Deleted first/ }).check();
  const whilePut = (route: Json, remove: string) =>
    desk.route(
      `**/api/v1/routes/${route.id}`,
      async (request) => {
        await api.call('DELETE', remove);
        await request.continue();
      },
      { times: 1 },
    );
  await whilePut(extra, `/routes/${extra.id}`);
  await button(desk, 'Add to the Route Deleted first').click();
  await desk.getByText('Deleted first does not exist any more.').waitFor();
  await whilePut(fallback, `/destinations/${id}`);
  await button(desk, 'Add to the Route Default').click();
  await desk.getByText('Deleted later does not exist any more.').waitFor();
  expect(await destinationsOf(fallback)).not.toContain(id);
});

test('a Destination that is deleted at step 4 is named as gone, with the way back to what is still there', async () => {
  const { id, lastStep } = await destination('Short-lived');
  const stepFour = lastStep.replace('&step=route', '');
  await desk.goto(stepFour);
  await heading(desk, 'Try it, and link your account').waitFor();
  await button(desk, 'Send test').waitFor();
  await api.call('DELETE', `/destinations/${id}`);
  await desk.getByText('Short-lived does not exist any more.').waitFor();
  expect(await desk.getByText('Not found').count()).toBe(0);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'wizard-destination-gone.png'), fullPage: true });
  await button(desk, 'Choose a channel').click();
  await heading(desk, 'Choose a channel').waitFor();
  expect(await field(desk, 'Connection').evaluate((list: { value: string }) => list.value)).toBe(
    new URL(stepFour).searchParams.get('connection'),
  );

  await api.call('DELETE', `/connections/${new URL(stepFour).searchParams.get('connection')}`);
  await desk.goto(stepFour);
  await desk.getByText('It and its Connection were deleted meanwhile.').waitFor();
  await button(desk, 'Connect the messenger').click();
  await field(desk, 'Address of the server').waitFor();
});

test('what one tab adds, another says', async () => {
  const { lastStep } = await destination('Two tabs');
  const other = await desk.context().newPage();
  for (const tab of [desk, other]) {
    await tab.goto(lastStep);
    await tab.getByText('No Route posts to Two tabs yet').waitFor();
  }
  await button(desk, 'Add to the Route Default').click();
  for (const tab of [desk, other]) {
    await tab.getByText('Alert Groups of these Routes are posted to Two tabs: Default').waitFor();
  }
  await other.close();
});

test('a long name of a Route widens nothing, and a Team that was not chosen is not asked for', async () => {
  const name = 'a-name-without-a-space-'.repeat(8);
  const matchers = [{ label: 'team', op: '=', value: 'x'.repeat(300) }];
  const { policy } = fallback;
  await api.post('/routes', {
    ...{ name, matchers, urgent: false, group_key: [], destination_ids: [], policy },
  });
  const { lastStep } = await destination('Narrow');
  const overflow = () => desk.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  for (const width of [360, 1440]) {
    await desk.setViewportSize({ width, height: 900 });
    await desk.goto(lastStep);
    await desk.getByRole('radio', { name: new RegExp(name) }).check();
    expect(await overflow(), `${width}`).toBeLessThanOrEqual(0);
    await desk.screenshot({ path: path.join(shots, `wizard-route-long-${width}.png`), fullPage: true });
  }
  await connect('Nothing chosen', chat.token);
  await button(desk, 'Check and create').click();
  await desk.getByText('Some fields need another look.').waitFor();
  expect(await desk.getByText('/team_id').count()).toBe(0);
});

/** Presses Tab until it has the focus, as somebody without a mouse. */
async function tabTo(target: Locator): Promise<void> {
  const page = target.page();
  await target.waitFor();
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('Tab never came there');
}

test('by keyboard alone, in Russian, at 360 px and in the dark, with a pasted link to the channel', async () => {
  const profile = await newProfile(browser, { width: 360, height: 740, dark: true, locale: 'ru-RU' });
  const page = await profile.newPage();
  const look = async (step: string) => {
    expect(await accessibilityFindings(page), step).toEqual([]);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(wide, step).toBeLessThanOrEqual(360);
    await page.screenshot({ path: path.join(shots, `wizard-keyboard-${step}.png`), fullPage: true });
  };
  const type = async (label: string, text: string) => {
    await tabTo(field(page, label));
    await page.keyboard.press('Control+A');
    await page.keyboard.type(text);
  };
  const press = async (name: string) => {
    await tabTo(button(page, name));
    await page.keyboard.press('Enter');
  };
  await signIn(page, ready);
  await page.goto(`${ready.app_url}/connections/new`);
  await tabTo(page.getByRole('button', { name: /^Бот канала/ }));
  await page.keyboard.press('Enter');
  await heading(page, 'Подключите мессенджер').waitFor();
  await type('Адрес Bot API', bots.url);
  await type('Токен', bots.token);
  await press('Проверить');
  await page.getByText('Его бот — oncall_bot.').waitFor();
  await look('connection');
  await press('Создать');
  await heading(page, 'Выберите канал').waitFor();
  await type('Имя', 'Телеграм');
  await type('Канал', 'https://t.me/c/1234567890/1');
  await look('channel');
  await press('Проверить и создать');
  await heading(page, 'Попробуйте и свяжите свою учётную запись').waitFor();
  await page.locator('figure').first().waitFor();
  await look('message');
  await press('Дальше: выбрать маршрут');
  await heading(page, 'Выберите, что туда публиковать').waitFor();
  await look('route');
  await press('Добавить в маршрут «Default»');
  await page.getByText('Настройка закончена.').waitFor();
  await look('done');
  const [made] = (await api.get('/destinations?type=channel_bot')).items;
  expect(await destinationsOf(fallback)).toContain(made.id);
  expect(made.channel_name).toBe('Alerts');
  await profile.close();
});
