/** What people do, in Debian's Firefox: a second engine. Everything is found by its role and accessible name. */
import type { Browser } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { FIREFOX_PATIENCE_MS, FirefoxWindow, launchFirefox } from '../harness/firefox.ts';
import { signUp } from '../harness/seeded.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const PATIENCE_MS = 5 * FIREFOX_PATIENCE_MS;

let tocsin: Installation;
let ready: Ready;
let api: Api;
let sender: Sender;
let browser: Browser;
const windows: FirefoxWindow[] = [];

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchFirefox()]);
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
}, PATIENCE_MS);

afterEach(async () => {
  for (const window of windows.splice(0)) await window.close();
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

async function openWindow(width: number, height: number): Promise<FirefoxWindow> {
  const window = await FirefoxWindow.open(browser, ready.app_url, { width, height });
  windows.push(window);
  return window;
}

/** Raises one Alert and waits for its Alert Group. */
async function raise(labels: Readonly<Record<string, string>>, summary: string): Promise<Json> {
  const alerts = [{ labels, annotations: { summary } }];
  expect(await sender.post({ groupKey: Object.values(labels).join(), alerts })).toBe(202);
  return until(
    `the Alert Group ${labels.alertname}`,
    async () => (await api.get(`/alert-groups?q=${labels.alertname}`)).items[0],
  );
}

const groupOf = (id: string): Promise<Json> => api.get(`/alert-groups/${id}`);

test.each([
  [360, 740],
  [768, 1_024],
  [1_440, 900],
  [2_560, 1_440],
])(
  '%i px: a group arrives live, is read, acknowledged, noted on, resolved, brought back by Undo and snoozed',
  async (width, height) => {
    const window = await openWindow(width, height);
    await window.goto('/sign-in');
    await window.has('button', 'Sign in');
    expect(await window.faults()).toEqual([]);
    await window.signIn(ready);
    await window.has('heading', 'Alert Groups');

    const alertname = `CheckoutDown${width}`;
    const { id, number } = await raise(
      { alertname, cluster: 'eu-1', severity: 'critical' },
      'It answers 5xx',
    );
    await window.has('link', alertname);
    expect(await window.faults()).toEqual([]);

    await window.press('link', alertname);
    await window.has('heading', alertname);
    await window.press('button', 'Acknowledge');
    await window.shows(`#${number} is yours`);
    expect(await groupOf(id)).toMatchObject({ status: 'acknowledged' });

    await window.fill('textbox', 'Add a Note', 'rolled back');
    await window.press('button', 'Add Note');
    await window.shows('rolled back');
    expect((await api.get(`/alert-groups/${id}/notes`)).items).toMatchObject([{ body: 'rolled back' }]);
    expect(await window.faults()).toEqual([]);

    await window.press('button', 'Resolve');
    await window.fill('textbox', 'Note (optional)', 'it is over');
    expect(await window.faults()).toEqual([]);
    await window.page.keyboard.down('Control');
    await window.page.keyboard.press('Enter');
    await window.page.keyboard.up('Control');
    await window.shows(`#${number} is resolved`);
    expect(await groupOf(id)).toMatchObject({ status: 'resolved' });
    await window.press('button', 'Undo');
    await window.shows(`#${number} is firing again`);
    expect(await groupOf(id)).toMatchObject({ status: 'firing' });

    await window.press('button', 'Snooze');
    await window.pressText('dialog', `Snooze #${number}`, 'For 1 hr');
    expect(await window.faults()).toEqual([]);
    await window.page.keyboard.press('Enter');
    await window.shows('Snoozed until');
    expect(await groupOf(id)).toMatchObject({ status: 'snoozed' });
    // Into an empty list the next one enters by itself.
    await api.post(`/alert-groups/${id}/resolve`, {});
  },
  PATIENCE_MS,
);

test(
  '768 px, dark, Russian: rows are searched by tokens, acknowledged together and folded; another window follows',
  async () => {
    const maria = await signUp(api, ready, 'maria', 'Мария');
    await maria.call('PUT', '/me', { name: 'Мария', time_zone: 'Europe/Berlin', language: 'ru' });
    const shared = { alertname: 'PodCrash', severity: 'warning' };
    for (const pod of ['web-1', 'web-2', 'cart-1'])
      await raise({ ...shared, alertname: `PodCrash-${pod}`, cluster: pod.slice(0, -2), pod }, 'It restarts');
    const desk = await openWindow(1_440, 900);
    await desk.signIn(ready);
    await desk.has('link', 'PodCrash-web-1');

    const tablet = await openWindow(768, 1_024);
    await tablet.signIn({ login: 'maria', password: 'quietly rolling thunder' });
    await tablet.press('button', 'Открыть меню');
    await tablet.choose('Тема', 'dark');
    expect(await tablet.faults()).toEqual([]);
    await tablet.page.keyboard.press('Escape');
    await tablet.has('link', 'PodCrash-cart-1');

    await tablet.page.keyboard.press('/');
    await tablet.page.keyboard.type('cluster:w');
    await tablet.has('option', 'cluster:web 2 группы');
    expect(await tablet.faults()).toEqual([]);
    await tablet.page.keyboard.press('ArrowDown');
    await tablet.page.keyboard.press('Enter');
    await tablet.has('button', 'Убрать: cluster="web"');
    await tablet.showsNot('PodCrash-cart-1');
    await tablet.press('checkbox', 'Выбрать все загруженные строки');
    await tablet.shows('Выбрано 2');
    expect(await tablet.faults()).toEqual([]);
    await tablet.press('button', 'Взять в работу');
    await tablet.shows('Готово для 2 групп');
    const mine = (await api.get('/alert-groups?status=acknowledged&label=cluster%3D%22web%22')).items;
    expect(mine.map(({ owner }: Json) => owner.name)).toEqual(['Мария', 'Мария']);
    await desk.shows('Мария');

    await tablet.press('button', 'Убрать: cluster="web"');
    await tablet.pressText('group', 'Статус', 'Горят');
    await tablet.showsNot('PodCrash-web-1');
    await tablet.has('link', 'PodCrash-cart-1');
    expect(await tablet.faults()).toEqual([]);
    await tablet.pressText('group', 'Статус', 'Открытые');
    await tablet.press('button', 'Фильтры');
    await tablet.fill('combobox', 'Свернуть по метке', 'cluster');
    await tablet.press('button', 'Свернуть');
    await tablet.page.keyboard.press('Escape');
    await tablet.shows('Свёрнуто по cluster.');
    expect(await tablet.faults()).toEqual([]);
    await tablet.press('link', 'web');
    await tablet.has('link', 'PodCrash-web-2');
    expect(new URL(tablet.page.url()).searchParams.getAll('label')).toEqual(['cluster="web"']);
  },
  PATIENCE_MS,
);

test(
  '1440 px, dark: a sender is connected in the wizard, and its first alert is seen there',
  async () => {
    const desk = await openWindow(1_440, 900);
    await desk.signIn(ready);
    await desk.press('button', `Menu of ${ready.login}`);
    await desk.choose('Theme', 'dark');
    await desk.goto('/integrations/new');
    await desk.fill('textbox', 'Name', 'Staging');
    expect(await desk.faults()).toEqual([]);
    await desk.press('button', 'Create and get a token');
    await desk.shows('Waiting for the first Snapshot…');
    expect(await desk.faults()).toEqual([]);
    const shown = await desk.textOf('dialog', 'The token is ready');
    const [, token = ''] = /credentials: "(.+?)"/.exec(shown) ?? [];
    const labels = { alertname: 'FirstAlert', severity: 'info' };
    const staging = new Sender(ready.ingest_endpoint, token);
    expect(await staging.post({ groupKey: 'first', alerts: [{ labels }] })).toBe(202);
    await desk.shows('The first Snapshot has arrived.');
    expect(await desk.faults()).toEqual([]);
    await desk.press('button', 'I have stored it');
    await desk.has('heading', 'Staging');
    await desk.press('link', 'Alerts');
    await desk.shows('FirstAlert');
    expect(await desk.faults()).toEqual([]);
  },
  PATIENCE_MS,
);

test(
  '2560 px, Russian: a Route is made with a Matcher, and the page of machines shows who is in a state',
  async () => {
    const wide = await openWindow(2_560, 1_440);
    await wide.signIn(ready);
    await wide.press('button', `Menu of ${ready.login}`);
    await wide.choose('Language', 'ru');
    await wide.goto('/routes/new');
    await wide.pressText('list', '', 'Дежурство');
    await wide.fill('textbox', 'Имя', 'Платежи');
    await wide.press('button', 'Добавить условие');
    await wide.fill('textbox', 'Метка', 'team');
    await wide.fill('textbox', 'Значение', 'payments');
    expect(await wide.faults()).toEqual([]);
    await wide.press('button', 'Создать');
    await wide.has('heading', 'Платежи');
    const { items } = await api.get('/routes');
    expect(items.find(({ name }: Json) => name === 'Платежи')).toMatchObject({
      matchers: [{ label: 'team', op: '=', value: 'payments' }],
    });

    const group = await raise({ alertname: 'PaymentsSlow', team: 'payments' }, 'Two seconds');
    await api.post(`/alert-groups/${group.id}/acknowledge`, {});
    await wide.goto('/machines/alert_group');
    await wide.has('group', 'Автомат: Группа алертов');
    await wide.pressText('group', 'Состояния', 'acknowledged');
    await wide.shows('Сейчас в состоянии acknowledged');
    expect(await wide.faults()).toEqual([]);
    await wide.press('link', group.id);
    await wide.has('heading', `Группа алертов ${group.id}`);
    await wide.shows('acknowledged');
    expect(await wide.faults()).toEqual([]);
  },
  PATIENCE_MS,
);
