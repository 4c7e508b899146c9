/** The states that are pictured: 40, five of each look. */
import type { Page } from 'playwright-core';
import type { LOOKS } from './camera.ts';
import type { Story } from './story.ts';

export interface State {
  /** With the look it names the file. */
  readonly name: string;
  readonly look: keyof typeof LOOKS;
  readonly path: (story: Story) => string;
  /** A text that is there when the page is. */
  readonly shows: string | RegExp;
  /** What is done on the page before. */
  readonly after?: (page: Page) => Promise<void>;
  /** Before anything has happened. */
  readonly empty?: true;
  readonly signedOut?: true;
  /** The name in `docs/images` of this picture, for a page of the docs. */
  readonly image?: string;
}

const at = (path: string) => () => path;
const group = (title: string) => (story: Story) => story.groups.get(title) ?? `/no-group-${title}`;
const press = (keys: string) => (page: Page) => page.keyboard.press(keys);

async function dialogBy(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key);
  await page.getByRole('dialog').waitFor();
}

const CHECKOUT = 'CheckoutErrorRate';

const list: readonly State[] = [
  { name: 'list', look: 'desk-light-en', path: at('/alert-groups'), shows: 'DiskFull' },
  { name: 'list', look: 'phone-light-en', path: at('/alert-groups'), shows: 'DiskFull', image: 'ui-list' },
  {
    name: 'list-empty',
    look: 'phone-light-ru',
    path: at('/alert-groups'),
    shows: 'Подключите',
    empty: true,
  },
  {
    name: 'list-filtered',
    look: 'desk-dark-en',
    path: at('/alert-groups?severity=critical&label=namespace!%3D%22pay%22'),
    shows: 'NodeNotReady',
  },
  {
    name: 'list-selected',
    look: 'desk-light-ru',
    path: at('/alert-groups'),
    shows: 'DiskFull',
    after: press('Shift+A'),
  },
  {
    name: 'list-selected',
    look: 'phone-dark-ru',
    path: at('/alert-groups'),
    shows: 'NodeNotReady',
    after: press('Shift+A'),
  },
  { name: 'list-folded', look: 'desk-dark-ru', path: at('/alert-groups?fold=namespace'), shows: 'orders' },
  { name: 'list-folded', look: 'phone-dark-ru', path: at('/alert-groups?fold=namespace'), shows: 'orders' },
  {
    name: 'list-filters',
    look: 'phone-dark-en',
    path: at('/alert-groups'),
    shows: 'NodeNotReady',
    after: (page) => page.getByRole('button', { name: 'Filters' }).click(),
  },
  {
    name: 'list-keys',
    look: 'phone-dark-en',
    path: at('/alert-groups'),
    shows: 'NodeNotReady',
    after: (page) => dialogBy(page, '?'),
  },
];

const groups: readonly State[] = [
  {
    name: 'group-firing',
    look: 'desk-light-en',
    path: group(CHECKOUT),
    shows: 'Rolling back',
    image: 'ui-group',
  },
  { name: 'group-firing', look: 'phone-light-en', path: group(CHECKOUT), shows: 'Runbook' },
  {
    name: 'group-timeline',
    look: 'phone-light-en',
    path: (story) => `${group(CHECKOUT)(story)}#timeline`,
    shows: 'Rolling back',
  },
  { name: 'group-acknowledged', look: 'phone-dark-en', path: group('HighLatency'), shows: 'Runbook' },
  { name: 'group-snoozed', look: 'desk-dark-en', path: group('PodRestarting'), shows: 'Runbook' },
  { name: 'group-snoozed', look: 'phone-light-ru', path: group('PodRestarting'), shows: 'PodRestarting' },
  { name: 'group-resolved', look: 'desk-light-ru', path: group('QuotaNearlyUsed'), shows: 'The quota was' },
  {
    name: 'resolve-dialog',
    look: 'phone-light-en',
    path: group(CHECKOUT),
    shows: 'Runbook',
    after: (page) => dialogBy(page, 'r'),
  },
  {
    name: 'snooze-dialog',
    look: 'desk-light-ru',
    path: group(CHECKOUT),
    shows: 'CheckoutErrorRate',
    after: (page) => dialogBy(page, 's'),
  },
  {
    name: 'snooze-dialog',
    look: 'phone-dark-ru',
    path: group(CHECKOUT),
    shows: 'CheckoutErrorRate',
    after: (page) => dialogBy(page, 's'),
  },
];

const overviews: readonly State[] = [
  { name: 'wall-calm', look: 'desk-dark-en', path: at('/wall'), shows: 'No Alert Groups here', empty: true },
  { name: 'wall-urgent', look: 'desk-dark-en', path: at('/wall'), shows: 'NodeNotReady', image: 'ui-wall' },
  { name: 'wall-urgent', look: 'phone-dark-en', path: at('/wall'), shows: 'BankUnreachable-north' },
  { name: 'statistics', look: 'desk-light-en', path: at('/statistics'), shows: 'Payments' },
  {
    name: 'statistics',
    look: 'phone-dark-en',
    path: at('/statistics'),
    shows: 'Payments',
    image: 'ui-statistics',
  },
  {
    name: 'machines',
    look: 'desk-light-en',
    path: at('/machines/alert_group'),
    shows: 'acknowledged',
    image: 'ui-machines',
  },
  { name: 'system-status', look: 'desk-dark-ru', path: at('/admin/system-status'), shows: 'scenario' },
  { name: 'audit-log', look: 'desk-dark-ru', path: at('/admin/audit-log'), shows: 'Ada Lovelace' },
];

const settings: readonly State[] = [
  { name: 'routes', look: 'desk-dark-ru', path: at('/routes'), shows: 'Payments' },
  { name: 'routes', look: 'phone-light-ru', path: at('/routes'), shows: 'Payments' },
  {
    name: 'route',
    look: 'desk-light-en',
    path: ({ route }) => route,
    shows: /Alerts of the last 24 hours/,
    image: 'ui-route',
  },
  { name: 'destinations', look: 'desk-dark-en', path: at('/destinations'), shows: 'Ticket desk' },
  {
    name: 'destination-new',
    look: 'phone-light-ru',
    path: at('/destinations/new?type=webhook'),
    shows: 'URL',
  },
  { name: 'connections', look: 'phone-light-ru', path: at('/connections'), shows: 'Подключени' },
  {
    name: 'integration',
    look: 'desk-light-ru',
    path: ({ integration }) => integration,
    shows: 'Alertmanager of the shop',
  },
  {
    name: 'severity-levels',
    look: 'desk-light-ru',
    path: at('/admin/organization/severity-levels'),
    shows: 'critical',
  },
  { name: 'profile', look: 'phone-dark-ru', path: at('/profile'), shows: 'ada@example.org' },
  { name: 'sign-in', look: 'phone-light-en', path: at('/sign-in'), shows: 'Password', signedOut: true },
  {
    name: 'palette',
    look: 'desk-dark-ru',
    path: group(CHECKOUT),
    shows: 'Rolling back',
    after: (page) => dialogBy(page, 'Control+k'),
  },
  { name: 'not-found', look: 'phone-dark-ru', path: at('/nowhere'), shows: /./ },
];

export const STATES: readonly State[] = [...list, ...groups, ...overviews, ...settings];
