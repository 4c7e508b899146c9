/** A Command is taken back while its message is shown (ui §1.5), in real Chromium. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const PASSWORD = 'quietly rolling thunder';

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let sender: Sender;
let api: Api;
let grace: Api;
let desk: Page;
/** Paths of Commands that the desk sent. */
let sent: string[] = [];

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  api = await Api.signIn(ready);
  const { password_setup_link: link } = await api.post('/users', {
    login: 'grace',
    name: 'Grace',
    role: 'responder',
    email: null,
  });
  const token = new URL(link.url).hash.replace('#token=', '');
  await new Api(ready.app_url).post('/password-setups', { token, password: PASSWORD });
  grace = await Api.signIn({ ...ready, login: 'grace', password: PASSWORD });
  desk = await (await newProfile(browser)).newPage();
  desk.on('request', (request) => {
    const [, command] = /\/alert-groups\/(?:\w+\/)?([a-z-]+)$/.exec(request.url()) ?? [];
    if (request.method() === 'POST' && command !== undefined) sent.push(command);
  });
  await signIn(desk, ready);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

/** Raises one Alert and opens the list with its Alert Group alone, which has the focus. */
async function raise(alertname: string, ...more: readonly string[]): Promise<Json> {
  const names = [alertname, ...more];
  for (const name of names) {
    const alerts = [{ labels: { alertname: name, severity: 'warning' } }];
    expect(await sender.post({ groupKey: name, alerts })).toBe(202);
  }
  const find = async () => (await api.get(`/alert-groups?q=${alertname}&sort=started_at`)).items;
  const groups = await until('the Alert Groups', async () => {
    const found = await find();
    return found.length === names.length && found;
  });
  await desk.goto(`${ready.app_url}/alert-groups?q=${alertname}`);
  await row(groups[0]).locator('a').first().focus();
  sent = [];
  return more.length === 0 ? groups[0] : groups;
}

const row = (group: Json): Locator => desk.locator(`[data-group="${group.id}"]`);
const read = (group: Json): Promise<Json> => api.get(`/alert-groups/${group.id}`);
const message = (text: string): Locator => desk.locator('.toast').filter({ hasText: text });
const undo = (): Locator => desk.getByRole('button', { name: 'Undo' });

test('Undo gives an acknowledged group back, and its own message has none', async () => {
  const group = await raise('AckClicked');
  await desk.keyboard.press('a');
  await message(`#${group.number} is yours`).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await undo().click();
  await message(`#${group.number} has no Owner now`).waitFor();
  expect(await read(group)).toMatchObject({ status: 'firing', owner: null });
  expect(await undo().count()).toBe(0);
  expect(await message('is yours').count()).toBe(0);
  // The focus is back in the row.
  await desk.keyboard.press('a');
  await message(`#${group.number} is yours`).waitFor();
  expect(sent).toEqual(['acknowledge', 'unacknowledge', 'acknowledge']);
});

test('z takes back the newest Command, Ctrl+Z the one before it, and neither acts in a field', async () => {
  const [one, two] = await raise('AckKeyed', 'AckKeyedToo');
  await desk.keyboard.press('a');
  await message(`#${one.number} is yours`).waitFor();
  await row(two).locator('a').first().focus();
  await desk.keyboard.press('a');
  await message(`#${two.number} is yours`).waitFor();
  await desk.locator('#list-search').focus();
  await desk.keyboard.press('z');
  await desk.keyboard.press('Control+z');
  await row(two).locator('a').first().focus();
  await desk.keyboard.press('z');
  await message(`#${two.number} has no Owner now`).waitFor();
  expect([await read(one), await read(two)]).toMatchObject([
    { status: 'acknowledged' },
    { status: 'firing', owner: null },
  ]);
  await desk.keyboard.press('Control+z');
  await message(`#${one.number} has no Owner now`).waitFor();
  expect(await read(one)).toMatchObject({ status: 'firing', owner: null });
  await desk.keyboard.press('z');
  await desk.keyboard.press('a');
  await message(`#${two.number} is yours`).waitFor();
  expect(sent).toEqual(['acknowledge', 'acknowledge', 'unacknowledge', 'unacknowledge', 'acknowledge']);
});

