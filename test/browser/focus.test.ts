/** Where Tab leads on the list, on the page of a group and in a form: the order, and that one sees where one is. In real Chromium. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { focused, followReads } from '../harness/accessible.ts';
import type { Json } from '../harness/api.ts';
import { launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { groupOf, type Seeded, seed } from '../harness/seeded.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let seeded: Seeded;
let checkout: Json;

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  seeded = await seed(ready);
  checkout = await groupOf(seeded.api, 'CheckoutErrorRate');
  // What the Broken Destination raises by itself.
  await groupOf(seeded.api, 'SvcDestinationBroken');
});

afterAll(async () => {
  await browser.close();
  await seeded.close();
  await tocsin.remove();
});

const MOST_STOPS = 200;
const SKIP = 'link "Skip to the content"';

interface Walk {
  /** Role, name and state of each stop. */
  readonly stops: readonly string[];
  /** Stops at which one does not see where one is. */
  readonly faults: readonly string[];
}

/** Presses a key until the focus leaves the page, or has come to its first stop. */
async function walk(page: Page, key: 'Tab' | 'Shift+Tab'): Promise<Walk> {
  const tree: CDPSession = await page.context().newCDPSession(page);
  const stops: string[] = [];
  const faults: string[] = [];
  while (stops.length < MOST_STOPS) {
    await page.keyboard.press(key);
    const stop = await focused(page, tree);
    if (stop === null || (key === 'Tab' && stop.said === SKIP)) break;
    stops.push(stop.said);
    faults.push(...stop.faults.map((fault) => `${stop.said} ${fault}, on ${key}`));
    if (stop.said === SKIP) break;
  }
  await tree.detach();
  return { stops, faults };
}

async function opened(where: string, look: { width: number; height: number }): Promise<Page> {
  const page = await (await newProfile(browser, look)).newPage();
  const allRead = followReads(page);
  await signIn(page, ready);
  await page.goto(ready.app_url + where);
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await allRead();
  return page;
}

/** Low, so that what sticks to an edge has something to hide. */
const DESK = { width: 1440, height: 600 };
/** High enough for the header of a group to stick, which takes much of it. */
const PHONE = { width: 390, height: 600 };

const FRAME = {
  desk: [
    ...['link "Tocsin"', 'button "Go to… Ctrl K"', 'link "Alert Groups # firing"'],
    ...['link "Statistics"', 'link "Wall"', 'link "Integrations"', 'link "Routes"', 'link "Connections"'],
    ...[
      'link "Destinations"',
      'link "Users"',
      'link "Service accounts"',
      'link "Roles"',
      'link "Single sign-on"',
    ],
    ...['link "Organization"', 'link "Link rules"', 'link "Lookup tables"', 'link "Template preview"'],
    ...['link "Audit log"', 'link "System status"', 'button "Menu of admin"'],
  ],
  phone: ['link "Tocsin"', 'link "# firing"', 'button "Open the menu"'],
} as const;
const LOOKS = [
  ['desk', DESK],
  ['phone', PHONE],
] as const;

