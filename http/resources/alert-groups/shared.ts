/** What the operations on Alert Groups share: their stores, the group of a call, a row for the caller, texts of Notes. */
import * as v from 'valibot';
import type { AlertGroupMetrics } from '../../../actors/alert-group/metrics.ts';
import type { GroupReader, StoredGroup } from '../../../actors/alert-group/reading/readers.ts';
import type { GroupLinks } from '../../../actors/links/evaluate.ts';
import { codePoints } from '../../../actors/text.ts';
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Call, Identity } from '../../operation.ts';
import { commanderOf, groupBody } from './bodies.ts';

export interface AlertGroupOperationsDeps {
  readonly reader: GroupReader;
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

/** The Alert Groups for this caller, in their order; fewer, but at least one, where their links take long or are large. */
export async function bodiesFor(
  deps: Pick<AlertGroupOperationsDeps, 'links'>,
  call: Pick<Call, 'identity' | 'directory' | 'now'>,
  groups: readonly StoredGroup[],
  labelColumns: readonly string[] = [],
) {
  const { directory } = call;
  const commander = commanderOf(identityOf(call));
  const links = await deps.links.of(groups, call);
  return links.map((ofGroup, index) =>
    groupBody(groups[index] as StoredGroup, { directory, commander, labelColumns, links: ofGroup }),
  );
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
