/** The form of a Route and what is sent. */
import type { Matcher, Route, RouteInput, RouteProfile } from '../../api/shapes.ts';
import { filledRows } from './matcher-rows.ts';

/** What a change of a Route is tried on: the Alerts received in the last day. */
export const CHANGE_PERIOD_S = 86_400;

/** Everything of the body can be typed into; the group key is written as one line of label names. */
export interface RouteDraft {
  name: string;
  description: string;
  urgent: boolean;
  matchers: Matcher[];
  groupKey: string[];
  destinationIds: string[];
  snoozeDurations: number[];
  policy: Omit<MutablePolicy, 'snooze_durations_seconds'>;
}

type Mutable<T> = T extends readonly (infer Item)[]
  ? Item[]
  : T extends object
    ? { -readonly [Key in keyof T]: Mutable<T[Key]> }
    : T;
type MutablePolicy = Mutable<RouteInput['policy']>;

export function toInput(route: Route): RouteInput {
  const { name, description, matchers, urgent, group_key, destination_ids, policy } = route;
  return { name, description, matchers, urgent, group_key, destination_ids, policy };
}

/** A new Route with the starting values of a profile. */
export function fromProfile(profile: RouteProfile): RouteInput {
  const { urgent, group_key, policy } = profile;
  return { name: '', description: '', matchers: [], urgent, group_key, destination_ids: [], policy };
}

export function toDraft(input: RouteInput): RouteDraft {
  const { snooze_durations_seconds, ...policy } = structuredClone(input.policy) as MutablePolicy;
  return {
    name: input.name,
    description: input.description,
    urgent: input.urgent,
    matchers: [...input.matchers],
    groupKey: [...input.group_key],
    destinationIds: [...input.destination_ids],
    snoozeDurations: snooze_durations_seconds,
    policy,
  };
}

/** Without the Matcher rows that have nothing in them. */
export const settled = (draft: RouteDraft) => ({ ...draft, matchers: filledRows(draft.matchers) });

/** Matcher rows without anything in them are left out. */
export function fromDraft(draft: RouteDraft): RouteInput {
  return {
    name: draft.name,
    description: draft.description,
    matchers: filledRows(draft.matchers),
    urgent: draft.urgent,
    group_key: draft.groupKey,
    destination_ids: draft.destinationIds,
    policy: { ...draft.policy, snooze_durations_seconds: draft.snoozeDurations },
  };
}

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

/** The three notices of the ack timeout, counted from its start: F, 3F, 7F. */
export function ackNotices(first: number): readonly number[] {
  return [first, 3 * first, 7 * first];
}

/** The first intervals between Reminders: F, 2F, 4F … up to the cap, which then repeats. */
export function reminderIntervals(first: number, cap: number): readonly number[] {
  if (first <= 0) return [];
  const intervals: number[] = [];
  for (let next = first; intervals.length < 6; next *= 2) {
    intervals.push(Math.min(next, cap));
    if (next >= cap) break;
  }
  return intervals;
}
