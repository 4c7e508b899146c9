/** The label by which the list is folded, as people type it (ui §3). */

/** As the API takes it. */
const MOST_CHARACTERS = 200;

/** The name of a label; null for text that is none, such as a matcher or several words. */
export function toLabelName(typed: string): string | null {
  const name = typed.trim();
  return /^[^\s"'`=~!{},]+$/.test(name) && name.length <= MOST_CHARACTERS ? name : null;
}
