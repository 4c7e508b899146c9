/**
 * `npm run pictures`: makes the icon and the pictures of the README and of `docs/` anew, of the real service in real Chromium. Emoji come
 * out as boxes without a font that has them (`apt-get install fonts-noto-color-emoji`).
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { startBotApi } from '../test/fakes/channel-bot/http.ts';
import { startChatServer } from '../test/fakes/chat-server/http.ts';
import { Api, type Json } from '../test/harness/api.ts';
import { launchChromium, newProfile, signIn } from '../test/harness/browser.ts';
import { groupOf, raise, TROUBLES } from '../test/harness/seeded.ts';
import { Sender } from '../test/harness/sender.ts';
import { Installation, type Ready } from '../test/harness/tocsin.ts';
import { until } from '../test/harness/until.ts';

const root = path.resolve(import.meta.dirname, '..');
const PROGRAM = [path.join(root, 'runtime', 'main.ts'), 'quickstart', '--messenger', '0'];

const ACKNOWLEDGED = 'HighLatency';
/** The one whose message is shown. */
const SHOWN = 'CheckoutErrorRate';

/** Draws the icon's PNG from its SVG. */
async function drawIcon(browser: Browser): Promise<void> {
  const file = (name: string) => path.join(root, 'ui', 'public', name);
  const svg = await readFile(file('tocsin-mark.svg'), 'utf8');
  const page = await browser.newPage({ viewport: { width: 256, height: 256 } });
  await page.setContent(`<style>body{margin:0}svg{display:block;width:256px;height:256px}</style>${svg}`);
  await page.screenshot({ path: file('tocsin-mark-256.png'), omitBackground: true });
  await page.close();
}

async function pictureOfList(browser: Browser, ready: Ready): Promise<void> {
  const page = await (await newProfile(browser, { width: 1440, height: 760 })).newPage();
  await signIn(page, ready);
  await page.getByText(`${TROUBLES.length} shown`).waitFor();
  await save(page, 'alert-groups');
}

/** The message as the messenger to try out shows it, with what somebody wrote under it. */
async function pictureOfMessage(browser: Browser, messenger: string): Promise<void> {
  const messages = async (): Promise<readonly Json[]> =>
    (await (await fetch(`${messenger}/_sim/messages`)).json()) as readonly Json[];
  const message = await until('the message with one resolved Alert', async () =>
    (await messages()).find(
      ({ kind, heading, body }) => kind === 'root' && heading.title.includes(SHOWN) && body.includes('~~'),
    ),
  );
  const said = { message_id: message.message_id, user: 'u-18', text: 'Rolling back the last release.' };
  await fetch(`${messenger}/_sim/thread-message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(said),
  });
  const page = await (await newProfile(browser, { width: 640, height: 900 })).newPage();
  await page.goto(messenger);
  await page.getByText(said.text).waitFor();
  const shown = page.locator('article').filter({ hasText: SHOWN });
  await shown.screenshot({ path: fileOf('message') });
}

/** Past a Connection, which is checked first. @param type as its card says it */
async function connect(page: Page, type: RegExp, address: string, token: string): Promise<void> {
  await page.goto(`${ready.app_url}/connections/new`);
  await page.getByRole('button', { name: type }).click();
  await page.getByLabel(/^Address of/).fill(address);
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByText('Its bot is').waitFor();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: 'Choose a channel' }).waitFor();
}

/** The set-ups of Mattermost and Telegram, with the strict servers of the tests behind them. */
async function picturesOfSetUps(browser: Browser): Promise<void> {
  const [chat, bots] = await Promise.all([startChatServer(), startBotApi()]);
  const page = await (await newProfile(browser, { width: 1120, height: 640 })).newPage();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await signIn(page, ready);
  const { server } = chat;
  server.addChannel(server.team.id, 'payments', 'Payments', [server.bot.id]);
  await connect(page, /^Chat server/, chat.url, chat.token);
  await page.getByRole('radio', { name: /Alerts/ }).check();
  await quiet(page);
  await save(page, 'mattermost-channel');
  await press('Check and create');
  await press('Next: choose a Route');
  await page.getByRole('radio', { name: /^Default/ }).waitFor();
  await quiet(page);
  await save(page, 'mattermost-route');
  await connect(page, /^Channel bot/, bots.url, bots.token);
  await page.getByLabel('Name', { exact: true }).fill('Alerts in Telegram');
  await page.getByLabel('Channel', { exact: true }).fill('@alerts');
  await press('Check and create');
  const shown = page.locator('figure').first();
  await shown.getByRole('link', { name: 'Open in Tocsin' }).waitFor();
  await quiet(page);
  await page.setViewportSize({ width: 1120, height: 900 });
  await page.locator('#test').screenshot({ path: fileOf('telegram-message') });
  await Promise.all([chat.close(), bots.close()]);
}

/** Without what was said of the steps before. */
async function quiet(page: Page): Promise<void> {
  const said = page.getByRole('button', { name: 'Close', exact: true });
  while ((await said.count()) > 0) await said.first().click();
}

function save(page: Page, name: string): Promise<Buffer> {
  return page.screenshot({ path: fileOf(name) });
}

function fileOf(name: string): string {
  return path.join(root, 'docs', 'images', `${name}.png`);
}

const tocsin = new Installation({}, PROGRAM);
const [ready, browser] = await Promise.all([
  tocsin.start() as Promise<Ready & { readonly messenger_url: string }>,
  launchChromium(),
]);
try {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const api = await Api.signIn(ready);
  for (const each of TROUBLES) await raise(sender, each);
  const group = await groupOf(api, ACKNOWLEDGED);
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await until('all Alert Groups', async () => (await api.all('/alert-groups')).length === TROUBLES.length);
  await drawIcon(browser);
  await pictureOfList(browser, ready);
  const shown = TROUBLES.find(({ alertname }) => alertname === SHOWN);
  if (shown) await raise(sender, shown, { resolved: shown.pods.slice(-1) });
  await pictureOfMessage(browser, ready.messenger_url);
  await picturesOfSetUps(browser);
} finally {
  await browser.close();
  await tocsin.remove();
}
