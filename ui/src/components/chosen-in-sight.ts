/** Scrolls a bar of tabs sideways, no more than needed, so that the chosen one is in sight; on a phone it may not be. */
export function chosenInSight(bar: HTMLElement): void {
  const chosen = bar.querySelector<HTMLElement>('[aria-pressed="true"], [aria-current="page"]');
  if (chosen === null) return;
  const before = chosen.offsetLeft - bar.offsetLeft;
  const beyond = before + chosen.offsetWidth - bar.clientWidth;
  if (before < bar.scrollLeft) bar.scrollLeft = before;
  else if (beyond > bar.scrollLeft) bar.scrollLeft = beyond;
}
