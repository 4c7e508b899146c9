/** A real Chromium on the mock service, with everything that goes wrong in the page collected. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { createMockServer } from './mock-server.ts';

const require = createRequire(import.meta.url);
const axeSource = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

export interface Look {
  readonly width: number;
  readonly theme: 'light' | 'dark';
  readonly language: 'en' | 'ru';
}

export interface Stage {
  readonly mock: ReturnType<typeof createMockServer>;
  readonly origin: string;
  /** A page of its own context; console errors and failed loads end up in `trouble`. */
  open(look: Look, path: string): Promise<Page>;
  readonly trouble: string[];
  close(): Promise<void>;
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
  });
}

export async function openStage(browser: Browser, port: number): Promise<Stage> {
  const mock = createMockServer();
  await mock.listen(port);
  const contexts: BrowserContext[] = [];
  const origin = `http://127.0.0.1:${port}`;
  const trouble: string[] = [];
  return {
    mock,
    origin,
    trouble,
    async open(look, path) {
      const context = await browser.newContext({
        viewport: { width: look.width, height: look.width < 600 ? 740 : 900 },
        colorScheme: look.theme,
        locale: look.language === 'ru' ? 'ru-RU' : 'en-GB',
        hasTouch: look.width < 600,
        isMobile: look.width < 600,
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      contexts.push(context);
      const page = await context.newPage();
      page.on('pageerror', (error) => trouble.push(`${path}: ${error.message}`));
      page.on('console', (message) => {
        // A refused request is logged by the browser itself; the page's own handling is what counts.
        if (message.type() === 'error' && !message.text().includes('Failed to load resource')) {
          trouble.push(`${path}: ${message.text()}`);
        }
      });
      await page.goto(origin + path);
      await page.waitForLoadState('networkidle', { timeout: 2_500 }).catch(() => undefined);
      return page;
    },
    async close() {
      for (const context of contexts) await context.close();
      mock.close();
    },
  };
}

/** Runs axe-core; the CSP forbids injected scripts, so it is evaluated through the debugger. */
export async function findAxeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: {
        run(): Promise<{
          violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
        }>;
      };
    };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, impact, nodes }) =>
      nodes.map(
        (node) =>
          `${impact} ${id}: ${node.html.slice(0, 160)} — ${node.failureSummary.replaceAll('\n', ' ')}`,
      ),
    );
  });
}

/** Whether the page scrolls sideways. */
export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}
