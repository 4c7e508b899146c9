/** What Admins do with Lookup tables and templates, in real Chromium. */
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../harness/api.ts';
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

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  api = await Api.signIn(ready);
  desk = await (await newProfile(browser)).newPage();
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const csvOf = (keys: readonly string[]) => ['key,chat', ...keys.map((key) => `${key},#chat`)].join('\n');

async function importCsv(keys: readonly string[]): Promise<void> {
  const buffer = Buffer.from(csvOf(keys));
  await desk.locator('input[type=file]').setInputFiles({ name: 'teams.csv', mimeType: 'text/csv', buffer });
  await desk.getByText(`${keys.length.toLocaleString('en-GB')} rows`, { exact: true }).waitFor();
}

test('a row that is refused among thousands comes into sight with what is wrong', async () => {
  await desk.goto(`${ready.app_url}/admin/lookup-tables/new`);
  await desk.getByLabel('Name', { exact: true }).fill('teams');
  const keys = Array.from({ length: 3_000 }, (_, row) => `team-${row}`);
  await importCsv(keys.with(2_500, 'team-7'));
  await desk.getByRole('button', { name: 'Create', exact: true }).click();
  await desk.getByText('Row 2501: This is there twice.').waitFor();
  const wrong = desk.getByLabel('Key, row 2501', { exact: true });
  await desk.waitForFunction('document.activeElement.getAttribute("aria-label") === "Key, row 2501"');
  expect(await accessibilityFindings(desk)).toEqual([]);
  await wrong.fill('team-2500');
  await desk.getByRole('button', { name: 'Create', exact: true }).click();
  await heading(desk, 'teams').waitFor();
  const { items } = await api.get('/lookup-tables');
  expect(items[0].entries).toHaveLength(3_000);
});

test('more rows than a table may have are refused, none is left out in silence', async () => {
  await desk.goto(`${ready.app_url}/admin/lookup-tables/new`);
  await desk.getByLabel('Name', { exact: true }).fill('too many');
  await importCsv(Array.from({ length: 10_001 }, (_, row) => `k${row}`));
  await desk.getByRole('button', { name: 'Create', exact: true }).click();
  await desk.getByText('This is too long.').waitFor();
  expect((await api.get('/lookup-tables')).items).toHaveLength(1);
});

test('a request of a webhook is tried on the page of previews', async () => {
  await desk.goto(`${ready.app_url}/template-preview`);
  await desk.getByLabel('Kind').selectOption('Webhook request');
  await desk
    .locator('.cm-content')
    .fill('POST https://chat.example.org/{{ .AlertGroup.Number }}\n\n{{ toJson .Notify }}');
  await desk.locator('pre').getByText('POST https://chat.example.org/1').waitFor();
});

test('a mistake in a template is heard in the editor, and what can be called is at hand', async () => {
  const editor = desk.locator('.cm-content');
  await editor.fill('POST https://chat.example.org/{{ nope }}');
  await desk.getByText('Line 1, column 34: function "nope" is not defined').first().waitFor();
  expect(await editor.getAttribute('aria-invalid')).toBe('true');
  expect(await editor.getAttribute('aria-description')).toContain('"nope" is not defined');
  expect(await desk.locator('.cm-lintRange-error').allTextContents()).toEqual(['nope']);
  expect(await desk.locator('.cm-gutter-lint .cm-lint-marker-error').count()).toBe(1);
  await desk.getByText('Snippets, fields and functions').click();
  await desk.getByText('replace old new s').waitFor();
  const [docs] = await Promise.all([
    desk.waitForEvent('popup'),
    desk.getByRole('link', { name: 'Templates, explained with examples' }).click(),
  ]);
  await docs.getByRole('heading', { level: 1, name: 'Templates' }).waitFor();
  expect(new URL(docs.url()).pathname).toBe('/docs/templates');
  await docs.close();
  expect(await accessibilityFindings(desk)).toEqual([]);
});

