/** The Group key: which Alerts of a Route share an Alert Group (routes §6). */
import { hash } from 'node:crypto';
import { base32 } from '../../runtime/base32.ts';
import type { RouteConfig } from '../directory.ts';
import type { Labels, Slot } from '../model.ts';
import { labelValue } from './matcher.ts';

/** 130 bits of SHA-256, five a character. */
const HASH_BYTES = 17;
const HASH_LENGTH = 26;

/** The Slot of an Alert on its Route, by the Route's Group key as it is now. */
export function slotFor(route: Pick<RouteConfig, 'id' | 'groupKey'>, labels: Labels): Slot {
  const groupLabels = groupLabelsFor(route.groupKey, labels);
  return { routeId: route.id, keyHash: keyHash(groupLabels), groupLabels };
}

/** The value of every named label, `""` for one that is missing, in the order of the names. */
export function groupLabelsFor(groupKey: readonly string[], labels: Labels): Labels {
  return Object.fromEntries(groupKey.map((name) => [name, labelValue(labels, name)]));
}

/**
 * Identity of a key: a hash over its (name, value) pairs as 26 characters `[a-z2-7]`. Names are part of it, their order
 * is not.
 */
export function keyHash(groupLabels: Labels): string {
  const pairs = Object.entries(groupLabels).sort(([left], [right]) => (left < right ? -1 : 1));
  const digest = hash('sha256', JSON.stringify(pairs), 'buffer');
  return base32(digest.subarray(0, HASH_BYTES)).slice(0, HASH_LENGTH);
}
