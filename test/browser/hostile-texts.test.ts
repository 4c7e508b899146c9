/** Texts that were made to break pages: markup, marks of direction, emoji, and thousands of characters without a space. */
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

/** Each sets `window.hit` where it is taken for more than text. */
const MARKUP = `<img src=x onerror="window.hit=1"><script>window.hit=2</script><svg onload="window.hit=3">`;
const LONG = 'W'.repeat(4_000);
/** Longer ones are no longer told apart by their name. */
const TITLE = `Hostile${MARKUP}\u202Eevil\u2066שלום🔥${LONG}`.slice(0, 1_000);
/** What people name things may be as long as this. */
const NAME = `<img src=x onerror="window.hit=4">\u202E🔥${LONG}`.slice(0, 200);

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let api: Api;
let receiver: WebhookReceiver;
let page: Page;
let group: Json;
let destination: string;
const dialogs: string[] = [];

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  tocsin = new Installation();
  [ready, receiver, browser] = await Promise.all([tocsin.start(), startWebhookReceiver(), launchChromium()]);
  api = await Api.signIn(ready);
  await seed();
  const profile = await newProfile(browser);
  await profile.grantPermissions(['notifications'], { origin: ready.app_url });
  page = await profile.newPage();
  page.on('dialog', (dialog) => {
    // A form that was filled asks before it is left.
    if (dialog.type() !== 'beforeunload') dialogs.push(dialog.message());
    void dialog.accept();
  });
  await signIn(page, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
  await receiver.close();
});

async function seed(): Promise<void> {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const made = await api.post('/destinations', {
    ...{ type: 'webhook', name: NAME, mode: 'events', events: { url: receiver.url, headers: [] } },
    limiter: { limit: 1_000, per_seconds: 1 },
  });
  destination = made.destination.id;
  receiver.trust(made.signing_secret);
  await api.change(`/integrations/${ready.integration_id}`, (each) => ({ ...each, name: NAME }));
  const fallback = (await api.get('/routes')).items.find((route: Json) => route.is_default);
  await api.change(`/routes/${fallback.id}`, (route) => ({
    ...route,
    name: NAME,
    group_key: ['alertname', 'cluster'],
    destination_ids: [destination],
  }));
  expect(await sender().post({ groupKey: 'hostile', alerts: hostileAlerts('eu') })).toBe(202);
  group = await until('the Alert Group', async () => (await api.get('/alert-groups')).items[0]);
  for (const body of [MARKUP, LONG, `\u202Eevil \u2066שלום 🔥 [x](javascript:window.hit=5)`])
    await api.post(`/alert-groups/${group.id}/notes`, { body });
  // Something else that fires nearby.
  const neighbour = [{ labels: { ...hostileLabels('eu'), alertname: `Other${TITLE}`.slice(0, 1_000) } }];
  expect(await sender().post({ groupKey: 'nearby', alerts: neighbour })).toBe(202);
  await until('the neighbour', async () => (await api.get('/alert-groups')).items.length === 2);
  await receiver.waitFor(2);
}

function sender(): Sender {
  return new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
}

function hostileLabels(cluster: string): Record<string, string> {
  return {
    alertname: TITLE,
    cluster: `${cluster}${LONG.slice(0, 900)}`,
    namespace: MARKUP,
    severity: MARKUP,
    [`label_${'n'.repeat(300)}`]: MARKUP,
  };
}

function hostileAlerts(cluster: string) {
  return ['a', 'b'].map((pod) => ({
    labels: { ...hostileLabels(cluster), pod: `${MARKUP}${pod}${LONG}`.slice(0, 1_000) },
    annotations: {
      summary: `${MARKUP} \u202Eevil שלום 🔥 ${LONG}`,
      description: `${LONG} ${MARKUP}`,
      runbook_url: 'javascript:window.hit=6',
      dashboard_url: `https://grafana.example/d/${LONG.slice(0, 1_000)}`,
      [`annotation_${'n'.repeat(300)}`]: `${pod} ${LONG}`,
    },
  }));
}

/**
 * What a hostile text did to the page: scrolls sideways, hides a control (of a dialog or a message: below the edge, too),
 * covers the page with what stays in sight while it scrolls, or runs.
 */
const BROKEN = `(() => {
  const found = [];
  const sideways = document.documentElement.scrollWidth - window.innerWidth;
  if (sideways > 0) found.push('scrolls sideways by ' + sideways);
  if (window.hit !== undefined) found.push('ran: ' + window.hit);
  const nameOf = (element) =>
    element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40);
  const layer = document.querySelector('dialog[open]') ?? document.body;
  for (const control of layer.querySelectorAll('a[href], button, input, select, textarea, summary, [role="option"]')) {
    if (!control.checkVisibility({ visibilityProperty: true }) || control.closest('.visually-hidden, .skip, .tabs, .labels')) continue;
    const own = control.getBoundingClientRect();
    if (own.width <= 1) continue;
    let [left, right, isMeantToBe] = [own.left, own.right, false];
    for (let around = control.parentElement; around !== null; around = around.parentElement) {
      const { display, overflowX, clipPath } = getComputedStyle(around);
      if (clipPath.startsWith('inset')) isMeantToBe = true;
      if (display === 'contents' || overflowX === 'visible') continue;
      const box = around.getBoundingClientRect();
      [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
    }
    const isBeside = Math.min(right, window.innerWidth) - Math.max(left, 0) < Math.min(own.width, 24) - 1;
    const isBelow = control.closest('dialog footer, .toast') !== null && (own.top < 0 || own.bottom > window.innerHeight);
    if (!isMeantToBe && (isBeside || isBelow)) found.push('out of sight: ' + nameOf(control));
  }
  for (const element of document.body.querySelectorAll('*')) {
    const { position } = getComputedStyle(element);
    if (position !== 'sticky' && position !== 'fixed') continue;
    const { width, height } = element.getBoundingClientRect();
    if (width > window.innerWidth / 2 && height > window.innerHeight * 0.6 && !element.closest('dialog'))
      found.push('covers the page: ' + nameOf(element));
  }
  return found;
})()`;

