/** What the operations on Alert Groups share: their stores, the group of a call, a row for the caller, texts of Notes. */

import * as v from 'valibot';
import type { AlertGroupMetrics } from '../../../actors/alert-group/metrics.ts';
import type { GroupReader, StoredGroup } from '../../../actors/alert-group/reading/readers.ts';
import { type GroupLink, type GroupLinks, linksOfAlerts } from '../../../actors/links/evaluate.ts';
import { codePoints } from '../../../actors/text.ts';
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Call, Identity } from '../../operation.ts';
import { commanderOf, groupBody } from './bodies.ts';

export interface AlertGroupOperationsDeps {
  readonly reader: GroupReader;
  /** Of an Alert Group that is read by itself. */
  readonly links: GroupLinks;
  readonly system: Pick<ActorSystem, 'ask'>;
  readonly log: Log;
  /** Counts Commands, where metrics are kept. */
  readonly metrics?: Pick<AlertGroupMetrics, 'command'>;
}

export const TAG = 'Alert Groups';
export const GROUP_IDS = { alert_group_id: 'AG' } as const;

export function groupIdOf({ params }: Pick<Call, 'params'>): PublicId {
  const { alert_group_id: id } = params;
  if (id === undefined) throw new Error('the path names no Alert Group');
  return id;
}

/** @throws when the operation was declared without a needed identity */
export function identityOf({ identity }: Pick<Call, 'identity'>): Identity {
  if (!identity) throw new Error('the operation needs an identity');
  return identity;
}

/**
 * The Alert Group for this caller, as a row of a list: it links to what its Alerts carry. Link rules are run for a group
 * that is read by itself, a page of 500 would run them for half a million Alerts.
 */
export function rowFor(
  call: Pick<Call, 'identity' | 'directory'>,
  group: StoredGroup,
  labelColumns: readonly string[] = [],
) {
  return bodyWith(call, group, labelColumns, linksOfAlerts(group));
}

/** The Alert Group for this caller, with every link. */
export async function bodyFor(
  { links }: Pick<AlertGroupOperationsDeps, 'links'>,
  call: Pick<Call, 'identity' | 'directory' | 'now'>,
  group: StoredGroup,
  labelColumns: readonly string[] = [],
) {
  return bodyWith(call, group, labelColumns, await links.of(group, call));
}

function bodyWith(
  call: Pick<Call, 'identity' | 'directory'>,
  group: StoredGroup,
  labelColumns: readonly string[],
  links: readonly GroupLink[],
) {
  const commander = commanderOf(identityOf(call));
  return groupBody(group, { directory: call.directory, commander, labelColumns, links });
}

/** Setting alert_group.note_max_length. */
const NOTE_LIMIT = 4000;

const withinLimit = v.check((text: string) => codePoints(text) <= NOTE_LIMIT, 'too_long');

/** Text of a Note, kept as it was sent: 1 to 4,000 code points. */
export const noteText = v.pipe(v.string(), v.nonEmpty('too_short'), withinLimit);

/** The same where an empty text stands for no Note (alert-groups §6.6). */
export const noteTextOrEmpty = v.pipe(v.string(), withinLimit);

export function isBlank(text: string): boolean {
  return text.trim() === '';
}
