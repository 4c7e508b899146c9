/** Debian's Firefox, driven by WebDriver BiDi: what is pressed and filled is found by role and accessible name. */
import { type Browser, launch, type Page } from 'puppeteer-core';
import { axeSource } from './browser.ts';
import type { Ready } from './tocsin.ts';

/** On a busy machine the browser alone takes a quarter of a minute to start. */
export const FIREFOX_PATIENCE_MS = 60_000;

export function launchFirefox(): Promise<Browser> {
  return launch({
    browser: 'firefox',
    executablePath: '/usr/bin/firefox-esr',
    protocolTimeout: 2 * FIREFOX_PATIENCE_MS,
    timeout: 2 * FIREFOX_PATIENCE_MS,
    extraPrefsFirefox: { 'intl.accept_languages': 'en-GB', 'ui.prefersReducedMotion': 1 },
  });
}

/** A name with quotes is put between those that it does not have. */
function byName(name: string): string {
  const quote = name.includes('"') ? "'" : '"';
  return `[name=${quote}${name}${quote}]`;
}

function byRole(role: string, name: string): string {
  return `::-p-aria(${byName(name)}[role="${role}"])`;
}

/** Says what was waited for when it did not come. */
async function named<T>(what: string, waiting: Promise<T>): Promise<T> {
  try {
    return await waiting;
  } catch (cause) {
    throw new Error(`Waited in vain for: ${what}`, { cause });
  }
}

/** One window with a browser profile of its own, so with a session, a theme and a language of its own. */
export class FirefoxWindow {
  readonly page: Page;
  readonly #appUrl: string;

  private constructor(page: Page, appUrl: string) {
    this.page = page;
    this.#appUrl = appUrl;
  }

  static async open(
    browser: Browser,
    appUrl: string,
    size: { readonly width: number; readonly height: number },
  ): Promise<FirefoxWindow> {
    const page = await (await browser.createBrowserContext()).newPage();
    page.setDefaultTimeout(FIREFOX_PATIENCE_MS);
    await page.setViewport(size);
    return new FirefoxWindow(page, appUrl);
  }

  close(): Promise<void> {
    return this.page.browserContext().close();
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(this.#appUrl + path);
  }

  /** Signs in through the English form. A password field has no role: the Tab key leads there. */
  async signIn({ login, password }: Pick<Ready, 'login' | 'password'>): Promise<void> {
    await this.goto('/sign-in');
    await this.fill('textbox', 'Login', login);
    await this.page.keyboard.press('Tab');
    await this.page.keyboard.type(password ?? '');
    await this.page.keyboard.press('Enter');
    await this.page.waitForFunction("!location.pathname.startsWith('/sign-in')");
  }

  async has(role: string, name: string): Promise<void> {
    await this.#control(role, name);
  }

  /** What can be read in it. */
  async textOf(role: string, name: string): Promise<string> {
    const found = await this.#control(role, name);
    return (
      (await found?.evaluate((element) => (element as unknown as { innerText: string }).innerText)) ?? ''
    );
  }

  async press(role: string, name: string): Promise<void> {
    await named(`${role} ${name}`, this.page.locator(byRole(role, name)).click());
  }

  /** Presses what has this text within something that has a role and a name. */
  async pressText(role: string, name: string, text: string): Promise<void> {
    const place = `${byRole(role, name)} ::-p-text(${text})`;
    await named(`${text} in ${role} ${name}`, this.page.locator(place).click());
  }

  async fill(role: string, name: string, text: string): Promise<void> {
    await this.press(role, name);
    await this.page.keyboard.type(text);
  }

  async choose(name: string, value: string): Promise<void> {
    await (await this.#control('combobox', name))?.select(value);
  }

  /** Waits until somebody can read it on the page. */
  async shows(text: string): Promise<void> {
    const isShown = `document.body.innerText.includes(${JSON.stringify(text)})`;
    await named(text, this.page.waitForFunction(isShown));
  }

  async showsNot(text: string): Promise<void> {
    const isGone = `!document.body.innerText.includes(${JSON.stringify(text)})`;
    await named(`no ${text}`, this.page.waitForFunction(isGone));
  }

  #control(role: string, name: string) {
    return named(`${role} ${name}`, this.page.waitForSelector(byRole(role, name)));
  }

  /** What is wrong with the page as it is now: what axe-core finds, and scrolling sideways. */
  async faults(): Promise<readonly string[]> {
    const isNew = await this.page.evaluate(() => !('axe' in globalThis));
    if (isNew) await this.page.evaluate(axeSource);
    const overflow = (await this.page.evaluate(
      'document.documentElement.scrollWidth - innerWidth',
    )) as number;
    // One rule of axe reads the style sheets, which stay the same for as long as the document does.
    const found = (await this.page.evaluate(`axe.run({ resultTypes: ['violations'], preload: ${isNew} }).then(
      ({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' '))))`)) as string[];
    return overflow > 0 ? [...found, `scrolls sideways by ${overflow} px`] : found;
  }
}
