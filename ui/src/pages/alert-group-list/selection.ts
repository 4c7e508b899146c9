/** Which rows a bulk Command is for: one by one, a range from the last one, or all (ui §3). */

import { tick } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';

/** The most that can be selected, rows that are not loaded included. */
export const MOST_SELECTED = 5_000;

/** @param full is called when something could not be selected any more */
export function createSelection(full: () => void) {
  const ids = new SvelteSet<string>();
  let last: string | null = null;

  function add(wanted: readonly string[]): void {
    for (const id of wanted) {
      if (ids.size < MOST_SELECTED) ids.add(id);
      else if (!ids.has(id)) {
        full();
        return;
      }
    }
  }

  return {
    ids: ids as ReadonlySet<string>,
    /** Turns one on or off; with `range`, everything from the last one to this one on. @param rows all, in order */
    select(id: string, range: boolean, rows: readonly string[]) {
      const from = range && last !== null ? rows.indexOf(last) : -1;
      const to = rows.indexOf(id);
      if (from >= 0) add(rows.slice(Math.min(from, to), Math.max(from, to) + 1));
      else if (ids.has(id)) ids.delete(id);
      else add([id]);
      last = id;
    },
    add,
    drop: (id: string) => ids.delete(id),
    clear: () => ids.clear(),
  };
}

/** Id of the Alert Group in whose row the focus is. */
export function focusedRow(): string | null {
  const row = document.activeElement?.closest('[data-group]');
  return row instanceof HTMLElement ? (row.dataset.group ?? null) : null;
}

export function focusRow(id: string): void {
  const link = document.querySelector<HTMLElement>(`[data-group="${id}"] a`);
  link?.focus();
  link?.scrollIntoView({ block: 'nearest' });
}

/**
 * Gives the focus to a row, unless something else has it, and brings it into sight.
 * @param settle is called when the page has to be scrolled for that
 */
export function returnToRow(id: string, settle: () => void): void {
  const link = document.querySelector<HTMLElement>(`[data-group="${id}"] a`);
  if (link === null || document.activeElement !== document.body) return;
  link.focus({ preventScroll: true });
  const { top, bottom } = link.getBoundingClientRect();
  const margin = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
  if (top >= margin && bottom <= window.innerHeight) return;
  settle();
  link.scrollIntoView({ block: 'center' });
}

/** Opens the menu of a row and gives the focus to its first entry. */
export async function openRowMenu(id: string): Promise<void> {
  document.querySelector<HTMLElement>(`[data-group="${id}"] .menu button`)?.click();
  await tick();
  document.querySelector<HTMLElement>(`[data-group="${id}"] [data-menu] button`)?.focus();
}
