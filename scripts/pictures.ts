/**
 * `npm run pictures`: makes the icon and the pictures of the README anew, of the real service in real Chromium. Emoji come
 * out as boxes without a font that has them (`apt-get install fonts-noto-color-emoji`).
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
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
} finally {
  await browser.close();
  await tocsin.remove();
}
