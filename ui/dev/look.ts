/**
 * Looks at every page: screenshots into a folder, axe-core, sideways scrolling, console errors.
 * `node ui/dev/look.ts <folder> [part of a page's name] [looks]`; the looks are `all`, `dark`, `ru`, or light
 * English ones.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import {
  findAxeViolations,
  type Look,
  launchBrowser,
  openStage,
  type Stage,
  scrollsSideways,
} from './browser.ts';
import { everyNotice, troubledStatus } from './mock-status.ts';

interface Shot {
  readonly name: string;
  readonly path: string;
  /** Changes the mock before the page is opened. */
  readonly before?: (stage: Stage) => void;
  readonly act?: (page: Page, stage: Stage) => Promise<void>;
}

/** The editor is loaded and what the template gives is there. */
async function previewShown(page: Page): Promise<void> {
  await page.locator('.cm-content').first().waitFor();
  await page.locator('pre').first().waitFor();
}

const AG = 'AG000000000000';
/** The session waits for a second factor, or for one to be set up. */
const limited = (state: 'totp_required' | 'totp_enrolment_required') => (stage: Stage) => {
  Object.assign(stage.mock.api.data.session, { state });
};

const SHOTS: readonly Shot[] = [
  { name: 'sign-in', path: '/sign-in', before: ({ mock }) => mock.api.signOut() },
  { name: 'sign-in-totp', path: '/alert-groups', before: limited('totp_required') },
  {
    name: 'sign-in-totp-wrong',
    path: '/alert-groups',
    before: limited('totp_required'),
    act: async (page) => {
      await page.getByRole('textbox').fill('000000');
      await page.getByRole('alert').getByText('wrong').waitFor();
    },
  },
  { name: 'totp-enrolment', path: '/profile', before: limited('totp_enrolment_required') },
  {
    name: 'totp-enrolment-codes',
    path: '/profile',
    before: limited('totp_enrolment_required'),
    act: async (page) => {
      await page.getByRole('textbox').fill('123456');
      await page.getByText('I have stored them').waitFor();
    },
  },
  { name: 'password-setup', path: '/password-setup#token=fresh', before: ({ mock }) => mock.api.signOut() },
  {
    name: 'password-setup-short',
    path: '/password-setup#token=fresh',
    before: ({ mock }) => mock.api.signOut(),
    act: async (page) => {
      await page.getByLabel('New password').fill('short');
      await page.getByRole('button', { name: 'Set the password' }).click();
      await page.getByText('This is too short').waitFor();
    },
  },
  { name: 'password-setup-unknown', path: '/password-setup', before: ({ mock }) => mock.api.signOut() },
  { name: 'profile', path: '/profile' },
  {
    name: 'profile-wrong-password',
    path: '/profile',
    act: async (page) => {
      await page.getByLabel('Present password').fill('wrong');
      await page.getByLabel('New password').fill('correct horse battery');
      await page.getByRole('button', { name: 'Change the password' }).click();
      await page.getByText('is wrong').waitFor();
    },
  },
  {
    name: 'profile-enrol',
    path: '/profile',
    act: async (page) => {
      await page.getByRole('button', { name: 'Set up two-factor' }).click();
      await page.getByRole('img', { name: 'QR code' }).waitFor();
    },
  },
  {
    name: 'profile-two-factor',
    path: '/profile#two-factor',
    before: ({ mock }) => void Object.assign(mock.api.data.session.user, { totp_enabled: true }),
    act: async (page) => {
      await page.getByRole('button', { name: 'Remove two-factor' }).click();
      await page.getByRole('dialog').locator('input').fill('slow');
      await page.getByRole('dialog').getByRole('button', { name: 'Remove two-factor' }).click();
      await page.getByText('Too many attempts').waitFor();
    },
  },
  { name: 'users', path: '/admin/users' },
  { name: 'users-nothing', path: '/admin/users?q=nobody&page=3' },
  {
    name: 'user-new',
    path: '/admin/users/new',
    act: async (page) => {
      await page.getByLabel('Login').fill('ken');
      await page.getByRole('button', { name: 'Create and get a link' }).click();
      await page.getByText('This is needed').waitFor();
    },
  },
  {
    name: 'user-link',
    path: '/admin/users/new',
    act: async (page) => {
      await page.getByLabel('Login').fill('ken');
      await page.getByLabel('Name').fill('Ken Thompson');
      await page.getByRole('button', { name: 'Create and get a link' }).click();
      await page.getByText('Hand this link').waitFor();
    },
  },
  { name: 'user', path: '/admin/users/SR000000000002' },
  { name: 'user-oidc', path: '/admin/users/SR000000000003' },
  { name: 'user-disabled', path: '/admin/users/SR000000000004' },
  { name: 'user-deleted', path: '/admin/users/SR000000000005' },
  {
    name: 'user-last-admin',
    path: '/admin/users/SRADA000000000',
    act: async (page) => {
      await page.getByRole('button', { name: 'Disable' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
      await page.getByText('last active Admin').waitFor();
    },
  },
  { name: 'list', path: '/alert-groups' },
  { name: 'list-resolved', path: '/alert-groups?tab=all&sort=-last_changed_at' },
  {
    name: 'list-filtered',
    path: '/alert-groups?severity=critical&urgent=true&label=cluster%3D%22prod-eu%22&range=24h&nope=1&tab=x',
  },
  { name: 'list-nothing', path: '/alert-groups?q=zzz' },
  {
    name: 'list-quiet',
    path: '/alert-groups',
    before: ({ mock }) => {
      mock.api.data.groups = [];
    },
  },
  {
    name: 'list-first',
    path: '/alert-groups',
    before: ({ mock }) => {
      mock.api.data.groups = [];
      mock.api.data.integrations = mock.api.data.integrations.filter((each) => each.builtin);
    },
  },
  {
    name: 'list-error',
    path: '/alert-groups',
    before: ({ mock }) =>
      mock.api.failWith(
        'GET /alert-groups',
        mock.api.problem(503, 'coordination-unavailable', { retry_after_seconds: 9 }),
      ),
  },
  {
    name: 'list-bulk',
    path: '/alert-groups',
    act: async (page) => {
      await page.getByLabel('Select #1200').click();
      await page.getByLabel('Select #1198').click();
    },
  },
  {
    name: 'list-filter-panel',
    path: '/alert-groups',
    act: (page) => page.getByRole('button', { name: 'Filters' }).click(),
  },
  {
    name: 'list-views',
    path: '/alert-groups?severity=critical',
    act: async (page) => {
      await page.getByRole('button', { name: 'Saved views' }).click();
      await page.getByLabel('Save what is shown as').fill('Critical ones');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Start here' }).click();
    },
  },
  {
    name: 'list-row-menu',
    path: '/alert-groups',
    act: (page) => page.getByLabel('Commands for #1200').click(),
  },
  { name: 'group', path: `/alert-groups/${AG}` },
  { name: 'group-mine', path: '/alert-groups/AG000000000001' },
  { name: 'group-resolved', path: '/alert-groups/AG000000000007?kind=delivery&kind=status&order=asc' },
  { name: 'group-missing', path: '/alert-groups/AG999999999999' },
  {
    name: 'group-machine',
    path: `/alert-groups/${AG}`,
    act: async (page) => {
      await page.locator('#machine summary').click();
      await page.locator('#machine').getByRole('img').waitFor();
    },
  },
  {
    name: 'group-snooze',
    path: `/alert-groups/${AG}`,
    act: async (page) => {
      await page.locator('.bar').getByRole('button', { name: 'Snooze' }).click();
      await page.getByText('Without end').click();
    },
  },
  {
    name: 'group-resolve',
    path: `/alert-groups/${AG}`,
    act: (page) => page.locator('.bar').getByRole('button', { name: 'Resolve' }).click(),
  },
  { name: 'service-accounts', path: '/admin/service-accounts' },
  { name: 'service-account-new', path: '/admin/service-accounts/new' },
  { name: 'service-account', path: '/admin/service-accounts/SA000000000001' },
  { name: 'service-account-off', path: '/admin/service-accounts/SA000000000002' },
  { name: 'roles', path: '/admin/roles' },
  ...[
    'general',
    'severity-levels',
    'alert-handling',
    'retention',
    'network',
    'security',
    'outgoing-heartbeat',
  ].map((tab) => ({ name: `organization-${tab}`, path: `/admin/organization/${tab}` })),
  { name: 'oidc', path: '/admin/oidc' },
  {
    name: 'oidc-check',
    path: '/admin/oidc',
    act: async (page) => {
      await page.locator('#check').getByRole('button').click();
      await page.locator('#check li.ok').nth(4).waitFor();
    },
  },
  { name: 'profile-link-refused', path: '/profile?error=identity_linked_elsewhere' },
  {
    name: 'token-new',
    path: '/profile',
    act: (page) => page.locator('#tokens .head button').click(),
  },
  { name: 'help', path: '/alert-groups', act: (page) => page.keyboard.press('?') },
  { name: 'palette', path: '/alert-groups', act: (page) => page.keyboard.press('Control+k') },
  {
    name: 'menu',
    path: '/alert-groups',
    act: async (page) => {
      const phone = page.getByRole('button', { name: 'Open the menu' });
      await ((await phone.isVisible()) ? phone : page.getByRole('button', { name: /^Menu of/ })).click();
    },
  },
  { name: 'unknown', path: '/nowhere' },
  { name: 'statistics', path: '/statistics?period=30d&open=RT000000000001' },
  {
    name: 'statistics-table',
    path: '/statistics?by=integration&sort=-ack_p95&open=NT000000000002',
    act: (page) => page.getByText('The same as a table').click(),
  },
  {
    name: 'statistics-none',
    path: '/statistics?period=custom&from=2026-01-01&to=2026-01-02&zone=UTC&by=x',
    before: ({ mock }) => {
      mock.api.data.groups = [];
    },
  },
  { name: 'integrations', path: '/integrations' },
  { name: 'integration-page', path: '/integrations/NT000000000001' },
  {
    name: 'integration-alerts',
    path: '/integrations/NT000000000001?tab=alerts&state=all&label=cluster%3D%22x%22',
  },
  { name: 'integration-sender-routes', path: '/integrations/NT000000000001?tab=sender-routes' },
  { name: 'integration-snapshots', path: '/integrations/NT000000000001?tab=snapshots' },
  { name: 'snapshot', path: '/integrations/NT000000000001/snapshots/SS000000000001' },
  { name: 'snapshot-bytes', path: '/integrations/NT000000000001/snapshots/SS000000000003' },
  { name: 'machines', path: '/machines' },
  { name: 'actor', path: '/machines/feed/NT1%2F%7B%7D%3A%7B%7D' },
  {
    name: 'integration-new',
    path: '/integrations/new',
    act: async (page) => {
      await page.getByRole('button', { name: 'Add a label' }).click();
      await page.getByLabel('Expect a Heartbeat').check();
      await page.getByRole('button', { name: 'Create and get a token' }).click();
      await page.getByText('This is needed').waitFor();
    },
  },
  {
    name: 'integration-token',
    path: '/integrations/NT000000000002?tab=tokens',
    act: async (page) => {
      await page.getByRole('button', { name: 'New token' }).click();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('The token is ready').waitFor();
    },
  },
  {
    name: 'integration-delete',
    path: '/integrations/NT000000000001',
    act: (page) => page.getByRole('button', { name: 'Delete' }).click(),
  },
  {
    name: 'integration-conflict',
    path: '/integrations/NT000000000002/edit',
    act: async (page, { mock }) => {
      await page.getByLabel('Name', { exact: true }).fill('Prometheus test');
      const list = mock.api.data.integrations;
      list[2] = { ...list[2]!, description: 'Changed elsewhere', etag: '"7"' };
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Keep mine').waitFor();
    },
  },
  { name: 'routes', path: '/routes' },
  { name: 'route-page', path: '/routes/RT000000000001' },
  {
    name: 'route-preview',
    path: '/routes/RT000000000001',
    act: async (page) => {
      await page.getByRole('button', { name: 'Preview on what was received' }).click();
      await page.getByText('With these labels').waitFor();
    },
  },
  { name: 'route-profiles', path: '/routes/new' },
  {
    name: 'route-new',
    path: '/routes/new',
    act: async (page) => {
      await page.getByRole('button', { name: /On-call/ }).click();
      await page.getByLabel('Name').first().fill('Search');
      await page.getByRole('button', { name: 'Add a Matcher' }).click();
      await page.getByRole('textbox', { name: 'Label', exact: true }).fill('pod');
      await page.getByLabel('Operator').selectOption('=~');
      await page.getByRole('textbox', { name: 'Value' }).fill('(');
      await page.getByLabel('Name').first().fill('Search two');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('Refused: invalid_regex').waitFor();
    },
  },
  {
    name: 'route-delete',
    path: '/routes/RT000000000001',
    act: async (page) => {
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('Move 5 Alert Groups').waitFor();
    },
  },
  { name: 'destinations', path: '/destinations' },
  { name: 'destination-page', path: '/destinations/DS000000000001' },
  { name: 'destination-broken', path: '/destinations/DS000000000002' },
  {
    name: 'destination-new',
    path: '/destinations/new?type=webhook',
    act: async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Relay');
      await page.getByLabel('URL').fill('ftp://x');
      await page.getByRole('button', { name: 'Add a header' }).click();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('right form').waitFor();
    },
  },
  { name: 'destination-type', path: '/destinations/new' },
  {
    name: 'destination-channel-new',
    path: '/destinations/new?type=bridge',
    act: async (page) => {
      await page.getByLabel(/^(Name|Название)$/).fill('On-call');
      await page.getByLabel(/^(Channel|Канал)$/).fill('nowhere');
      await page.locator('details summary').nth(3).click();
      await page.getByRole('button', { name: /Check and create|Проверить и создать/ }).click();
      await page.getByText('not subscribed').waitFor();
    },
  },
  {
    name: 'destination-channel-edit',
    path: '/destinations/DS000000000003/edit',
    act: (page) => page.locator('details summary').nth(3).click(),
  },
  {
    name: 'destination-channel-check',
    path: '/destinations/DS000000000003',
    act: async (page) => {
      await page.getByRole('button', { name: /Check now|Проверить/ }).click();
      await page.getByText('not subscribed').waitFor();
    },
  },
  {
    name: 'destination-channel-test',
    path: '/destinations/DS000000000003',
    act: async (page) => {
      await page.getByRole('button', { name: /Send test|Отправить/ }).click();
      await page.getByText(/84 (ms|мс)/).waitFor();
      await page.locator('#test details summary').first().click();
    },
  },
  {
    name: 'destination-channel-preview',
    path: '/destinations/DS000000000003',
    act: async (page) => {
      await page.getByRole('button', { name: /Preview|Показать/ }).click();
      await page.locator('#test pre').waitFor();
    },
  },
  {
    name: 'destination-secret',
    path: '/destinations/DS000000000001',
    act: (page) => page.getByRole('button', { name: 'Add a Secret' }).click(),
  },
  {
    name: 'destination-signing',
    path: '/destinations/DS000000000001',
    act: async (page) => {
      await page.getByRole('button', { name: 'Regenerate' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Regenerate' }).click();
      await page.getByText('Copy it now').waitFor();
    },
  },
  {
    name: 'audit',
    path: '/admin/audit-log',
    act: async (page) => {
      await page.getByText(/3 (changes|изменения)/).click();
      await page.getByText('/template').waitFor();
    },
  },
  {
    name: 'audit-filtered',
    path: '/admin/audit-log?period=all&actor=SR000000000001&action=route.updated&to=x',
  },
  { name: 'audit-nothing', path: '/admin/audit-log?action=user.deleted' },
  {
    name: 'audit-error',
    path: '/admin/audit-log',
    before: ({ mock }) =>
      mock.api.failWith(
        'GET /audit-log',
        mock.api.problem(503, 'coordination-unavailable', { retry_after_seconds: 9 }),
      ),
  },
  { name: 'requests', path: '/destinations/DS000000000001/request-log' },
  { name: 'requests-of-group', path: '/destinations/DS000000000001/request-log?alert_group=AG0000000012HH' },
  {
    name: 'requests-nothing',
    path: '/destinations/DS000000000001/request-log?status_class=4xx&operation=x&status_class=1xx',
  },
  {
    name: 'requests-error',
    path: '/destinations/DS000000000001/request-log',
    before: ({ mock }) =>
      mock.api.failWith(
        'GET /request-records',
        mock.api.problem(503, 'coordination-unavailable', { retry_after_seconds: 9 }),
      ),
  },
  { name: 'request', path: '/destinations/DS000000000001/request-log/RQ000000000001' },
  { name: 'request-unanswered', path: '/destinations/DS000000000001/request-log/RQ000000000004' },
  { name: 'request-gone', path: '/destinations/DS000000000001/request-log/RQ000000000099' },
  {
    name: 'destination-proxy',
    path: '/destinations/DS000000000001/edit',
    act: async (page) => {
      await page.getByLabel('Use a proxy').click();
      await page.getByLabel('Host and port').fill('proxy.example:3128');
    },
  },
  {
    name: 'destinations-empty',
    path: '/destinations',
    before: ({ mock }) => {
      mock.api.data.destinations = [];
    },
  },
  { name: 'link-rules', path: '/admin/link-rules' },
  { name: 'link-rule', path: '/admin/link-rules/KR000000000002', act: previewShown },
  {
    name: 'link-rule-mistake',
    path: '/admin/link-rules/new',
    act: async (page) => {
      await page.locator('.cm-content').click();
      await page.keyboard.type('https://wiki.example/{{ nope');
      await page.getByText('Line 1').waitFor();
    },
  },
  { name: 'lookup-tables', path: '/admin/lookup-tables' },
  { name: 'lookup-table', path: '/admin/lookup-tables/TB000000000001' },
  { name: 'template-preview', path: '/template-preview', act: previewShown },
  {
    name: 'route-template',
    path: '/routes/RT000000000001',
    act: async (page) => {
      await page.getByText('Write another one').first().click();
      await previewShown(page);
    },
  },
  { name: 'system-status', path: '/admin/system-status' },
  {
    name: 'system-status-troubled',
    path: '/admin/system-status',
    before: ({ mock }) => {
      mock.api.data.status = troubledStatus();
      mock.api.data.notices = everyNotice();
    },
  },
  {
    name: 'system-status-error',
    path: '/admin/system-status',
    before: ({ mock }) =>
      mock.api.failWith(
        'GET /system-status',
        mock.api.problem(503, 'coordination-unavailable', { retry_after_seconds: 5 }),
      ),
  },
  {
    name: 'system-status-stale',
    path: '/admin/system-status',
    act: async (page, { mock }) => {
      mock.api.failWith(
        'GET /system-status',
        mock.api.problem(503, 'coordination-unavailable', { retry_after_seconds: 5 }),
      );
      await page.getByRole('button', { name: 'Read again' }).click();
      await page.getByText('What you see may be old').waitFor();
    },
  },
  {
    name: 'notices',
    path: '/alert-groups',
    before: ({ mock }) => {
      mock.api.data.notices = everyNotice();
    },
  },
  {
    name: 'routes-501',
    path: '/routes',
    before: ({ mock }) => mock.api.failWith('GET /routes', mock.api.problem(501, 'not-implemented')),
  },
  {
    name: 'forbidden',
    path: '/integrations',
    before: ({ mock }) => {
      const { session } = mock.api.data;
      Object.assign(session, {
        permissions: session.permissions.filter((each) => !each.startsWith('integrations')),
      });
    },
  },
];

const ALL: readonly Look[] = [
  { width: 1440, theme: 'light', language: 'en' },
  { width: 360, theme: 'light', language: 'en' },
  { width: 1440, theme: 'dark', language: 'en' },
  { width: 360, theme: 'dark', language: 'en' },
];

const [folder = '/tmp/tocsin-look', part = '', mode = ''] = process.argv.slice(2);
const LOOKS: Record<string, readonly Look[]> = {
  all: ALL,
  dark: ALL.slice(2),
  ru: [
    { width: 1440, theme: 'light', language: 'ru' },
    { width: 360, theme: 'dark', language: 'ru' },
  ],
};
const looks = LOOKS[mode] ?? ALL.slice(0, 2);
await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
let port = 4300;
let bad = 0;
for (const shot of SHOTS.filter(({ name }) => name.includes(part))) {
  // What is pressed is found by its English name.
  if (mode === 'ru' && shot.act !== undefined) continue;
  for (const look of looks) {
    port += 1;
    const stage = await openStage(browser, port);
    shot.before?.(stage);
    const page = await stage.open(look, shot.path);
    const found: string[] = [];
    try {
      await shot.act?.(page, stage);
    } catch (error) {
      found.push(`act failed: ${String(error).split('\n')[0]}`);
    }
    await page.waitForTimeout(250);
    await page.screenshot({
      path: join(folder, `${shot.name}-${look.width}-${look.theme}-${look.language}.png`),
    });
    found.push(...(await findAxeViolations(page)), ...stage.trouble);
    if (await scrollsSideways(page)) found.push('scrolls sideways');
    for (const line of found) process.stdout.write(`${shot.name} ${look.width} ${look.theme}: ${line}\n`);
    bad += found.length;
    await stage.close();
  }
}
await browser.close();
process.stdout.write(`${bad} findings\n`);
