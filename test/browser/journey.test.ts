/** A person at the UI in real Chromium: signs in, sees an Alert Group arrive, acts, and the other window follows. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let sender: Sender;

beforeAll(async () => {
  tocsin = new Installation();
  ready = await tocsin.start();
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  browser = await launchChromium();
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const row = (page: Page, title: string) => page.getByRole('link', { name: new RegExp(title) }).first();

test('a group arrives live, is acknowledged with a click, and the other window shows it', async () => {
  const here = await (await newProfile(browser)).newPage();
  const there = await (await newProfile(browser)).newPage();
  await signIn(here, ready);
  await signIn(there, ready);
  await here.getByRole('heading', { level: 1, name: /alert groups/i }).waitFor();

  await sender.post({
    groupKey: 'live',
    alerts: [
      {
        labels: { alertname: 'CheckoutDown', cluster: 'eu-1', severity: 'critical' },
        annotations: { summary: 'Checkout answers 5xx' },
      },
    ],
  });
  await row(here, 'CheckoutDown').waitFor({ timeout: 6_000 });
  await row(there, 'CheckoutDown').waitFor({ timeout: 6_000 });

  await row(there, 'CheckoutDown').click();
  await there.getByRole('heading', { level: 1, name: /CheckoutDown/ }).waitFor();
  await row(here, 'CheckoutDown').click();
  // The list, which goes when the page is there, has a button for those that are acknowledged.
  await here.getByRole('heading', { level: 1, name: /CheckoutDown/ }).waitFor();
  await here
    .getByRole('button', { name: /^acknowledge/i })
    .first()
    .click();

  const acknowledged = there.getByText(/acknowledged/i).first();
  await acknowledged.waitFor({ timeout: 5_000 });
  await there
    .getByRole('button', { name: /^resolve/i })
    .first()
    .waitFor({ timeout: 5_000 });
});

test.each([
  ['en-GB', ['Senders and routing', 'Delivery', 'People and access', 'Organization-wide', 'System']],
  ['ru-RU', ['Приём и маршруты', 'Доставка', 'Люди и доступ', 'Для всей организации', 'Система']],
])('the menu says in groups what is where: %s', async (locale, headings) => {
  const desk = await (await newProfile(browser, { locale })).newPage();
  await signIn(desk, ready);
  const groups = desk.getByRole('navigation').getByRole('list');
  await groups.nth(headings.length).waitFor();
  const hrefs = (list: number) =>
    groups
      .nth(list)
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(await hrefs(0)).toEqual(['/alert-groups', '/statistics', '/wall']);
  expect(await Promise.all(headings.map((_, index) => hrefs(index + 1)))).toEqual([
    ['/integrations', '/routes'],
    ['/connections', '/destinations'],
    ['/admin/users', '/admin/service-accounts', '/admin/roles', '/admin/oidc'],
    ['/admin/organization/general', '/admin/link-rules', '/admin/lookup-tables', '/template-preview'],
    ['/admin/audit-log', '/admin/system-status'],
  ]);
  for (const name of headings) {
    expect(await desk.getByRole('navigation').getByRole('list', { name, exact: true }).count(), name).toBe(1);
  }

  const phone = await (await newProfile(browser, { locale, width: 360, height: 740 })).newPage();
  await signIn(phone, ready);
  await phone.getByRole('button', { name: /Open the menu|Открыть меню/ }).click();
  const last = phone.getByRole('dialog').getByRole('list', { name: headings.at(-1)! });
  await last.getByRole('link').last().scrollIntoViewIfNeeded();
  expect(await accessibilityFindings(phone)).toEqual([]);
  const overflow = await phone.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  expect(overflow).toBeLessThanOrEqual(0);
  await last.getByRole('link').last().click();
  await phone.waitForURL('**/admin/system-status');
});

test('Russian is complete on the responder pages', async () => {
  const page = await (await newProfile(browser, { locale: 'ru-RU' })).newPage();
  await signIn(page, ready);
  await page.getByRole('heading', { level: 1, name: /группы алертов|группы оповещений/i }).waitFor();
  await row(page, 'CheckoutDown').click();
  await page.getByRole('heading', { level: 1, name: /CheckoutDown/ }).waitFor();
  const words = await page.locator('main').textContent();
  expect(words).not.toMatch(/\b(Acknowledge|Resolve|Snooze|Timeline|Notes|Delivery)\b/);
});