test('a snippet is put where the cursor is, and the message is shown as each messenger shows it', async () => {
  await desk.goto(`${ready.app_url}/template-preview`);
  const editor = desk.locator('.cm-content');
  await editor.fill('**Late** for  now');
  await desk.keyboard.press('Control+End');
  for (const _ of ' now') await desk.keyboard.press('ArrowLeft');
  await desk.getByText('Snippets, fields and functions').click();
  await desk.getByRole('button', { name: 'For how long' }).click();
  await until(
    'the text',
    async () =>
      (await editor.textContent()) ===
      '**Late** for {{ since .AlertGroup.StartedAt | humanizeDuration }} now',
  );
  const post = desk.getByRole('figure').first();
  await post.getByText(/for \d.* now/).waitFor();
  expect(await post.locator('.text strong').allTextContents()).toContain('Late');
  await post.locator('.buttons').getByText('Resolve').waitFor();
  const [written, shown] = await Promise.all([editor.boundingBox(), post.boundingBox()]);
  expect(shown!.x).toBeGreaterThan(written!.x + written!.width);
  expect(Math.abs(shown!.y - written!.y)).toBeLessThan(200);
  await desk.getByLabel('Format').selectOption('Channel bot (HTML)');
  await desk
    .locator('figure.html')
    .first()
    .getByText(/for \d.* now/)
    .waitFor();
  await desk.getByText('The text with its markup').click();
  await desk.locator('pre').getByText('Late').waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.screenshot({ path: path.join(shots, 'template-preview.png'), fullPage: true });
});

test('a template is tried on the Alert Group that is chosen as the sample', async () => {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  for (const pod of ['web-1', 'web-2']) {
    const alerts = [{ labels: { alertname: `Sample-${pod}`, pod, severity: 'warning' } }];
    expect(await sender.post({ groupKey: pod, alerts })).toBe(202);
  }
  const group = await until(
    'the older Alert Group',
    async () => (await api.get('/alert-groups?q=Sample-web-1')).items[0],
  );
  await until('the newer one', async () => (await api.get('/alert-groups?q=Sample-web-2')).items[0]);
  await desk.goto(`${ready.app_url}/template-preview`);
  await desk.locator('.cm-content').fill('Number {{ .AlertGroup.Number }} is of {{ .CommonLabels.pod }}');
  await desk.getByLabel('Sample').selectOption({ label: `#${group.number} Sample-web-1` });
  await desk.getByText('Made of this Alert Group').waitFor();
  await desk.getByRole('figure').first().getByText(`Number ${group.number} is of web-1`).waitFor();
});

test('the editor is reached and left by Tab', async () => {
  const inEditor =
    'document.activeElement.shadowRoot?.activeElement?.classList.contains("cm-content") ?? false';
  await desk.getByLabel('Longest').focus();
  await desk.keyboard.press('Tab');
  expect(await desk.evaluate(inEditor)).toBe(true);
  await desk.keyboard.press('Tab');
  expect(await desk.evaluate(inEditor)).toBe(false);
  expect(await desk.evaluate('document.activeElement.textContent')).toBe('Snippets, fields and functions');
});

test('the preview stands beside the editor in the form of a Route, too', async () => {
  const { items } = await api.get('/routes');
  await desk.goto(`${ready.app_url}/routes/${items[0].id}`);
  await desk
    .getByRole('button', { name: /^Write another one/ })
    .first()
    .click();
  const pane = desk.locator('.pane').first();
  await pane.getByRole('figure').first().waitFor();
  const [written, shown] = await Promise.all([
    desk.locator('.cm-content').first().boundingBox(),
    pane.boundingBox(),
  ]);
  expect(shown!.x).toBeGreaterThan(written!.x + written!.width);
  expect(await accessibilityFindings(desk)).toEqual([]);
});

test('a mistake that a save is refused for takes the focus to its editor', async () => {
  await desk.goto(`${ready.app_url}/admin/link-rules/new`);
  await desk.getByLabel('Name', { exact: true }).fill('Wrong');
  await desk.locator('.cm-content').fill('{{ nope }}');
  await desk.getByRole('button', { name: 'Create', exact: true }).click();
  await until('the editor has the focus', () =>
    desk.evaluate<boolean>(
      'document.activeElement.shadowRoot?.activeElement?.classList.contains("cm-content")',
    ),
  );
});

test('a sample with a very long title makes no page wider', async () => {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alerts = [{ labels: { alertname: 'Long'.repeat(60), severity: 'warning' } }];
  expect(await sender.post({ groupKey: 'long', alerts })).toBe(202);
  await until('the Alert Group', async () => (await api.get('/alert-groups?q=LongLong')).items[0]);
  const phone = await (await newProfile(browser, { width: 360, height: 740 })).newPage();
  await signIn(phone, ready);
  await phone.goto(`${ready.app_url}/template-preview`);
  await phone
    .getByLabel('Sample')
    .getByRole('option', { name: /LongLong/ })
    .waitFor({ state: 'attached' });
  const wider = await phone.evaluate('document.documentElement.scrollWidth > window.innerWidth');
  expect(wider).toBe(false);
});
