/** The screen in a room: made by somebody signed in, shown where nobody is. In real Chromium. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../harness/api.ts';
import { accessibilityFindings, launchChromium, newProfile, signIn } from '../harness/browser.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let ready: Ready;
let browser: Browser;
let api: Api;
let desk: Page;
let screen: Page;
let address = '';

beforeAll(async () => {
  tocsin = new Installation();
  [ready, browser] = await Promise.all([tocsin.start(), launchChromium()]);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  api = await Api.signIn(ready);
  desk = await (await newProfile(browser)).newPage();
  screen = await (await newProfile(browser, { width: 1280, height: 720 })).newPage();
  const [{ group_key, policy }] = (await api.get('/route-profiles')).items;
  const matchers = [{ label: 'alertname', op: '=', value: 'OldUrgent' }];
  await api.post('/routes', {
    ...{ name: 'Urgent', description: '', urgent: true, group_key, policy, matchers, destination_ids: [] },
  });
  // Many newer ones must not hide the critical one, which came first, nor that an Urgent one fires.
  const small = Array.from({ length: 30 }, (_, index) => `Small${index}`);
  const critical = { alertname: 'OldCritical', severity: 'critical', namespace: 'shop', pod: 'api-1' };
  const warnings = ['OldUrgent', ...small].map((alertname) => ({ alertname, severity: 'warning' }));
  for (const labels of [critical, ...warnings])
    expect(await sender.post({ groupKey: labels.alertname, alerts: [{ labels }] })).toBe(202);
  await until('the groups', async () => (await api.get('/alert-group-counts')).firing === 32);
});

afterAll(async () => {
  await browser.close();
  await tocsin.remove();
});

/** 1, or less while the view is shown dimmed; NaN while another view is shown. */
async function brightness(view: string): Promise<number> {
  const [title, opacity] = await screen.evaluate<string[]>(
    `[document.querySelector('h1').textContent, getComputedStyle(document.querySelector('main')).opacity]`,
  );
  return title === view ? Number(opacity) : Number.NaN;
}

/** Sizes in px of the letters of a place and of everything in it that has a text. */
const lettersOf = (place: Locator): Promise<number[]> =>
  place.evaluate((element) =>
    [element, ...element.querySelectorAll('*')]
      .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
      .map((each) => Number.parseFloat(each.ownerDocument.defaultView.getComputedStyle(each).fontSize)),
  );

test.each([
  [1_920, 1_080, { title: 28, count: 42, text: 21 }],
  [3_840, 2_160, { title: 48, count: 71, text: 35 }],
])('its letters are large at %i × %i, and nothing is beyond the edge', async (width, height, least) => {
  const room = await (await newProfile(browser, { width, height })).newPage();
  await signIn(room, ready);
  await room.goto(`${ready.app_url}/wall?night=off`);
  const tile = room.getByRole('article').first();
  const firing = room.getByRole('listitem').filter({ hasText: /^\s*Firing\s*\d+\s*$/ });
  expect(Math.min(...(await lettersOf(tile.getByRole('heading'))))).toBeGreaterThanOrEqual(least.title);
  expect(Math.max(...(await lettersOf(firing)))).toBeGreaterThanOrEqual(least.count);
  for (const place of [tile, firing, room.getByRole('heading', { level: 1 })])
    expect(Math.min(...(await lettersOf(place)))).toBeGreaterThanOrEqual(least.text);
  const beyond = await room.evaluate<number>(
    `(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
      Math.max(scrollWidth - clientWidth, scrollHeight - clientHeight))(document.documentElement)`,
  );
  expect(beyond).toBeLessThanOrEqual(0);
  expect(await accessibilityFindings(room)).toEqual([]);
  await room.context().close();
});