test('Undo opens a resolved group, ends a Snooze, and takes back what was given back', async () => {
  const group = await raise('AllWays');
  await desk.keyboard.press('Enter');
  await desk.getByRole('heading', { level: 1, name: 'AllWays' }).waitFor();
  await desk.keyboard.press('r');
  await desk.getByRole('dialog').getByLabel('Note (optional)').fill('a mistake');
  await desk.keyboard.press('Control+Enter');
  await message(`#${group.number} is resolved`).waitFor();
  await undo().click();
  await message(`#${group.number} is firing again`).waitFor();
  expect(await read(group)).toMatchObject({ status: 'firing', owner: null });

  await desk.keyboard.press('s');
  await desk.getByRole('dialog').getByText('For 1 hr').click();
  await desk.keyboard.press('Control+Enter');
  await message(`#${group.number} is snoozed`).waitFor();
  await desk.keyboard.press('z');
  await message(`#${group.number} is awake`).waitFor();
  expect(await read(group)).toMatchObject({ status: 'firing', owner: null });

  await desk.keyboard.press('a');
  await message(`#${group.number} is yours`).waitFor();
  await desk.keyboard.press('u');
  await message(`#${group.number} has no Owner now`).waitFor();
  await undo().click();
  await message(`#${group.number} is yours`).waitFor();
  expect(await read(group)).toMatchObject({ status: 'acknowledged', owner: { login: ready.login } });
});

/** Confirms the Command that the open dialog asks about, after what it says is lost: its button has the focus. */
async function confirm(loss: RegExp): Promise<void> {
  const dialog = desk.getByRole('dialog');
  await dialog.getByText(loss).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
}

test('a takeover, and what ended a Snooze, ask once, have no Undo, and z leaves what was done before', async () => {
  const [mine, theirs] = await raise('TakenOver', 'TakenOverToo');
  await grace.post(`/alert-groups/${theirs.id}/acknowledge`);
  await row(theirs).getByText('Grace').first().waitFor();
  await desk.keyboard.press('a');
  await message(`#${mine.number} is yours`).waitFor();
  await row(theirs).locator('a').first().focus();
  await desk.keyboard.press('a');
  await desk.getByRole('heading', { name: `Take over from Grace: #${theirs.number}` }).waitFor();
  expect(sent).toEqual(['acknowledge']);
  await confirm(/the Owner so far is mentioned/);
  await message(`#${theirs.number} is yours`).waitFor();
  expect(await message(`#${theirs.number} is yours`).getByRole('button', { name: 'Undo' }).count()).toBe(0);
  await desk.keyboard.press('z');
  await message(`#${mine.number} is yours`).getByRole('button', { name: 'Undo' }).click();
  await message(`#${mine.number} has no Owner now`).waitFor();
  await desk.keyboard.press('z');
  expect(await read(theirs)).toMatchObject({ owner: { login: ready.login } });

  await api.post(`/alert-groups/${mine.id}/snooze`, { no_end: true });
  await row(mine).locator('a').first().focus();
  await row(mine).getByText('Snoozed').first().waitFor();
  await desk.keyboard.press('u');
  await confirm(/You cannot bring its Snooze back/);
  await message(`#${mine.number} is awake`).waitFor();
  expect(await undo().count()).toBe(0);
  expect(sent).toEqual(['acknowledge', 'acknowledge', 'unacknowledge', 'unsnooze']);

  await api.post(`/alert-groups/${mine.id}/snooze`, { no_end: true });
  await row(mine).getByText('Snoozed').first().waitFor();
  await row(mine).locator('a').first().focus();
  await desk.keyboard.press('a');
  await desk.getByRole('dialog').getByText('Snoozed now without end.').waitFor();
  await desk.keyboard.press('Escape');
  expect(await read(mine)).toMatchObject({ status: 'snoozed' });
  await desk.keyboard.press('a');
  await confirm(/its Snooze ends/);
  await message(`#${mine.number} is yours`).waitFor();
});

test('the menu of a row and the page of the group ask the same before an Unresolve', async () => {
  const group = await raise('AskedTwice');
  await api.post(`/alert-groups/${group.id}/resolve`);
  await desk.goto(`${ready.app_url}/alert-groups?tab=resolved&q=AskedTwice`);
  const ask = async (open: () => Promise<void>) => {
    await open();
    await desk.getByRole('heading', { name: `Unresolve: #${group.number}` }).waitFor();
    await desk.getByRole('dialog').getByText('It fires again, without an Owner.').waitFor();
  };
  const dialog = desk.getByRole('dialog');
  await ask(async () => {
    await row(group)
      .getByRole('button', { name: `Commands for #${group.number}` })
      .click();
    await row(group).getByRole('button', { name: 'Unresolve' }).click();
  });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await row(group).locator('a').first().click();
  await desk.getByRole('heading', { level: 1, name: 'AskedTwice' }).waitFor();
  await ask(() => desk.getByRole('button', { name: 'Unresolve' }).click());
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await read(group)).toMatchObject({ status: 'resolved' });
  expect(sent).toEqual([]);
  await ask(() => desk.getByRole('button', { name: 'Unresolve' }).click());
  await dialog.getByRole('button', { name: 'Unresolve' }).click();
  await message(`#${group.number} is firing again`).waitFor();
  expect(await read(group)).toMatchObject({ status: 'firing' });
});

