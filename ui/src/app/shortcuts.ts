/** Single-key shortcuts: only outside of inputs and dialogs, and only while they are switched on (ui §1.8). */

/** The key of a shortcut press, or null when the press is meant for something else. */
export function shortcutKey(event: KeyboardEvent, enabled: boolean): string | null {
  if (!enabled || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return null;
  const { target } = event;
  if (!(target instanceof Element)) return null;
  if (
    target.closest('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog')
  ) {
    return null;
  }
  if (document.querySelector('dialog[open]') !== null) return null;
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
  { keys: ['.'], text: 'keys.menu' },
  { keys: ['a'], text: 'keys.acknowledge' },
  { keys: ['r'], text: 'keys.resolve' },
  { keys: ['s'], text: 'keys.snooze' },
  { keys: ['u'], text: 'keys.undo' },
  { keys: ['n'], text: 'keys.note' },
  { keys: ['Ctrl', 'Enter'], text: 'keys.submit' },
  { keys: ['Esc'], text: 'keys.escape' },
];