/** Without numbers, which differ from run to run. */
const unnumbered = (stops: readonly string[]) => stops.map((stop) => stop.replaceAll(/#?\d+/g, '#'));

/** Goes through a page in both directions. @returns the stops, those of the frame around the page left out */
async function walked(page: Page, look: keyof typeof FRAME): Promise<readonly string[]> {
  // Tab goes on from the link that leads past the frame, which is the first stop.
  await page.evaluate(
    `{ const first = document.querySelector('.skip'); first.focus(); first.blur(); scrollTo(0, 0) }`,
  );
  const forth = await walk(page, 'Tab');
  const back = await walk(page, 'Shift+Tab');
  await page.context().close();
  expect([...forth.faults, ...back.faults]).toEqual([]);
  expect(back.stops.toReversed()).toEqual([SKIP, ...forth.stops]);
  const stops = unnumbered(forth.stops);
  const frame = FRAME[look];
  expect(stops.slice(0, frame.length)).toEqual(frame);
  return stops.slice(frame.length);
}

test.each(LOOKS)(
  'Tab goes through the list as it is read, and the focus is always seen: %s',
  async (name, look) => {
    const page = await opened('/alert-groups', look);
    // Its bar sticks to the bottom edge.
    await page.locator('[data-group] input').first().check();
    await page.getByText('1 selected').waitFor();
    const rowCount = await page.locator('[data-group]').count();
    const stops = await walked(page, name);
    const head = [
      ...['button "Open #" pressed', 'button "Firing #"', 'button "Acknowledged #"', 'button "Snoozed #"'],
      ...['button "Resolved #"', 'button "All #"'],
      ...['combobox "Search title and summary, filter with tokens, or #number"', 'button "Filters"'],
      ...['button "Saved views"', 'combobox "Period"', 'combobox "Order"', 'link "Show them"'],
      'checkbox "Select all loaded rows"',
    ];
    expect(stops.slice(0, head.length)).toEqual(head);
    const bar = ['Clear', 'Acknowledge', 'Resolve', 'Snooze', 'Unsnooze'].map((each) => `button "${each}"`);
    expect(stops.slice(-bar.length)).toEqual(bar);
    // Each row: its box, its title, its labels, its menu.
    const rows = stops.slice(head.length, -bar.length);
    const kinds = rows.map((stop) => {
      if (stop.startsWith('checkbox "Select #"')) return 'b';
      if (stop === 'button "Commands for #"') return 'm';
      return stop.startsWith('link') ? 't' : 'l';
    });
    expect(kinds.join('')).toMatch(name === 'desk' ? /^(btl{1,3}m)+$/ : /^(btm)+$/);
    expect(kinds.filter((kind) => kind === 'b')).toHaveLength(rowCount);
  },
);

const ALERT = ['link "Source"', 'DisclosureTriangle "Details"'];
const LABELS = ['alertname', 'severity', 'cluster', 'namespace'].flatMap((label) => [
  ...[`button "Copy ${label} as a matcher"`, `link "Show Alert Groups with this ${label}"`],
]);
const COMMANDS = {
  desk: ['button "Acknowledge"', 'button "Resolve"', 'button "Snooze"', 'button "Add a Note"'],
  phone: ['button "Acknowledge"', 'button "Resolve"', 'button "Snooze"', 'button "More"'],
};

test.each(LOOKS)(
  "Tab goes through a group's page as it is read, and the focus is always seen: %s",
  async (name, look) => {
    const page = await opened(`/alert-groups/${checkout.id}`, look);
    const stops = await walked(page, name);
    expect(stops.map((stop) => (stop.startsWith('link "#') ? 'link "#"' : stop))).toEqual([
      ...['link "Delivery"', ...COMMANDS[name], 'link "Default"'],
      ...['link "Runbook"', 'link "Dashboard"', 'link "Source"', ...LABELS, ...ALERT, ...ALERT, ...ALERT],
      ...Array.from({ length: 10 }, () => 'link "#"'),
      'textbox "Add a Note"',
      ...['Status', 'Alerts', 'Notes', 'Timers'].map((kind) => `button "${kind}" pressed`),
      ...['button "Delivery"', 'button "System" pressed', 'button "Copy what is shown as text"'],
      ...['button "Newest first"', 'DisclosureTriangle "# Alerts"'],
      ...['Former chat', 'Pager', 'Ticket desk'].flatMap((each) => [`link "${each}"`, 'link "Requests"']),
      ...['link "Open it on a page of its own"', 'DisclosureTriangle "How this works"'],
    ]);
  },
);

const duration = (name: string) => [`spinbutton "${name}"`, `combobox "Unit of ${name}"`];

test.each(LOOKS)(
  'Tab goes through a form as it is read, and the focus is always seen: %s',
  async (name, look) => {
    const page = await opened('/routes/new', look);
    await page.getByRole('button', { name: /On-call/ }).click();
    await page.getByLabel('Name', { exact: true }).waitFor();
    // The last that comes: what the Route would take, with samples.
    await page.getByText(/Alerts of the last 24 hours would come here/).waitFor();
    const stops = await walked(page, name);
    expect(stops).toEqual([
      ...['link "Routes"', 'textbox "Name"', 'textbox "Description"'],
      ...['checkbox "Every Alert Group of this Route is urgent"', 'button "Add a Matcher"'],
      ...['link "Payments"', 'link "Payments"', 'link "Payments"', 'link "Payments"', 'button "Show # more"'],
      ...['alertname', 'severity', 'cluster'].map((label) => `button "Remove ${label}"`),
      ...['textbox "Add a label name"', 'button "Add"', 'button "Preview on what was received"'],
      ...['Pager', 'Ticket desk', 'Former chat', 'Chat by template'].map(
        (each) => `checkbox "${each} Webhook"`,
      ),
      ...[...duration('Reopen window'), ...duration('Grace period')],
      'checkbox "A rise to Urgent takes the acknowledgement away" checked',
      ...Array.from({ length: 3 }, () => [...duration('Duration #'), 'button "Remove row #"']).flat(),
      ...['button "Add a duration"', 'checkbox "On" checked', ...duration('First notice after')],
      ...['checkbox "On" checked', ...duration('First Reminder after'), ...duration('Longest interval')],
      'checkbox "Two unanswered Reminders take the acknowledgement away"',
      ...[...duration('Thread batching'), 'spinbutton "Storm threshold"', 'combobox "Language of messages"'],
      ...['Root message', 'Line', 'Notice of a missing Owner'].map(
        (each) => `button "Write another one : ${each}"`,
      ),
      ...['button "Create"', 'button "Cancel"'],
    ]);
  },
);
