/** What else fires around an Alert Group, and what its Route and Group key had before (alert-groups §10.1). */
import { DAY, MINUTE, type Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Labels } from '../../model.ts';
import type { GroupRef } from '../ports.ts';
import type { StoredGroup } from './readers.ts';
import type { NoteEntry } from './timeline.ts';

/** Labels that name a place or a program. Two Alert Groups with the same value of one of them may have one cause. */
export const COMPARED_LABELS = ['namespace', 'service', 'node', 'host', 'instance'] as const;
/** Counts beside one of {@link COMPARED_LABELS}. Two that both have it and differ share nothing. */
export const CLUSTER_LABEL = 'cluster';
/** How near another start must be, and how far back from now it may be. */
export const NEARBY_SPAN: Micros = 30 * MINUTE;
export const NEARBY_SHOWN = 10;
/** Open Alert Groups that are compared: of those before, those after and those of the last minutes. */
export const NEARBY_COMPARED = 500;

export const PAST_SPAN: Micros = 30 * DAY;
/** Earlier Alert Groups that are counted, and those of which people and Notes are read. */
export const PAST_COUNTED = 500;
export const PAST_READ = 20;
export const PAST_PEOPLE = 3;
export const PAST_NOTES = 3;

export interface ContextReader {
  /** Open Alert Groups that share labels with this one, most labels first. */
  nearby(group: StoredGroup, now: Micros): Promise<NearbyGroups>;
  past(group: StoredGroup): Promise<PastGroups>;
}

export interface NearbyGroups {
  /** At most {@link NEARBY_SHOWN}. */
  readonly groups: readonly StoredGroup[];
  /** How many of those compared share a label. */
  readonly count: number;
  /** More are open in the period than are compared. */
  readonly truncated: boolean;
}

export interface PastGroups {
  /** Start of the period that is counted; it ends with the start of this Alert Group. */
  readonly from: Micros;
  readonly count: number;
  /** There may be more than {@link PAST_COUNTED}. */
  readonly truncated: boolean;
  /** Of those that are resolved, µs; null without any. */
  readonly medianDuration: number | null;
  /** Who acknowledged first, and how many of the last {@link PAST_READ}; the one who did so last comes first. */
  readonly people: readonly { readonly userId: PublicId; readonly count: number }[];
  /** The newest of the last {@link PAST_READ}, newest first. */
  readonly notes: readonly { readonly note: NoteEntry; readonly group: GroupRef }[];
}

/** The labels of an Alert Group that are compared; empty when it has none but the cluster. */
export function comparedLabels(common: Labels): Labels {
  const named = COMPARED_LABELS.filter((name) => common[name]);
  if (named.length === 0) return {};
  const names = common[CLUSTER_LABEL] ? [...named, CLUSTER_LABEL] : named;
  return Object.fromEntries(names.map((name) => [name, common[name] ?? '']));
}

/** Those of the compared labels that another Alert Group has with the same value. */
export function sharedLabels(compared: Labels, other: Labels): Labels {
  return Object.fromEntries(Object.entries(compared).filter(([name, value]) => other[name] === value));
}
