/** The order of Routes, as ids from the first that is asked to the last before Default. Pure. */

/** The list with one id moved to another place, counted from 0 and kept within the list; unknown ids move nothing. */
export function movedTo(ids: readonly string[], id: string, place: number): readonly string[] {
  if (!ids.includes(id)) return ids;
  const others = ids.filter((each) => each !== id);
  const to = Math.min(others.length, Math.max(0, Math.trunc(place)));
  return [...others.slice(0, to), id, ...others.slice(to)];
}

/** Where something ends that is dropped on a row: at that row's place; dropped on one that cannot be moved, last. */
export function dropPlace(ids: readonly string[], target: string): number {
  const place = ids.indexOf(target);
  return place < 0 ? ids.length - 1 : place;
}
