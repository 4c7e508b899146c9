/** Single-key shortcuts act only where a letter cannot be meant as text, and only while they are switched on (ui §1.8). */

/** What takes letters itself, or holds what does. The check boxes that select rows are part of their row. */
const TAKES_KEYS =
  'input:not([data-selects-rows]), textarea, select, [contenteditable], [role="listbox"], [role="combobox"], dialog, [data-menu]';
/** While one of these is open, every key is meant for it, wherever the focus is. */
const OPEN_ABOVE = 'dialog[open], [data-menu]';

/**
 * How long letters are still meant for a field that lost the focus while somebody typed, because the page removed, replaced
 * or disabled it; ms after the last of them. The focus is nowhere then; a dialog that closes gives it back.
 */
const STILL_TYPING_MS = 1_000;
let lastLetterAt = Number.NEGATIVE_INFINITY;

/** The key of a shortcut press, or null when the press is meant for something else. */
export function shortcutKey(event: KeyboardEvent, enabled: boolean): string | null {
  if (!enabled || event.defaultPrevented || event.isComposing) return null;
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const { target } = event;
  if (!(target instanceof Element)) return null;
  const isLetter = event.key.length === 1;
  if (target.closest(TAKES_KEYS) !== null) {
    // Escape, Tab and Enter leave a field on purpose.
    lastLetterAt = isLetter ? event.timeStamp : Number.NEGATIVE_INFINITY;
    return null;
  }
  if (document.querySelector(OPEN_ABOVE) !== null) return null;
  if (isLetter && target === document.body && event.timeStamp - lastLetterAt < STILL_TYPING_MS) {
    lastLetterAt = event.timeStamp;
    return null;
  }
  return event.key;
}

/** Ctrl/Cmd+K works everywhere. */
export function isPaletteKey(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
}

export interface Shortcut {
  readonly keys: readonly string[];
  readonly text:
    | 'keys.help'
    | 'keys.palette'
    | 'keys.search'
    | 'keys.move'
    | 'keys.open'
    | 'keys.select'
    | 'keys.selectRange'
    | 'keys.selectAll'
    | 'keys.selectFound'
    | 'keys.menu'
    | 'keys.acknowledge'
    | 'keys.resolve'
    | 'keys.snooze'
    | 'keys.undo'
    | 'keys.note'
    | 'keys.go'
    | 'keys.escape'
    | 'keys.submit';
}

export const SHORTCUTS: readonly Shortcut[] = [
  { keys: ['?'], text: 'keys.help' },
  { keys: ['Ctrl', 'K'], text: 'keys.palette' },
  { keys: ['g', 'a / s / i / r / c / d / l / t / p / y'], text: 'keys.go' },
  { keys: ['/'], text: 'keys.search' },
  { keys: ['j', 'k'], text: 'keys.move' },
  { keys: ['Enter'], text: 'keys.open' },
  { keys: ['x'], text: 'keys.select' },
  { keys: ['Shift', 'x'], text: 'keys.selectRange' },
  { keys: ['Shift', 'a'], text: 'keys.selectAll' },
  { keys: ['/', 'Ctrl', 'Enter'], text: 'keys.selectFound' },
  { keys: ['.'], text: 'keys.menu' },
  { keys: ['a'], text: 'keys.acknowledge' },
  { keys: ['r'], text: 'keys.resolve' },
  { keys: ['s'], text: 'keys.snooze' },
  { keys: ['u'], text: 'keys.undo' },
  { keys: ['n'], text: 'keys.note' },
  { keys: ['Ctrl', 'Enter'], text: 'keys.submit' },
  { keys: ['Esc'], text: 'keys.escape' },
];
