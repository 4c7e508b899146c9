/** Single-key shortcuts act only where a letter cannot be meant as text, and while they are switched on (ui §1.8). */

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

/** What was typed since a dialog was asked for whose code may still be on its way; null while none is awaited. */
let ahead: { text: string; isSent: boolean } | null = null;

/** What is typed from now on is meant for the dialog that is about to open. */
export function awaitDialog() {
  ahead = { text: '', isSent: false };
}

function typeAhead(event: KeyboardEvent, typed: NonNullable<typeof ahead>) {
  const hasModifier = event.ctrlKey || event.metaKey;
  if (event.key === 'Enter' && hasModifier) typed.isSent = true;
  else if (hasModifier || event.altKey || typed.isSent) return;
  else if (event.key === 'Backspace') typed.text = typed.text.slice(0, -1);
  else if (event.key.length === 1) typed.text += event.key;
  else return;
  event.preventDefault();
}

/**
 * Gives what was typed while the dialog was awaited to the field that has the focus in it, and submits where Ctrl+Enter
 * was among it. Without a text field it is dropped: a letter picks nothing in a list that nobody has seen.
 */
export function giveTyped(field: Element | null) {
  const typed = ahead;
  ahead = null;
  if (typed === null || !(field instanceof HTMLTextAreaElement)) return;
  if (typed.text !== '') {
    field.setRangeText(typed.text, field.value.length, field.value.length, 'end');
    field.dispatchEvent(
      new InputEvent('input', { bubbles: true, inputType: 'insertText', data: typed.text }),
    );
  }
  if (typed.isSent) field.form?.requestSubmit();
}

/**
 * The key of a shortcut press, or null when the press is meant for something else. Ctrl/Cmd+Z is the key z, also while
 * single keys are switched off.
 */
export function shortcutKey(event: KeyboardEvent, enabled: boolean): string | null {
  if (ahead !== null) {
    if (!event.defaultPrevented && !event.isComposing) typeAhead(event, ahead);
    return null;
  }
  if (event.defaultPrevented || event.isComposing || event.altKey) return null;
  const hasModifier = event.ctrlKey || event.metaKey;
  if (hasModifier ? event.key !== 'z' : !enabled) return null;
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