test('a link for a screen is made from the wall of somebody signed in', async () => {
  await signIn(desk, ready);
  await desk.evaluate(
    `localStorage.setItem('tocsin.views', JSON.stringify([{ name: 'Critical', query: 'severity=critical', start: false }]))`,
  );
  await desk.getByRole('link', { name: 'Wall' }).click();
  await desk.getByRole('heading', { name: 'All open Alert Groups' }).waitFor();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.getByRole('button', { name: 'Link for a screen' }).click();
  await desk.getByRole('checkbox', { name: 'Critical' }).check();
  expect(await accessibilityFindings(desk)).toEqual([]);
  await desk.getByRole('button', { name: 'Make the link' }).click();
  const shown = desk.getByLabel('Address of the screen').last();
  address = (await shown.textContent()) ?? '';
  expect(address).toContain(`/wall?view=Critical%3Fseverity%3Dcritical#token=`);
  const { items } = await api.get('/me/personal-access-tokens');
  expect(items).toMatchObject([
    { name: 'Wall screen', permissions: ['alert-groups:read'], expires_at: null },
  ]);
  await desk.getByRole('button', { name: 'I have stored it' }).click();
});

test('who makes a link is told when its token stops by itself', async () => {
  const page = await (await newProfile(browser)).newPage();
  await signIn(page, ready);
  await page.route('**/api/v1/sessions/current', async (route) => {
    const answer = await route.fetch();
    const session = await answer.json();
    const user = { ...session.user, sign_in_method: 'oidc', oidc_offline_access: false };
    await route.fulfill({ response: answer, json: { ...session, user } });
  });
  await page.goto(`${ready.app_url}/wall`);
  await page.getByRole('button', { name: 'Link for a screen' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The screen stops when your account is disabled', { exact: false }).waitFor();
  await dialog.getByText(/^They work until .+; every sign-in moves that on\.$/).waitFor();
});

test('nobody signs in at the screen, and it can do nothing but read', async () => {
  const [link] = address.split('?');
  const token = address.split('#token=')[1] ?? '';
  // It is night there, whenever this runs.
  const hour = new Date().getHours();
  await screen.goto(
    `${link}?night=${hour}-${(hour + 2) % 24}&every=5&view=All%3F&view=Critical%3Fseverity%3Dcritical#token=${token}`,
  );
  await screen.getByRole('heading', { name: 'All', exact: true }).waitFor();
  const tiles = screen.getByRole('article');
  await until('the tiles', async () => (await tiles.count()) > 5);
  expect(await tiles.first().getAttribute('aria-label')).toMatch(/^#\d+ OldCritical$/);
  const cut = await tiles
    .locator('h2')
    .evaluateAll((all) => all.filter((title) => title.scrollHeight > title.clientHeight).length);
  expect(cut).toBe(0);
  const more = 32 - (await tiles.count());
  expect(more).toBeGreaterThan(0);
  await screen.getByText(`and ${more} more`).waitFor();
  // Nothing is cut off at the edge of the screen.
  const scrolls = await screen.evaluate(
    `(({ scrollHeight, scrollWidth, clientHeight, clientWidth }) =>
      scrollHeight > clientHeight || scrollWidth > clientWidth)(document.documentElement)`,
  );
  expect(scrolls).toBe(false);
  const [last, room] = await Promise.all([tiles.last().boundingBox(), screen.locator('.room').boundingBox()]);
  expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual((room?.y ?? 0) + (room?.height ?? 0) + 1);
  expect(await accessibilityFindings(screen)).toEqual([]);
  expect(await screen.getByRole('button').allTextContents()).toEqual(['Full screen']);
  expect(await screen.context().cookies()).toEqual([]);
  const group = (await api.get('/alert-groups?severity=critical')).items[0];
  const refused = await fetch(`${ready.app_url}/api/v1/alert-groups/${group.id}/acknowledge`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(refused.status).toBe(403);
  expect((await api.get(`/alert-groups/${group.id}`)).status).toBe('firing');
});

test('views are shown in turn, and changes within seconds', async () => {
  await screen.getByRole('heading', { name: 'Critical', exact: true }).waitFor();
  await until('one tile', async () => (await screen.getByRole('article').count()) === 1);
  const group = (await api.get('/alert-groups?severity=critical')).items[0];
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await screen.getByRole('article').filter({ hasText: 'OldCritical' }).getByText('Acknowledged').waitFor();
  // Somebody has what is critical: the screen is dimmed.
  await until('the dimmed screen', async () => (await brightness('Critical')) < 0.5);
});

test('it is not dimmed while an Urgent group fires that it has no room for', async () => {
  await until('the bright screen', async () => (await brightness('All')) === 1);
  const group = (await api.get('/alert-groups?urgent=true&status=firing')).items[0];
  expect(group.title).toBe('OldUrgent');
  expect(await screen.getByRole('article').filter({ hasText: 'OldUrgent' }).count()).toBe(0);
  await api.post(`/alert-groups/${group.id}/acknowledge`);
  await until('the dimmed screen', async () => (await brightness('All')) < 0.5);
});

test('while pages end before the first row, it does not say that there is nothing', async () => {
  const lists = /\/api\/v1\/alert-groups\?/;
  const early = {
    headers: { link: '</api/v1/alert-groups?cursor=early>; rel="next"' },
    json: { items: [], next_cursor: 'early' },
  };
  await screen.route(lists, (route) => route.fulfill(early));
  await screen.getByText('Which Alert Groups are here is not known').waitFor();
  expect(await screen.getByText('No Alert Groups here').count()).toBe(0);
  expect(await accessibilityFindings(screen)).toEqual([]);
  // Now the second page has them.
  await screen.unroute(lists);
  await screen.route(lists, (route) => {
    const url = new URL(route.request().url());
    if (!url.searchParams.has('cursor')) return route.fulfill(early);
    url.searchParams.delete('cursor');
    return route.continue({ url: url.href });
  });
  await screen.getByRole('article').filter({ hasText: 'OldCritical' }).waitFor();
  await screen.unroute(lists);
});

test('a view whose filters the service refuses is named, and the others are shown', async () => {
  const page = await (await newProfile(browser)).newPage();
  await signIn(page, ready);
  await page.clock.install();
  const broken = 'view=Broken%3Flabel%3Dpod%253D~%2522%255B%2522';
  await page.goto(`${ready.app_url}/wall?night=off&${broken}&view=Critical%3Fseverity%3Dcritical`);
  await page.getByText('Tocsin refuses the filters of the view Broken').waitFor();
  await page.getByRole('heading', { name: 'Critical', exact: true }).waitFor();
  await page.getByRole('article').filter({ hasText: 'OldCritical' }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  // Alone it has nothing to be out of date.
  await page.goto(`${ready.app_url}/wall?${broken}`);
  await page.getByRole('heading', { name: 'Broken', exact: true }).waitFor();
  await page.getByText('Tocsin refuses the filters of the view Broken').waitFor();
  await page.clock.runFor(20_000);
  expect(await page.getByText('Out of date').count()).toBe(0);
  expect(await page.getByRole('article').count()).toBe(0);
  await page.context().close();
});

test('it says that it is out of date while the service is away, and goes on by itself', async () => {
  process.kill(tocsin.pid, 'SIGSTOP');
  try {
    await screen.getByText(/Out of date since .*: Tocsin does not answer/).waitFor({ timeout: 25_000 });
    expect(await accessibilityFindings(screen)).toEqual([]);
  } finally {
    process.kill(tocsin.pid, 'SIGCONT');
  }
  await screen.getByText('Out of date').waitFor({ state: 'detached', timeout: 60_000 });
});

test('a revoked token ends it, with what to do', async () => {
  const { items } = await api.get('/me/personal-access-tokens');
  const answer = await api.call('DELETE', `/me/personal-access-tokens/${items[0].id}`);
  expect(answer.status).toBe(204);
  await screen.getByText('The token of this screen is not valid any more').waitFor({ timeout: 15_000 });
});
