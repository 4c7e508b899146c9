/**
 * Whether new rows may enter by themselves: the page stands at its top and no row is under the pointer or focused, or
 * nobody pointed, typed or scrolled for five seconds (ui §1.6 rule 4). Call during component initialisation.
 */
export function createQuiet(otherwise: () => boolean): () => boolean {
  const QUIET_MS = 5_000;
  const EVENTS = ['pointermove', 'pointerdown', 'keydown', 'scroll'] as const;
  let touchedAt = Date.now();
  const touch = () => {
    touchedAt = Date.now();
  };
  $effect(() => {
    for (const name of EVENTS) window.addEventListener(name, touch, { passive: true });
    return () => {
      for (const name of EVENTS) window.removeEventListener(name, touch);
    };
  });
  return () => {
    if (!otherwise() || window.scrollY !== 0 || document.activeElement?.closest('[data-group]')) return false;
    const isUnderPointer = document.querySelector('[data-group]:hover') !== null;
    return !isUnderPointer || Date.now() - touchedAt >= QUIET_MS;
  };
}
