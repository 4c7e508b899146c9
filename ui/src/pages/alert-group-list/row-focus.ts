/** Which row has the focus, and giving it to one; rows are known by their `data-group` (ui §1.8). */

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

export function openRowMenu(id: string): void {
  document.querySelector<HTMLElement>(`[data-group="${id}"] .menu button`)?.click();
}
