/** Opens pages so that they look the same in every run, and takes pictures of them at rest. */
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { launchChromium, newProfile } from '../../harness/browser.ts';
import { type Picture, readPng } from '../../harness/picture.ts';
import { until } from '../../harness/until.ts';

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly dark: boolean;
  readonly locale: 'en-GB' | 'ru-RU';
}

const DESK = { width: 1440, height: 900 } as const;
const PHONE = { width: 390, height: 844 } as const;
const [ENGLISH, RUSSIAN] = [{ locale: 'en-GB' }, { locale: 'ru-RU' }] as const;

export const LOOKS = {
  'desk-light-en': { ...DESK, dark: false, ...ENGLISH },
  'desk-dark-en': { ...DESK, dark: true, ...ENGLISH },
  'desk-light-ru': { ...DESK, dark: false, ...RUSSIAN },
  'desk-dark-ru': { ...DESK, dark: true, ...RUSSIAN },
  'phone-light-en': { ...PHONE, dark: false, ...ENGLISH },
  'phone-dark-en': { ...PHONE, dark: true, ...ENGLISH },
  'phone-light-ru': { ...PHONE, dark: false, ...RUSSIAN },
  'phone-dark-ru': { ...PHONE, dark: true, ...RUSSIAN },
} as const satisfies Readonly<Record<string, Look>>;

/** A name that leads to this machine and is a secure context, so that addresses on the pages have no port. */
export const ADDRESS = 'http://tocsin.localhost';

/** @param port where the service listens */
export function launchCamera(port: string): Promise<Browser> {
  const flags = process.env.PICTURES_FLAGS?.split(' ') ?? [];
  return launchChromium(
    `--host-resolver-rules=MAP tocsin.localhost:80 127.0.0.1:${port}`,
    '--force-color-profile=srgb',
    ...flags,
  );
}

/** A browser profile in which it is always `now`. @param now ms since the epoch */
export async function posed(browser: Browser, look: Look, now: number): Promise<BrowserContext> {
  const profile = await newProfile(browser, { ...look, timeZone: 'UTC' });
  await profile.clock.setFixedTime(now);
  await profile.addInitScript(POSE);
  const asked = new Set<Request>();
  underWay.set(profile, asked);
  profile.on('request', (request) => {
    // The live stream never ends.
    if (!request.url().endsWith('/live-updates')) asked.add(request);
  });
  profile.on('response', (response) => void asked.delete(response.request()));
  profile.on('requestfailed', (request) => void asked.delete(request));
  return profile;
}

/** Requests without an answer. */
const underWay = new WeakMap<BrowserContext, Set<Request>>();
const isQuiet = (page: Page) => underWay.get(page.context())?.size === 0;

/** The same fonts everywhere, and the live stream in the page, whose clock stands still; a worker has its own. */
const POSE = `
  delete window.SharedWorker;
  addEventListener('DOMContentLoaded', () => {
    document.documentElement.style.setProperty('--font', '"DejaVu Sans"');
    document.documentElement.style.setProperty('--mono', '"DejaVu Sans Mono"');
  });
`;

/** Covers ids, ports and durations that the machine decides. */
const COVER = `(() => {
  const covered = (text) => text
    .replaceAll(/\\b([A-Z]{2})[0-9A-HJKMNP-TV-Z]{12}\\b/g, '$1000000000000')
    .replaceAll(/127\\.0\\.0\\.1:\\d+/g, '127.0.0.1:9000')
    .replaceAll(/\\b\\d+ (ms|мс)\\b/g, '10 $1');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = covered(node.data);
    if (text !== node.data) node.data = text;
  }
  for (const field of document.querySelectorAll('input, textarea')) {
    const text = covered(field.value);
    if (text !== field.value) field.value = text;
  }
})()`;

/** Opens an address and waits until its page is there. */
export async function open(page: Page, path: string): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  underWay.get(page.context())?.clear();
  await page.goto(ADDRESS + path);
  await page.locator('h1').first().waitFor({ state: 'attached' });
}

/** A picture of the page, once two in a row are the same with no request under way at either. */
export async function pictureOf(page: Page): Promise<{ file: Buffer; picture: Picture }> {
  await page.locator('.skeleton, [aria-busy="true"]').first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready');
  let last: Buffer = Buffer.alloc(0);
  const file = await until('a page that comes to rest', async () => {
    if (!isQuiet(page)) return null;
    await page.evaluate(COVER);
    const next = await page.screenshot({ animations: 'disabled', caret: 'hide' });
    const isSame = next.equals(last) && isQuiet(page);
    last = next;
    return isSame ? next : null;
  });
  return { file, picture: readPng(file) };
}
