/** Which rows a bulk Command is for: one by one, a range from the last one, or all (ui §3). */

import { tick } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';

/** The most that one bulk Command takes. */
export const BULK_MAX = 100;

/** @param full is called when something could not be selected any more */
export function createSelection(full: () => void) {
  const ids = new SvelteSet<string>();
  let last: string | null = null;

  function add(wanted: readonly string[]): void {
    for (const id of wanted) {
      if (ids.size < BULK_MAX) ids.add(id);
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

/** Opens the menu of a row and gives the focus to its first entry. */
export async function openRowMenu(id: string): Promise<void> {
  document.querySelector<HTMLElement>(`[data-group="${id}"] .menu button`)?.click();
  await tick();
  document.querySelector<HTMLElement>(`[data-group="${id}"] [data-menu] button`)?.focus();
}
