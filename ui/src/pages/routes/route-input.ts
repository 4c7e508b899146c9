/** The form of a Route and what is sent. */
import type { Matcher, Route, RouteInput, RouteProfile } from '../../api/shapes.ts';
import { filledRows } from './matcher-rows.ts';

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
