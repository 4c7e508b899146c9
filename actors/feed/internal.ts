/**
 * Snapshots of the built-in Integration: a condition of Tocsin itself began, changed its texts, or ended
 * (internal-alerts §2.1 rule 6). Omitted Alerts are not evaluated, there are no windows, and a replay sends nothing
 * that was sent before.
 */
import { step, type TurnEnv } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { type AlertMapper, createParts, type MappedAlert } from './alert-mapper.ts';
import type { Comparison } from './compare.ts';
import type { InternalAlertReported } from './effects.ts';
import { feedMachine } from './machine.ts';
import type { SnapshotReceived } from './messages.ts';
import type { Home } from './ports.ts';
import { homeIn, type Surroundings, targetIn } from './prepare.ts';
import { type FeedRows, type Presence, UNSENT } from './rows.ts';
import type { Snapshot, SnapshotEntry } from './snapshot.ts';
import { type FeedActor, type FeedTurn, keep, recordsOf, report, sendsOf, turn } from './turn.ts';

export interface InternalInputs {
  /** Receipt of the Snapshot, µs. */
  readonly receivedAt: Micros;
  /** The Snapshot was processed before, so nothing is sent again. */
  readonly replayed: boolean;
  map(entry: SnapshotEntry): MappedAlert;
  /** Of Alerts without a presence. */
  home(fingerprint: string): Home | null;
  /** The Alert Group for a firing Alert that no group holds yet. */
  target(fingerprint: string): PublicId;
}

export interface InternalComparison extends Comparison {
  readonly reported: readonly InternalAlertReported[];
}

/** Does not change `rows`. */
function compareInternal(snapshot: Snapshot, rows: FeedRows, inputs: InternalInputs): InternalComparison {
  const parts = createParts();
  const saved: Presence[] = [];
  const reported: InternalAlertReported[] = [];
  const counts = { fired: 0, resolved: 0, gone: 0, continued: 0, dropped: 0 };
  const { receivedAt, replayed } = inputs;

  for (const entry of replayed ? [] : snapshot.entries) {
    const presence = rows.get(entry.fingerprint) ?? null;
    if (entry.status === 'resolved') hearResolve(entry, presence);
    else if (presence === null) hearUnknownRaise(entry);
    else hearRaise(entry, presence);
  }
  return {
    parts: parts.list(),
    saved,
    removed: [],
    counts,
    complete: false,
    certain: false,
    ends: [],
    reported,
  };

  function hearRaise(entry: SnapshotEntry, presence: Presence): void {
    const { groupId, startsAt } = presence;
    if (presence.digest === UNSENT) {
      if (entry.startsAt > startsAt) begin(entry, groupId, null);
      return;
    }
    if (receivedAt < presence.since || entry.digest === presence.digest) return;
    goOn(entry, groupId, startsAt);
  }

  /** New texts for the same firing, whatever start they carry. */
  function goOn(entry: SnapshotEntry, groupId: PublicId, startsAt: Micros): void {
    listen(entry, groupId, startsAt);
    parts
      .of(groupId)
      .firing.push({ ...inputs.map({ ...entry, startsAt }), history: null, since: receivedAt });
  }

  function hearUnknownRaise(entry: SnapshotEntry): void {
    const { fingerprint } = entry;
    const home = inputs.home(fingerprint);
    if (home && home.history.state !== 'firing' && entry.startsAt <= home.history.startsAt) return;
    if (home?.history.state === 'firing') {
      goOn(entry, home.groupId, home.history.startsAt);
      return;
    }
    const groupId = home?.live ? home.groupId : inputs.target(fingerprint);
    begin(entry, groupId, home && home.groupId !== groupId ? home : null);
  }

  function begin(entry: SnapshotEntry, groupId: PublicId, lastHome: Home | null): void {
    listen(entry, groupId, entry.startsAt);
    const history = lastHome?.history ?? null;
    parts.of(groupId).firing.push({ ...inputs.map(entry), history, since: receivedAt });
    counts.fired += 1;
    reported.push(reportOf('raised', entry));
  }

  function listen({ fingerprint, digest }: SnapshotEntry, groupId: PublicId, startsAt: Micros): void {
    saved.push({
      fingerprint,
      groupId,
      state: 'listed',
      since: receivedAt,
      listedAt: null,
      startsAt,
      digest,
    });
  }

  function hearResolve(entry: SnapshotEntry, presence: Presence | null): void {
    const { fingerprint } = entry;
    const home = presence === null ? inputs.home(fingerprint) : null;
    const isFiring = presence ? presence.digest !== UNSENT : home?.history.state === 'firing';
    const firing = presence ?? (home && { groupId: home.groupId, startsAt: home.history.startsAt });
    if (!isFiring || firing === null || firing.startsAt > entry.startsAt) return;
    parts.of(firing.groupId).resolved.push({ fingerprint, startsAt: firing.startsAt });
    counts.resolved += 1;
    reported.push(reportOf('resolved', entry));
    if (presence) saved.push({ ...presence, digest: UNSENT });
  }
}

function reportOf(
  change: InternalAlertReported['change'],
  { labels, fingerprint }: SnapshotEntry,
): InternalAlertReported {
  const { alertname = '', integration, destination, route } = labels;
  const entityId = integration ?? destination ?? route ?? null;
  return { type: 'internal_alert.reported', change, alertname, fingerprint, entityId };
}

/** A Snapshot of the built-in Integration: no window, no absence, no truncation (internal-alerts §2.1 rule 6). */
export function handleInternal(
  actor: FeedActor,
  message: SnapshotReceived,
  env: TurnEnv,
  mapper: AlertMapper,
): FeedTurn {
  const { snapshot, receivedAt } = message;
  const surroundings = env.prepared as Surroundings | undefined;
  const comparison = compareInternal(snapshot, actor.rows, {
    receivedAt,
    replayed: message.replayed,
    map: mapper.map,
    home: (fingerprint) => homeIn(surroundings, fingerprint),
    target: (fingerprint) => targetIn(surroundings, fingerprint),
  });
  const { snapshot: state } = step(feedMachine, actor.state, {
    type: 'snapshot',
    receivedAt,
    duplicateWindow: 0,
    replayed: message.replayed,
    alertSet: snapshot.alertSet,
    reason: null,
    truncated: false,
    complete: false,
    digest: null,
    verified: false,
    ends: [],
    isPresent: () => true,
  });
  keep(actor.rows, comparison);
  const sends = sendsOf(actor, message, comparison, 'opens', 0, surroundings?.fresh);
  return {
    ...turn(state),
    sends: sends.map((send) => ({ ...send, message: { ...send.message, isInternal: true } })),
    records: recordsOf(actor, message, env, comparison),
    performs: [report(actor, message, comparison.counts, null, message.replayed), ...comparison.reported],
  };
}
