/** What a page offers to people who use no mouse, a large zoom or a screen reader, measured in the page itself. */
import type { CDPSession, Page, Request } from 'playwright-core';
import { until } from './until.ts';

/** Resolves in the page once it has drawn what it has. */
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))';

/** Follows the reads of a page. @returns waits until all are answered and drawn; the live stream never ends */
export function followReads(page: Page): () => Promise<void> {
  const reading = new Set<Request>();
  page.on('request', (request) => {
    // What another document asked for is nobody's any more.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) reading.clear();
    if (isRead(request)) reading.add(request);
  });
  page.on('requestfinished', (request) => void reading.delete(request));
  page.on('requestfailed', (request) => void reading.delete(request));
  return async () => {
    await until('what the page reads', async () => {
      if (reading.size > 0) throw new Error([...reading].map((request) => request.url()).join(' '));
      return true;
    });
    await page.evaluate(DRAWN);
  };
}

function isRead(request: Request): boolean {
  const { pathname } = new URL(request.url());
  return request.method() === 'GET' && /^\/api\/(?!.*\/live-updates$)/.test(pathname);
}

export interface Focused {
  /** As a screen reader names it: role, name and state. */
  readonly said: string;
  /** Why the person does not see where the focus is. */
  readonly faults: readonly string[];
}

/** The element that has the focus; null when none has. */
export async function focused(page: Page, tree: CDPSession): Promise<Focused | null> {
  const { result } = await tree.send('Runtime.evaluate', { expression: 'document.activeElement' });
  const { nodes } = await tree.send('Accessibility.getPartialAXTree', {
    objectId: result.objectId!,
    fetchRelatives: false,
  });
  const faults = await page.evaluate<string[] | null>(FOCUS_FAULTS);
  if (faults === null) return null;
  return { said: spoken(nodes[0]), faults };
}

const FOCUS_FAULTS = String.raw`(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  const faults = [];
  const [first] = element.getClientRects();
  const box = {
    left: Math.max(0, first.left),
    top: Math.max(0, first.top),
    right: Math.min(innerWidth, first.right),
    bottom: Math.min(innerHeight, first.bottom),
  };
  const hit = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  if (box.bottom <= box.top || box.right <= box.left) faults.push('is outside of the window');
  else if (hit === null || !(element.contains(hit) || hit.closest('label')?.control === element))
    faults.push('is behind ' + hit?.tagName.toLowerCase() + '.' + hit?.getAttribute('class'));
  const ring = (each) => {
    const { outlineStyle, outlineWidth, outlineOffset, outlineColor } = getComputedStyle(each);
    const isDrawn = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 && !/^rgba.*, 0\)$/.test(outlineColor);
    return isDrawn ? { each, reach: Math.max(0, parseFloat(outlineOffset) + parseFloat(outlineWidth) / 2) } : null;
  };
  let drawn = ring(element);
  for (let around = element.parentElement, left = 3; drawn === null && left > 0; left--, around = around.parentElement)
    drawn = ring(around);
  if (drawn === null) return [...faults, 'has no focus mark'];
  const { left, top, right, bottom } = drawn.each.getBoundingClientRect();
  const sides = { left: left - drawn.reach, top: top - drawn.reach, right: right + drawn.reach, bottom: bottom + drawn.reach };
  const cut = new Set();
  for (let around = drawn.each.parentElement; around !== document.documentElement; around = around.parentElement) {
    const style = getComputedStyle(around);
    if (/^(inline|contents)$/.test(style.display)) continue;
    const area = around.getBoundingClientRect();
    if (style.overflowX !== 'visible') {
      if (sides.left < area.left - 0.5) cut.add('left');
      if (sides.right > area.right + 0.5) cut.add('right');
    }
    if (style.overflowY !== 'visible') {
      if (sides.top < area.top - 0.5) cut.add('top');
      if (sides.bottom > area.bottom + 0.5) cut.add('bottom');
    }
  }
  if (cut.size > 2) faults.push('has a focus mark that is cut off: ' + [...cut]);
  return faults;
})()`;

interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value?: unknown };
  readonly name?: { readonly value?: unknown };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[];
}

const STATES = ['pressed', 'checked', 'expanded', 'selected', 'disabled', 'invalid'];

function spoken(node: AxNode | undefined): string {
  if (node === undefined || node.ignored) return 'nothing';
  const states = (node.properties ?? [])
    .filter(
      ({ name, value }) =>
        STATES.includes(name) && !['false', false, undefined].includes(value.value as string),
    )
    .map(({ name, value }) =>
      value.value === true || value.value === 'true' ? name : `${name} ${value.value}`,
    );
  return [node.role?.value, `"${node.name?.value ?? ''}"`, ...states].join(' ');
}

