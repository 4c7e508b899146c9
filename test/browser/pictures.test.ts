/**
 * How 40 states of the UI look, compared with the pictures in `pictures/`, in real Chromium. `PICTURES=renew` writes them
 * anew (test/README.md).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { difference, isSame, type Picture, readPng, reduced, writePng } from '../harness/picture.ts';
import { startTestServer, type TestServer } from '../postgres.ts';
import { type World as AnyWorld, World } from '../scenarios/world.ts';
import { LOOKS, launchCamera, open, pictureOf, posed } from './pictures/camera.ts';
import { STATES, type State } from './pictures/states.ts';
import { beginStory, playStory, STORY_BEGINS, type Story } from './pictures/story.ts';

const stored = path.join(import.meta.dirname, 'pictures');
const results = path.resolve(import.meta.dirname, '..', '..', 'test-results', 'pictures');
const images = path.resolve(import.meta.dirname, '..', '..', 'docs', 'images');
const renews = process.env.PICTURES === 'renew';

let server: TestServer;
let world: AnyWorld;
let browser: Browser;
let story: Story;

beforeAll(async () => {
  mkdirSync(results, { recursive: true });
  server = await startTestServer();
  world = await World.open(server.settings, STORY_BEGINS);
  browser = await launchCamera(new URL(world.running.appUrl).port);
  const { cookie } = await beginStory(world);
  story = { cookie, groups: new Map(), route: '', destination: '', integration: '' };
});

afterAll(async () => {
  await browser.close();
  await world.close(server.settings);
  await server.stop();
});

/** A profile of a look in which Ada is signed in. */
async function profileOf(look: State['look']): Promise<BrowserContext> {
  const profile = await posed(browser, LOOKS[look], world.clock.now() / 1000);
  await profile.addCookies([
    { name: 'svc_session', value: story.cookie, domain: 'tocsin.localhost', path: '/' },
  ]);
  return profile;
}

const nameOf = ({ name, look }: State) => `${name}-${look}`;

async function show(page: Page, state: State): Promise<void> {
  if (state.signedOut) await page.context().clearCookies();
  await open(page, state.path(story));
  await page.getByText(state.shows).locator('visible=true').first().waitFor();
  await state.after?.(page);
}

/** Null, or what is different, with the files that show it. */
async function fault(page: Page, state: State): Promise<string | null> {
  await show(page, state);
  const { file, picture } = await pictureOf(page);
  const name = nameOf(state);
  writeFileSync(path.join(results, `${name}.png`), file);
  const kept = path.join(stored, `${name}.png`);
  const found = existsSync(kept) ? faultOf(name, reduced(picture)) : `${name}: there is no picture`;
  if (found === null || !renews) return found;
  writeFileSync(kept, writePng(reduced(picture)));
  if (state.image) writeFileSync(path.join(images, `${state.image}.png`), writePng(picture, 'few'));
  return null;
}

function faultOf(name: string, actual: Picture): string | null {
  const found = difference(readPng(readFileSync(path.join(stored, `${name}.png`))), actual);
  if (isSame(found)) return null;
  writeFileSync(path.join(results, `${name}.difference.png`), writePng(found.marked));
  const { windows, of, most, within } = found;
  const where = within && `x ${within.x} to ${within.right}, y ${within.y} to ${within.bottom}`;
  return `${name}: ${windows} of ${of} windows differ, by up to ${Math.round(most)} of 255, at ${where}; see test-results/pictures/${name}.png and ${name}.difference.png`;
}

/** The states of a look, one page after the other in one profile. */
async function faultsOf(look: State['look'], states: readonly State[]): Promise<readonly string[]> {
  const profile = await profileOf(look);
  const page = await profile.newPage();
  const faults: string[] = [];
  for (const state of states) {
    const found = await fault(page, state);
    if (found !== null) faults.push(found);
    await profile.setOffline(false);
  }
  await profile.close();
  return faults;
}

/** The Filters button of the list is made to look otherwise. */
const CHANGES = {
  'is missing': 'visibility: hidden',
  'is moved by its width': 'translate: 100%',
  'has another colour': 'background: var(--danger)',
} as const;

const looks = Object.keys(LOOKS) as State['look'][];
/** What a state leaves in its profile comes last. */
const statesOf = (look: State['look'], isEmpty: boolean) =>
  STATES.filter((state) => state.look === look && (state.empty ?? false) === isEmpty).toSorted(
    (one, other) => Number(one.signedOut ?? false) - Number(other.signedOut ?? false),
  );

describe('before anything has happened', () => {
  test.each(looks.filter((look) => statesOf(look, true).length > 0))('%s', async (look) => {
    expect(await faultsOf(look, statesOf(look, true))).toEqual([]);
  });
});

describe('after a week', () => {
  beforeAll(async () => {
    story = await playStory(world, story.cookie);
  });

  test.each(looks)('%s', async (look) => {
    expect(await faultsOf(look, statesOf(look, false))).toEqual([]);
  });

  test('a button that is missing, elsewhere or of another colour is noticed', async () => {
    const state = STATES.find(({ name, look }) => name === 'list' && look === 'desk-light-en')!;
    const profile = await profileOf(state.look);
    const page = await profile.newPage();
    await show(page, state);
    const expected = readPng(readFileSync(path.join(stored, `${nameOf(state)}.png`)));
    const button = page.getByRole('button', { name: 'Filters', includeHidden: true });
    const box = (await button.boundingBox())!;
    for (const [what, change] of Object.entries(CHANGES)) {
      await button.evaluate((element, css) => element.setAttribute('style', css), change);
      const found = difference(expected, reduced((await pictureOf(page)).picture));
      expect(isSame(found), what).toBe(false);
      // A window around it, and its width to the right.
      expect(found.within?.x, what).toBeGreaterThan(box.x - 16);
      expect(found.within?.right, what).toBeLessThan(box.x + 2 * box.width + 16);
      await button.evaluate((element) => element.removeAttribute('style'));
    }
    expect(isSame(difference(expected, reduced((await pictureOf(page)).picture)))).toBe(true);
    await profile.close();
  });
});
