/** Drives the UI through what people do, in a real Chromium on the mock service: `node ui/dev/behave.ts [part of a name]`. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type Look, launchBrowser, openStage, type Stage } from './browser.ts';
import { calmStatus, everyNotice, troubledStatus } from './mock-status.ts';

const DESK: Look = { width: 1440, theme: 'light', language: 'en' };
const PHONE: Look = { width: 360, theme: 'light', language: 'en' };

const row = (page: Page, number: number) =>
  page
    .locator('[data-group]')
    .filter({ hasText: `#${number} ` })
    .first();
const rowLink = (page: Page, id: string) => page.locator(`[data-group="${id}"] a`).first();
const AG = (n: number) => `AG${String(n).padStart(12, '0')}`;

const JOURNEYS: Record<string, (stage: Stage) => Promise<void>> = {
  'signing in leads back to where one wanted to go': async (stage) => {
    stage.mock.api.signOut();
    const page = await stage.open(DESK, `/alert-groups/${AG(1)}?order=asc`);
    await page.getByLabel('Login').fill('ada');
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Login, password or code is wrong.').waitFor();
    await page.getByLabel('Password').fill('secret');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'DiskWillFillIn4Hours' }).waitFor();
    assert.equal(new URL(page.url()).search, '?order=asc');
  },

  'too many attempts count down': async (stage) => {
    stage.mock.api.signOut();
    const page = await stage.open(DESK, '/sign-in');
    await page.getByLabel('Login').fill('ada');
    await page.getByLabel('Password').fill('slow');
    await page.keyboard.press('Enter');
    await page.getByText(/Try again in [78] s/).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Sign in', exact: true }).isDisabled(), true);
  },

  'a session that ends leads to sign-in and says so': async (stage) => {
    const page = await stage.open(DESK, '/routes');
    await page.getByText('Payments').first().waitFor();
    stage.mock.api.signOut();
    await page.getByLabel('Move Payments down').click();
    await page.getByText('Your session ended.').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('return_to'), '/routes');
  },

  'a second factor is set up in the profile, and the codes must be stored first': async (stage) => {
    const page = await stage.open(DESK, '/profile');
    await page.getByRole('button', { name: 'Set up two-factor' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('6-digit code').fill('123456');
    const goOn = dialog.getByRole('button', { name: 'Continue' });
    assert.equal(await goOn.isDisabled(), true);
    await dialog.getByLabel('I have stored them').check();
    await goOn.click();
    await page.getByText('10 recovery codes left').waitFor();
  },

  'signing out everywhere ends on the sign-in page': async (stage) => {
    const page = await stage.open(DESK, '/profile');
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.waitForURL('**/sign-in');
  },

  'a wrong present password ends no session': async (stage) => {
    const page = await stage.open(DESK, '/profile');
    await page.getByLabel('Present password').fill('wrong');
    await page.getByLabel('New password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('is wrong').waitFor();
    assert.equal(new URL(page.url()).pathname, '/profile');
  },

  'a password is set from a link whose token leaves the address bar': async (stage) => {
    stage.mock.api.signOut();
    const page = await stage.open(DESK, '/password-setup#token=fresh');
    await page.waitForURL((url) => url.hash === '');
    await page.getByLabel('New password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText('Sign in with it').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.waitForURL('**/sign-in');
  },

  'a session that must enrol goes on where it wanted to': async (stage) => {
    Object.assign(stage.mock.api.data.session, { state: 'totp_enrolment_required' });
    const page = await stage.open(DESK, '/admin/users');
    await page.waitForURL('**/totp-enrolment**');
    await page.getByLabel('6-digit code').fill('123456');
    await page.getByLabel('I have stored them').check();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('**/admin/users');
  },

  'signing out ends on the sign-in page, from the group page too': async (stage) => {
    const page = await stage.open(DESK, `/alert-groups/${AG(1)}`);
    await page.getByRole('button', { name: 'Menu of Ada Lovelace' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('return_to'), null);
  },

  'keys move, open, select and act': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    assert.equal(await rowLink(page, AG(0)).evaluate((link) => link === document.activeElement), true);
    await page.keyboard.press('a');
    await page.getByText('#1200 is yours').waitFor();
    assert.equal(stage.mock.api.data.groups[0]!.status, 'acknowledged');
    await page.keyboard.press('r');
    await page.getByRole('dialog', { name: 'Resolve #1200' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await rowLink(page, AG(0)).evaluate((link) => link === document.activeElement), true);
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'KubePodCrashLooping' }).waitFor();
  },

  'new groups wait behind a button and never move rows': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups');
    await row(page, 1200).hover();
    const before = await row(page, 1200).boundingBox();
    stage.mock.api.raise('JustBroke');
    const pill = page.getByRole('button', { name: '1 new' });
    await pill.waitFor({ timeout: 5_000 });
    assert.deepEqual(await row(page, 1200).boundingBox(), before);
    await pill.click();
    await page.getByText('JustBroke').first().waitFor();
  },

  'rows change in place and stay, dimmed, when they no longer fit': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups?tab=firing');
    await rowLink(page, AG(0)).waitFor();
    stage.mock.api.change(AG(0), { status: 'snoozed', owner: null });
    await page.locator(`[data-group="${AG(0)}"].dimmed`).waitFor({ timeout: 5_000 });
  },

  'bulk Commands tell what did not go through': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups');
    await page.getByLabel('Select #1200').click();
    await page.getByLabel('Select #1195').click();
    await page.getByRole('region', { name: 'Commands for the selection' }).getByText('Acknowledge').click();
    await page.getByText('Owned by Linus Ek.').waitFor();
    assert.equal(stage.mock.api.data.groups.find((group) => group.number === 1200)?.status, 'acknowledged');
    assert.equal(await page.getByText('1 selected').count(), 1);
    await page.keyboard.press('Escape');
    const focused = page.locator('[data-group]:focus-within');
    await focused.filter({ hasText: '#1195' }).waitFor();
  },

  'Back brings back filters and the place on the page': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups?severity=critical');
    await page.evaluate(() => window.scrollTo(0, 500));
    const scrolled = await page.evaluate(() => window.scrollY);
    await page.locator('[data-group] a').nth(12).click();
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    assert.equal(await page.evaluate(() => window.scrollY), 0);
    await page.goBack();
    await page.getByRole('button', { name: 'Remove: of severity Critical' }).waitFor();
    await page.waitForFunction((top) => Math.abs(window.scrollY - top) < 2, scrolled);
  },

  'a number opens its group': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('#1198');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'HighErrorRate checkout' }).waitFor();
  },

  'a label becomes a filter, and with Alt an exclusion': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups');
    await page
      .locator(`[data-group="${AG(0)}"]`)
      .getByRole('button', { name: 'cluster' })
      .click();
    await page.getByRole('button', { name: 'Remove: cluster="prod-eu"' }).waitFor();
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page
      .locator(`[data-group="${AG(0)}"]`)
      .getByRole('button', { name: 'cluster' })
      .click({ modifiers: ['Alt'] });
    await page.getByRole('button', { name: 'Remove: cluster!="prod-eu"' }).waitFor();
  },

  'Commands on the group page follow what is allowed': async (stage) => {
    const page = await stage.open(PHONE, `/alert-groups/${AG(0)}`);
    const bar = page.getByRole('group', { name: 'Commands' });
    await bar.getByRole('button', { name: 'Acknowledge' }).click();
    await bar.getByRole('button', { name: 'Unacknowledge' }).waitFor();
    assert.equal(await bar.evaluate((element) => element === document.activeElement), true);
    assert.match((await bar.getByRole('button').first().textContent()) ?? '', /Resolve/);
    await bar.getByRole('button', { name: 'Resolve' }).click();
    await page.getByLabel('Note (optional)').fill('done');
    await page.keyboard.press('Control+Enter');
    await bar.getByRole('button', { name: 'Unresolve' }).waitFor();
    await bar.getByRole('button', { name: 'Unresolve' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unresolve' }).click();
    await bar.getByRole('button', { name: 'Acknowledge' }).waitFor();
  },

  'a Snooze without end is confirmed, and a past time is refused': async (stage) => {
    const page = await stage.open(DESK, `/alert-groups/${AG(0)}`);
    await page.keyboard.press('s');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Date and time').fill('2020-01-01T09:00');
    await dialog.getByRole('button', { name: 'Snooze' }).click();
    await dialog.getByText('This time has passed').waitFor();
    await dialog.getByText('Without end').click();
    await dialog.getByRole('button', { name: 'Snooze' }).click();
    assert.equal(stage.mock.api.data.groups[0]!.status, 'firing');
    await dialog.getByRole('button', { name: 'Yes, without end' }).click();
    await page.getByText('#1200 is snoozed').waitFor();
    assert.equal(stage.mock.api.data.groups[0]!.snooze_until, null);
  },

  'a refusal says why and shows the state anew': async (stage) => {
    const page = await stage.open(DESK, `/alert-groups/${AG(0)}`);
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
    const group = stage.mock.api.data.groups[0]!;
    stage.mock.api.data.groups[0] = { ...group, status: 'resolved', allowed_commands: ['add_note'] };
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('The Alert Group is resolved already.').waitFor();
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor({ state: 'detached' });
  },

  'an open dialog says when somebody was faster': async (stage) => {
    const page = await stage.open(DESK, `/alert-groups/${AG(0)}`);
    await page.keyboard.press('r');
    await page.getByLabel('Note (optional)').fill('half a sentence');
    stage.mock.api.change(AG(0), { status: 'resolved' });
    await page.getByText('the Command is not possible any more').waitFor({ timeout: 5_000 });
    assert.equal(await page.getByLabel('Note (optional)').inputValue(), 'half a sentence');
  },

  'a Note is sent with Ctrl+Enter and its draft survives leaving': async (stage) => {
    const page = await stage.open(DESK, `/alert-groups/${AG(0)}`);
    await page.keyboard.press('n');
    await page.keyboard.type('rolled back');
    await page.getByRole('link', { name: 'Routes' }).first().click();
    await page.getByRole('heading', { name: 'Routes' }).waitFor();
    await page.goBack();
    await page.waitForFunction(
      () => (document.getElementById('note-field') as HTMLTextAreaElement | null)?.value === 'rolled back',
    );
    await page.getByLabel('Add a Note').focus();
    await page.keyboard.press('Control+Enter');
    await page.getByText('Note added').waitFor();
    assert.equal(stage.mock.api.data.notes.get(AG(0))?.length, 1);
  },

  'a double press sends once': async (stage) => {
    const page = await stage.open(DESK, '/destinations/new?type=webhook');
    await page.getByLabel('Name', { exact: true }).fill('Twice');
    await page.getByLabel('URL').fill('https://x.example.org');
    await page.getByRole('button', { name: 'Create', exact: true }).dblclick();
    await page.getByText('Copy it now').waitFor();
    assert.equal(stage.mock.api.data.destinations.filter(({ name }) => name === 'Twice').length, 1);
    await page.keyboard.press('Escape');
    assert.equal(await page.getByText('Copy it now').count(), 1, 'closes only by its button');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('heading', { level: 1, name: 'Twice' }).waitFor();
  },

  'leaving a changed form asks, also with Back': async (stage) => {
    const page = await stage.open(DESK, '/integrations');
    await page.getByRole('link', { name: 'Create an Integration' }).click();
    await page.getByLabel('Name', { exact: true }).fill('x');
    await page.goBack();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();
    assert.match(page.url(), /\/integrations\/new$/);
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'x');
    await page.getByRole('link', { name: 'Routes' }).first().click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Routes' }).waitFor();
  },

  'a conflict offers both versions': async (stage) => {
    const page = await stage.open(DESK, '/routes/RT000000000003');
    await page.getByLabel('Name', { exact: true }).fill('Search mine');
    const { routes } = stage.mock.api.data;
    routes[2] = { ...routes[2]!, description: 'theirs', etag: '"9"' };
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByText('Search mine is saved').waitFor();
    assert.equal(stage.mock.api.data.routes[2]!.description, '');
    assert.equal(await page.getByText('Not saved yet').count(), 0);
    assert.equal(await page.getByText('while you were editing').count(), 0, 'one’s own save is no conflict');
  },

  'an untouched form is not changed': async (stage) => {
    for (const path of [
      '/routes/RT000000000001',
      '/integrations/NT000000000001/edit',
      '/destinations/DS000000000001/edit',
    ]) {
      const page = await stage.open(DESK, path);
      await page.getByRole('button', { name: 'Save' }).waitFor();
      assert.equal(await page.getByText('Not saved yet').count(), 0, path);
    }
  },

  'a Route moves and the focus stays on its button': async (stage) => {
    const page = await stage.open(DESK, '/routes');
    await page.getByLabel('Move Search up').click();
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Move Search up');
    assert.deepEqual(
      stage.mock.api.data.routes.map(({ name }) => name),
      ['Payments', 'Search', 'Platform', 'Default'],
    );
  },

  'a Route with open groups is emptied, then deleted': async (stage) => {
    const page = await stage.open(DESK, '/routes/RT000000000001');
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Move 5 Alert Groups to Default' }).click();
    await page.getByText('5 Alert Groups moved').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Routes' }).waitFor();
    assert.equal(stage.mock.api.data.routes.length, 3);
  },

  'an Integration is deleted only after its name was typed': async (stage) => {
    const page = await stage.open(DESK, '/integrations/NT000000000002');
    await page.getByRole('button', { name: 'Delete' }).click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
    assert.equal(await confirm.isDisabled(), true);
    await page.getByLabel(/to confirm/).fill('Prometheus staging');
    await confirm.click();
    await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor();
    assert.equal(stage.mock.api.data.integrations.length, 2);
  },

  'theme and language change at once and are remembered': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups');
    await page.getByRole('button', { name: 'Menu of Ada Lovelace' }).click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('ru');
    await page.getByRole('link', { name: 'Группы алертов' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Группы алертов' }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'ru');
  },

  'a stream that stays down is said, and everything is read anew afterwards': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups');
    await page.getByText('KubePodCrashLooping').first().waitFor();
    stage.mock.refuseStreams(true);
    await page.getByText(/Not live since/).waitFor({ timeout: 20_000 });
    stage.mock.api.change(AG(0), { title: 'Changed meanwhile' });
    stage.mock.refuseStreams(false);
    await page.getByText('Changed meanwhile').waitFor({ timeout: 15_000 });
    await page.getByText(/Not live since/).waitFor({ state: 'detached' });
  },

  'a service that is away is said and tried again': async (stage) => {
    const page = await stage.open(DESK, `/alert-groups/${AG(0)}`);
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('This was not sent, and nothing was changed.').first().waitFor();
  },

  'notices come and go by themselves, the gravest first, and keep the focus': async (stage) => {
    const page = await stage.open(DESK, '/alert-groups');
    await page.getByLabel('Search', { exact: false }).first().focus();
    const focused = () => page.evaluate(() => document.activeElement?.outerHTML);
    const before = await focused();
    stage.mock.api.data.notices = everyNotice();
    stage.mock.api.hint('system-notices', null);
    await page.getByText(/No replica has led since/).waitFor();
    const texts = await page.locator('.notice').allTextContents();
    assert.equal(texts.length, 2);
    assert.match(texts[1] ?? '', /Tocsin was away until/);
    assert.equal(await focused(), before);
    stage.mock.api.data.notices = [];
    stage.mock.api.hint('system-notices', null);
    await page.locator('.notice').first().waitFor({ state: 'detached' });
  },

  'the System status says what is wrong, leads there, and follows its hints': async (stage) => {
    stage.mock.api.data.status = troubledStatus();
    const page = await stage.open(DESK, '/admin/system-status');
    await page.getByRole('link', { name: 'The last outgoing heartbeat failed' }).click();
    await page.waitForFunction(() => window.scrollY > 0);
    assert.equal(new URL(page.url()).hash, '#heartbeat');
    await page.goBack();
    await page.waitForFunction(() => window.scrollY === 0);
    stage.mock.api.data.status = calmStatus();
    stage.mock.api.hint('system-status', null);
    await page.getByText('Everything works').waitFor();
    assert.equal(await page.getByText('89 of 256 shards').count(), 1);
  },

  'a large text and a small screen scroll in one direction only': async (stage) => {
    for (const path of [
      '/alert-groups',
      `/alert-groups/${AG(0)}`,
      '/routes/RT000000000001',
      '/integrations/NT000000000001',
      '/admin/system-status',
    ]) {
      const page = await stage.open(PHONE, path);
      await page.evaluate(() => {
        document.documentElement.style.fontSize = '200%';
      });
      const [wide, seen] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.documentElement.clientWidth,
      ]);
      assert.ok(wide! <= seen!, `${path}: ${wide} > ${seen}`);
    }
  },
};

const part = process.argv[2] ?? '';
const browser = await launchBrowser();
let port = 4700;
let failed = 0;
for (const [name, journey] of Object.entries(JOURNEYS)) {
  if (!name.includes(part)) continue;
  port += 1;
  const stage = await openStage(browser, port);
  try {
    await journey(stage);
    assert.deepEqual(stage.trouble, []);
    process.stdout.write(`ok   ${name}\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAIL ${name}\n     ${String(error).split('\n').slice(0, 4).join('\n     ')}\n`);
  }
  await stage.close();
}
await browser.close();
process.exitCode = failed === 0 ? 0 : 1;
