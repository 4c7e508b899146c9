/** The docs in real Chromium, under the policy that they are served with, as the build of the UI has them. */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityFindings, launchChromium, newProfile } from '../harness/browser.ts';
import { startHttp } from '../http-server.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const shots = path.join(ROOT, 'test-results', 'screenshots');
const uiFolder = path.join(ROOT, 'ui', 'dist');
const PAGES = [
  ...['', '/getting-started', '/concepts', '/operating', '/api-reference/alert-groups', '/cli'],
  ...['/contract/routes', '/runbooks/SvcDown', '/nothing-here'],
];

let browser: Browser;

beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  expect(existsSync(path.join(uiFolder, 'docs/index.html'))).toBe(true);
  browser = await launchChromium();
});

afterAll(() => browser.close());

async function start(): Promise<string> {
  const { addresses } = await startHttp({ uiFolder });
  return `http://127.0.0.1:${addresses.app.port}`;
}

/** What the pages complain of, and where they ask for something that is not the service. */
function watch(page: Page, origin: string): readonly string[] {
  const troubles: string[] = [];
  page.on('console', (message) => {
    // The page for an unknown address is answered with 404, as it should.
    const isOfUnknown = message.location().url.endsWith('/nothing-here');
    if (message.type() === 'error' && !isOfUnknown) troubles.push(message.text());
  });
  page.on('pageerror', (error) => void troubles.push(error.message));
  page.on('request', (request) => void (request.url().startsWith(origin) || troubles.push(request.url())));
  return troubles;
}

test.each([
  ['light', 1440, 900],
  ['dark', 360, 740],
] as const)(
  '%s, %i wide: no error under the policy, no request to others, nothing too wide, accessible',
  async (scheme, width, height) => {
    const origin = await start();
    const strict = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
    const page = await strict.newPage();
    const troubles = watch(page, origin);
    for (const at of PAGES) {
      await page.goto(`${origin}/docs${at}`);
      const { scrollWidth, background } = await page.evaluate<{ scrollWidth: number; background: string }>(
        '({ scrollWidth: document.documentElement.scrollWidth, background: getComputedStyle(document.body).backgroundColor })',
      );
      expect([at, scrollWidth]).toEqual([at, Math.min(scrollWidth, width)]);
      expect(background).toBe(scheme === 'dark' ? 'rgb(17, 18, 23)' : 'rgb(247, 247, 249)');
      await page.screenshot({ path: path.join(shots, `docs${at.replaceAll('/', '-')}-${scheme}.png`) });
    }
    expect(troubles).toEqual([]);
    await strict.close();

    const profile = await newProfile(browser, { width, height, dark: scheme === 'dark' });
    const open = await profile.newPage();
    for (const at of PAGES) {
      await open.goto(`${origin}/docs${at}`);
      expect([at, await accessibilityFindings(open)]).toEqual([at, []]);
    }
    await profile.close();
  },
);

test('a person finds a page by a word of it, by the keyboard alone, and turns the theme', async () => {
  const origin = await start();
  const context = await browser.newContext({ colorScheme: 'light' });
  const page = await context.newPage();
  const troubles = watch(page, origin);
  await page.goto(`${origin}/docs`);
  await page.keyboard.press('/');
  await page.keyboard.type('SvcNoLeader');
  await page.getByRole('link', { name: 'SvcNoLeader', exact: true }).first().waitFor();
  await page.screenshot({ path: path.join(shots, 'docs-search.png') });
  await page.setViewportSize({ width: 390, height: 844 });
  const [name, place] = await Promise.all(
    ['strong', 'span'].map((part) => page.locator(`.results a:has(span) ${part}`).first().boundingBox()),
  );
  expect(place?.y).toBeGreaterThanOrEqual((name?.y ?? 0) + (name?.height ?? 0));
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'SvcNoLeader' }).first().waitFor();
  // Keys are heard once the script of the page runs.
  await page.waitForLoadState();
  await page.keyboard.press('/');
  await page.keyboard.type('zzqqxx');
  await page.getByText('Nothing is found for').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Dark or light' }).click();
  await page.reload();
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  expect(troubles).toEqual([]);
  await context.close();
});