const CONTROLS =
  /^(button|link|textbox|searchbox|combobox|checkbox|radio|switch|slider|spinbutton|tab|menuitem\w*|option|listbox)$/;

/**
 * What a screen reader would stumble over: no h1 or several, a heading that skips a level, a control without a name.
 * What is behind a dialog does not count; a dialog begins with its own h2.
 */
export async function treeFaults(page: Page, tree: CDPSession): Promise<readonly string[]> {
  const { nodes } = await tree.send('Accessibility.getFullAXTree');
  const read = (nodes as readonly AxNode[]).filter(({ ignored }) => !ignored);
  const isModal = await page.evaluate<boolean>('document.querySelector("dialog:modal") !== null');
  const headings = read
    .filter(({ role }) => role?.value === 'heading')
    .map(({ name, properties }) => ({
      text: String(name?.value ?? ''),
      level: Number(properties?.find((each) => each.name === 'level')?.value.value),
    }));
  const faults = headings.flatMap(({ text, level }, index) => {
    const before = headings[index - 1]?.level ?? (isModal ? 1 : 0);
    if (text.trim() === '') return [`an empty h${level}`];
    return level > before + 1 ? [`h${level} "${text}" after h${before}`] : [];
  });
  const first = headings.filter(({ level }) => level === 1).length;
  if (!isModal && first !== 1) faults.push(`${first} h1`);
  if (isModal && headings.length === 0) faults.push('a dialog without a heading');
  for (const node of read) {
    if (!CONTROLS.test(String(node.role?.value))) continue;
    if (String(node.name?.value ?? '').trim() === '') faults.push(`${node.role?.value} without a name`);
  }
  return faults;
}

/**
 * Writes down what a screen reader announces by itself: what changes in a live region that was there before, and an alert
 * that appears. Neither is announced behind a dialog. To be called before the page is opened.
 */
export async function listen(page: Page): Promise<void> {
  await page.addInitScript(LISTEN);
}

/** What was announced since this was called last, oldest first. */
export const announced = (page: Page) => page.evaluate<string[]>('globalThis.announced.splice(0)');

/** Waits for an announcement. @returns all since {@link announced} or this was called last, in their order */
export async function heard(page: Page, last: string): Promise<string[]> {
  await until(`the announcement "${last}"`, async () =>
    page.evaluate<boolean>(`globalThis.announced.includes(${JSON.stringify(last)})`),
  );
  return announced(page);
}

const LISTEN = String.raw`(() => {
  const REGIONS = '[aria-live="polite"], [aria-live="assertive"], [role="status"], [role="alert"]';
  const announced = (globalThis.announced = []);
  const known = new WeakSet();
  const isAlert = (region) => region.getAttribute('role') === 'alert' || region.getAttribute('aria-live') === 'assertive';
  const textOf = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.getAttribute('aria-hidden') === 'true') return '';
    return [...node.childNodes].map(textOf).join('') + ' ';
  };
  const around = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest(REGIONS) ?? null;
  const observer = new MutationObserver((records) => {
    const changed = new Map();
    for (const { target, addedNodes, type } of records) {
      const region = around(target);
      if (region !== null && known.has(region)) {
        const parts = changed.get(region) ?? new Set();
        for (const part of type === 'characterData' ? [target] : addedNodes) parts.add(part);
        changed.set(region, parts);
      }
      for (const added of addedNodes) {
        if (added.nodeType !== Node.ELEMENT_NODE) continue;
        for (const each of [added, ...added.querySelectorAll('[role="alert"]')])
          if (each.matches('[role="alert"]')) changed.set(each, new Set([each]));
      }
    }
    const dialog = [...document.querySelectorAll('dialog:modal')].at(-1);
    for (const [region, parts] of changed) {
      if (!region.isConnected || (dialog !== undefined && !dialog.contains(region))) continue;
      const isWhole = region.getAttribute('role') !== null && region.getAttribute('aria-atomic') !== 'false';
      const inside = [...parts].filter((part) => part.isConnected && ![...parts].some((other) => other !== part && other.contains(part)));
      const text = (isWhole && inside.length > 0 ? [region] : inside).map(textOf).join(' ').replaceAll(/\s+/g, ' ').trim();
      if (text !== '') announced.push((isAlert(region) ? 'assertive: ' : 'polite: ') + text);
    }
    for (const region of document.querySelectorAll(REGIONS)) known.add(region);
  });
  observer.observe(document, { subtree: true, childList: true, characterData: true });
})()`;
