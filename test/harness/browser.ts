/** Debian's Chromium, driven with playwright-core, with axe-core at hand. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type Response,
  type Route,
} from 'playwright-core';
import { checkAt, checkLater } from './checked-fetch.ts';
import type { Ready } from './tocsin.ts';

export const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly targets: readonly string[];
}

/**
 * Chromium takes the last list of features to switch off. So this repeats that of playwright-core, and adds the popups of
 * the address bar, which take two processes and nearly half of the processor time of each page that is opened.
 */
const FEATURES_OFF = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'],
];

export function launchChromium(...more: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${FEATURES_OFF.join(',')}`,
      ...more,
    ],
  });
}

/** A browser profile of its own: another person, or another window of the same one after {@link signIn}. */
export async function newProfile(
  browser: Browser,
  options: {
    width?: number;
    height?: number;
    dark?: boolean;
    locale?: string;
    timeZone?: string;
    /** Fingers, and nothing that hovers. */
    touch?: boolean;
    /** What a page needs without a line is kept. A service worker would take its requests away from `route`. */
    offline?: boolean;
  } = {},
): Promise<BrowserContext> {
  const profile = await browser.newContext({
    viewport: { width: options.width ?? 1440, height: options.height ?? 900 },
    colorScheme: options.dark ? 'dark' : 'light',
    locale: options.locale ?? 'en-GB',
    ...(options.timeZone !== undefined && { timezoneId: options.timeZone }),
    ...(options.touch && { hasTouch: true, isMobile: true }),
    // axe-core is put into the page by the test; the service's own policy would refuse it.
    bypassCSP: true,
    serviceWorkers: options.offline ? 'allow' : 'block',
  });
  if (process.env.LATE_ANSWERS !== undefined) await profile.route(isAnswered, answerLater);
  return watched(profile);
}

const ANSWERED_LATER_MS = 300;
const isAnswered = ({ pathname }: URL) => pathname.startsWith('/api/') && pathname !== '/api/v1/live-updates';
async function answerLater(route: Route): Promise<void> {
  await pause(ANSWERED_LATER_MS);
  await route.fallback();
}

/** Holds what its pages are answered to the API description; a fault fails the test that is running. */
export function watched(profile: BrowserContext): BrowserContext {
  profile.on('response', (response) => checkLater(checkResponse(response)));
  return profile;
}

async function checkResponse(response: Response): Promise<void> {
  const { pathname } = new URL(response.url());
  if (!pathname.startsWith('/api/')) return;
  const headers = response.headers();
  const type = headers['content-type'] ?? '';
  // A body is gone when its page is: then nobody was shown it.
  const text = type.includes('json') ? await response.text().catch(() => '') : '';
  checkAt(pathname)(response.request().method(), pathname, {
    status: response.status(),
    header: (name) => headers[name],
    body: text === '' ? undefined : JSON.parse(text),
  });
}

/** Signs in through the form, the way a person does. */
export async function signIn(page: Page, ready: Ready): Promise<void> {
  await page.goto(`${ready.app_url}/sign-in`);
  await page.getByLabel(/login|логин/i).fill(ready.login);
  await page.getByLabel(/^(password|пароль)/i).fill(ready.password ?? '');
  await page.getByRole('button', { name: /sign in|войти/i }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
}

/** What axe-core finds on the page as it is now, once it has its heading: the address changes before the page is drawn. */
export async function accessibilityFindings(page: Page): Promise<Finding[]> {
  await page.locator('h1').first().waitFor({ state: 'attached' });
  const isNew = await page.evaluate<boolean>('!("axe" in globalThis)');
  if (isNew) await page.evaluate(axeSource);
  // One rule of axe reads the style sheets, which stay the same for as long as the document does.
  return page.evaluate(async (preload) => {
    const scope = globalThis as unknown as {
      axe: {
        run(options: { resultTypes: string[]; preload: boolean }): Promise<{
          violations: { id: string; impact: string | null; nodes: { target: string[] }[] }[];
        }>;
      };
    };
    const { violations } = await scope.axe.run({ resultTypes: ['violations'], preload });
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      targets: nodes.map((node) => node.target.join(' ')),
    }));
  }, isNew);
}