interface Place {
  readonly name: string;
  readonly where: () => string;
  /** What has to be there before the page is judged. */
  readonly reach: () => Promise<unknown>;
}

const first = (text: string | RegExp) => page.getByText(text).filter({ visible: true }).first().waitFor();
const button = (name: string | RegExp) => page.getByRole('button', { name }).first();
const groupPage = () => `/alert-groups/${group.id}`;

const PLACES: readonly Place[] = [
  {
    name: 'the list',
    where: () => '/alert-groups',
    reach: () => page.locator('[data-group]').first().waitFor(),
  },
  { name: 'folds by name', where: () => '/alert-groups?fold=alertname', reach: () => first(/^Hostile/) },
  { name: 'folds by a label', where: () => '/alert-groups?fold=cluster', reach: () => first(/^euW/) },
  {
    name: 'the page of a group',
    where: groupPage,
    reach: async () => {
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('region', { name: 'Notes' }).getByText('window.hit=2').waitFor();
      await page.getByRole('region', { name: 'What else fires' }).getByRole('link').first().waitFor();
      await page.evaluate(`for (const each of document.querySelectorAll('main details')) each.open = true`);
    },
  },
  {
    name: 'a Command and its message',
    where: groupPage,
    reach: async () => {
      const isFiring = (await api.get(`/alert-groups/${group.id}`)).status === 'firing';
      await button(isFiring ? 'Acknowledge' : 'Unacknowledge').click();
      await page.locator('.toast').first().waitFor();
    },
  },
  {
    name: 'the dialog of Resolve',
    where: groupPage,
    reach: async () => {
      await button('Resolve').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).waitFor();
    },
  },
  {
    name: 'the dialog of Snooze',
    where: groupPage,
    reach: async () => {
      await button('Snooze').click();
      await page.getByRole('dialog').getByText('For 1 hr').waitFor();
    },
  },
  {
    name: 'the dialog of a Note, from the row',
    where: () => '/alert-groups',
    reach: async () => {
      await page.locator('[data-group]').first().waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('n');
      await page.getByRole('dialog').getByRole('textbox').waitFor();
    },
  },
  {
    name: 'the wall',
    where: () => '/wall?night=off',
    reach: () => page.getByRole('article').first().waitFor(),
  },
  {
    name: 'the statistics',
    where: () => '/statistics?period=2d',
    reach: async () => {
      await page
        .getByRole('table', { name: 'Noisiest alert names' })
        .getByText(/^Hostile/)
        .waitFor();
      await page.getByRole('region', { name: 'Where Alert Groups went' }).waitFor();
      await page.evaluate(`for (const each of document.querySelectorAll('main details')) each.open = true`);
    },
  },
  {
    name: 'the palette',
    where: groupPage,
    reach: async () => {
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to' }).fill(TITLE);
      await page.getByRole('option', { name: /^Search Alert Groups for/ }).waitFor();
    },
  },
  {
    name: 'the preview of Matchers',
    where: () => '/routes/new',
    reach: async () => {
      await button(/On-call/).click();
      await button('Add a Matcher').click();
      await page.getByLabel('Label', { exact: true }).last().fill('cluster');
      await page.getByLabel('Operator').last().selectOption('=~');
      await page.getByLabel('Value', { exact: true }).last().fill('eu.*');
      await first(/Alerts of the last 24 hours would come here/);
    },
  },
  {
    name: 'the preview of a Group key',
    where: () => `/routes/${group.route.id}`,
    reach: async () => {
      await button('Preview on what was received').click();
      await first(/Alerts that match, and/);
    },
  },
  {
    name: 'a Destination, with a test of the group',
    where: () => `/destinations/${destination}`,
    reach: async () => {
      await page.getByLabel('Of', { exact: true }).selectOption(group.id);
      await button('Preview').click();
      await first(/POST|httpbin|127\.0\.0\.1/);
    },
  },
  {
    name: 'the Request log of a Destination',
    where: () => `/destinations/${destination}/request-log`,
    reach: () => page.locator('main a[href*="/request-log/"]').first().waitFor(),
  },
  {
    name: 'a record of the Request log',
    where: () => `/destinations/${destination}/request-log`,
    reach: async () => {
      await page.locator('main a[href*="/request-log/"]').first().click();
      await first(/Hostile/);
    },
  },
  {
    name: 'the actor of the group',
    where: () => `/machines/alert_group/${group.id}`,
    reach: () => page.getByRole('img', { name: /State machine/ }).waitFor(),
  },
  {
    name: 'the actors in a state',
    where: () => '/machines/alert_group',
    reach: async () => {
      await page
        .getByRole('button', { name: /^(firing|acknowledged), [12] actors?$/ })
        .first()
        .click();
      await first(/^AG/);
    },
  },
  { name: 'the Audit log', where: () => '/admin/audit-log', reach: () => first(/window\.hit=4/) },
];

test.each(PLACES)('$name keeps its layout and runs nothing', async ({ name, where, reach }) => {
  for (const width of [1_440, 360]) {
    await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
    await page.goto(ready.app_url + where());
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
    await reach();
    await page.screenshot({ path: path.join(shots, `hostile-${name.replaceAll(/\W+/g, '-')}-${width}.png`) });
    expect(await page.evaluate(BROKEN), `${width} px`).toEqual([]);
    expect(await accessibilityFindings(page), `${width} px`).toEqual([]);
  }
  expect(dialogs).toEqual([]);
});