test('what somebody else did since is left as it is, in words and with a link', async () => {
  const group = await raise('Overtaken');
  await desk.keyboard.press('a');
  await message(`#${group.number} is yours`).waitFor();
  await grace.post(`/alert-groups/${group.id}/acknowledge`);
  await undo().click();
  const refusal = message('This Alert Group has changed: the Command is not possible any more.');
  await refusal.getByRole('link', { name: `#${group.number}` }).waitFor();
  expect(await undo().count()).toBe(0);
  expect(await read(group)).toMatchObject({ status: 'acknowledged', owner: { login: 'grace' } });
  expect(sent).toEqual(['acknowledge']);
});

test('what the service refuses is told in its words', async () => {
  const group = await raise('Refused');
  await desk.keyboard.press('r');
  await desk.getByRole('dialog').getByRole('textbox').waitFor();
  await desk.keyboard.press('Control+Enter');
  await message(`#${group.number} is resolved`).waitFor();
  expect(
    await sender.post({
      groupKey: 'Refused',
      alerts: [{ status: 'resolved', labels: { alertname: 'Refused', severity: 'warning' } }],
    }),
  ).toBe(202);
  await until('the end of its Alert', async () => (await read(group)).firing_alert_count === 0);
  await undo().click();
  await message('None of its Alerts fires any more.').waitFor();
  expect(sent).toEqual(['resolve', 'unresolve']);
});

test('while an Undo is on its way its button is busy, and a second press does nothing', async () => {
  const group = await raise('PressedTwice');
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await desk.route('**/unacknowledge', async (route) => {
    await held;
    await route.continue();
  });
  await desk.keyboard.press('a');
  await undo().click();
  await desk.locator('.toast [aria-busy="true"]:disabled').waitFor();
  await desk.keyboard.press('z');
  await desk.keyboard.press('Control+z');
  release();
  await message(`#${group.number} has no Owner now`).waitFor();
  await desk.unroute('**/unacknowledge');
  expect(sent).toEqual(['acknowledge', 'unacknowledge']);
});

test('a bulk Command is taken back where that leads back, and what somebody else did is told', async () => {
  const [one, two, snoozed] = await raise('Bulked', 'BulkedToo', 'BulkedAsleep');
  await api.post(`/alert-groups/${snoozed.id}/snooze`, { no_end: true });
  await row(snoozed).getByText('Snoozed').first().waitFor();
  await desk.keyboard.press('Shift+A');
  await desk.getByText('3 selected').waitFor();
  await desk.keyboard.press('a');
  await confirm(/The Snooze of 1 of them ends/);
  await message('Done for 3 Alert Groups').waitFor();
  // Its message goes before the list is read anew.
  let answer = () => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  await desk.route(/\/alert-groups\?/, async (route) => {
    await held;
    await route.continue();
  });
  try {
    await desk.getByRole('button', { name: 'Undo for 2' }).click();
    await message('Done for 2 Alert Groups').waitFor();
    expect(await undo().count()).toBe(0);
  } finally {
    answer();
    await desk.unrouteAll({ behavior: 'wait' });
  }
  expect([await read(one), await read(two), await read(snoozed)]).toMatchObject([
    { status: 'firing', owner: null },
    { status: 'firing', owner: null },
    { status: 'acknowledged', owner: { login: ready.login } },
  ]);
  expect(sent).toEqual(['bulk-commands', 'unacknowledge', 'unacknowledge']);

  await row(one).getByRole('checkbox').check();
  await row(two).getByRole('checkbox').check();
  await desk.getByRole('region').getByRole('button', { name: 'Acknowledge' }).click();
  await message('Done for 2 Alert Groups').getByRole('button', { name: 'Undo' }).waitFor();
  await grace.post(`/alert-groups/${two.id}/acknowledge`);
  await undo().click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByText('Done: 1 · Refused: 1').waitFor();
  await dialog.getByText('This Alert Group has changed: the Command is not possible any more.').waitFor();
  expect([await read(one), await read(two)]).toMatchObject([
    { status: 'firing', owner: null },
    { status: 'acknowledged', owner: { login: 'grace' } },
  ]);
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  // The bar and the message that had the focus are gone.
  await desk.waitForFunction('document.activeElement?.closest("[data-group]")');

  // Of a bulk that did not go through for all, the rest is taken back once its results were read.
  await row(one).getByRole('checkbox').check();
  await row(two).getByRole('checkbox').check();
  await desk.keyboard.press('a');
  await dialog.getByText('Done: 1 · Skipped: 1').waitFor();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await message('Done for 1 Alert Group').getByRole('button', { name: 'Undo', exact: true }).click();
  await until('the first to be given back', async () => (await read(one)).status === 'firing');
  expect(await read(two)).toMatchObject({ owner: { login: 'grace' } });
});

test('what a bulk Command or its Undo was refused is told on another page, with the reasons', async () => {
  const [one, two] = await raise('BulkedLeft', 'BulkedLeftToo');
  const dialog = desk.getByRole('dialog');
  const overtaken = 'This Alert Group has changed: the Command is not possible any more.';
  const open = async (group: Json) => {
    await row(group).locator('a').first().click();
    await desk.getByRole('heading', { level: 1, name: 'BulkedLeft' }).waitFor();
  };
  await desk.keyboard.press('Shift+A');
  await desk.getByText('2 selected').waitFor();
  await desk.keyboard.press('a');
  await message('Done for 2 Alert Groups').waitFor();
  await open(one);
  for (const group of [one, two]) await grace.post(`/alert-groups/${group.id}/acknowledge`);
  await desk.keyboard.press('z');
  await dialog.getByText('Refused: 2').waitFor();
  expect(await dialog.getByText(overtaken).count()).toBe(2);
  expect(await desk.getByText('not worked through').count()).toBe(0);
  expect(await accessibilityFindings(desk)).toEqual([]);
  await dialog.getByRole('link', { name: `#${two.number}` }).click();
  await desk.waitForURL(`**/alert-groups/${two.id}`);
  await dialog.waitFor({ state: 'detached' });

  // The list is left before the answer.
  await grace.post(`/alert-groups/${one.id}/unacknowledge`);
  await desk.goto(`${ready.app_url}/alert-groups?q=BulkedLeft`);
  await row(one).locator('a').first().focus();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await desk.route('**/bulk-commands', async (route) => {
    await held;
    await route.continue();
  });
  await desk.keyboard.press('Shift+A');
  await desk.getByText('2 selected').waitFor();
  await desk.keyboard.press('a');
  await open(one);
  release();
  await dialog.getByText('Done: 1 · Skipped: 1').waitFor();
  await dialog.getByText('Owned by Grace.').waitFor();
  await desk.unroute('**/bulk-commands');
  await desk.keyboard.press('Escape');
  await message('Done for 1 Alert Group').getByRole('button', { name: 'Undo', exact: true }).click();
  await until('the first to be given back', async () => (await read(one)).status === 'firing');
  expect(await read(two)).toMatchObject({ owner: { login: 'grace' } });
});

test('the message stays while it has the focus or the pointer, and Tab reaches its button', async () => {
  const group = await raise('Lingering');
  await desk.clock.install();
  await desk.reload();
  await row(group).locator('a').first().focus();
  await desk.keyboard.press('a');
  await undo().waitFor();
  await desk.locator('main :is(a, button):visible').last().focus();
  await desk.keyboard.press('Tab');
  expect(await desk.evaluate('document.activeElement.textContent.trim()')).toBe('Undo');
  await desk.clock.runFor(30_000);
  expect(await undo().count()).toBe(1);
  await desk.mouse.move(0, 0);
  await undo().hover();
  await row(group).locator('a').first().focus();
  await desk.clock.runFor(30_000);
  expect(await undo().count()).toBe(1);
  await desk.mouse.move(0, 0);
  await desk.clock.runFor(9_000);
  expect(await undo().count()).toBe(1);
  await desk.clock.runFor(1_500);
  await undo().waitFor({ state: 'detached' });
  expect(await read(group)).toMatchObject({ status: 'acknowledged' });
});

test('while the service is away an Undo is not sent, says so, and stays', async () => {
  const group = await raise('AckedAway');
  await desk.keyboard.press('a');
  await undo().waitFor();
  // The message stays for as long as it takes.
  await undo().hover();
  await desk.context().setOffline(true);
  try {
    await desk.getByText('nothing is sent until it does').waitFor();
    await desk.keyboard.press('z');
    await message('This was not sent, and nothing was changed').waitFor();
    await undo().focus();
    await desk.keyboard.press('Enter');
    expect(await desk.evaluate('document.activeElement.textContent.trim()')).toBe('Undo');
    expect(await message('This was not sent').count()).toBe(1);
  } finally {
    await desk.context().setOffline(false);
  }
  await desk.locator('.toast [aria-disabled="true"]').waitFor({ state: 'detached' });
  await undo().click();
  await message(`#${group.number} has no Owner now`).waitFor();
  expect(sent).toEqual(['acknowledge', 'unacknowledge']);
});

test('whoever signs in next is not offered to take back what was done before', async () => {
  const group = await raise('Handed');
  const page = await (await newProfile(browser)).newPage();
  await signIn(page, ready);
  await page.locator(`[data-group="${group.id}"] a`).first().focus();
  await page.keyboard.press('a');
  const offered = page.getByRole('button', { name: 'Undo' });
  await offered.waitFor();
  await page.getByRole('button', { name: 'Menu of admin' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/sign-in');
  await offered.waitFor({ state: 'detached', timeout: 5_000 });
  await page.context().close();
});
