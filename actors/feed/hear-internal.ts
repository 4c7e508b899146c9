/** The turn of a feed of the built-in Integration. */
import { step, type TurnEnv } from '../../runtime/actor/index.ts';
import { compareInternal } from './internal.ts';
import { feedMachine } from './machine.ts';
import type { SnapshotReceived } from './messages.ts';
import { homeIn, type Surroundings, targetIn } from './prepare.ts';
import type { Teller } from './reports.ts';
import { type FeedActor, type FeedTurn, keep, recordsOf, report, sendsOf, turn } from './turn.ts';

/** A Snapshot of the built-in Integration: no window, no absence, no truncation (internal-alerts §2.1.6). */
export function hearInternal(
  actor: FeedActor,
  message: SnapshotReceived,
  env: TurnEnv,
  teller: Teller,
): FeedTurn {
  const { snapshot, receivedAt } = message;
  const surroundings = env.prepared as Surroundings | undefined;
  const comparison = compareInternal(snapshot, actor.rows, {
    receivedAt,
    replayed: message.replayed,
    tell: teller.tell,
    home: (fingerprint) => homeIn(surroundings, fingerprint),
    target: (fingerprint) => targetIn(surroundings, fingerprint),
  });
  const { snapshot: state } = step(feedMachine, actor.state, {
    type: 'snapshot',
    receivedAt,
    duplicateWindow: 0,
    replayed: message.replayed,
    alertSet: snapshot.alertSet,
    truncated: false,
    complete: false,
    digest: null,
    verified: false,
  });
  keep(actor.rows, comparison);
  const sends = sendsOf(actor, message, comparison, 'opens', 0);
  return {
    ...turn(state),
    sends: sends.map((send) => ({ ...send, message: { ...send.message, isInternal: true } })),
    records: recordsOf(actor, message, env, comparison),
    performs: [report(actor, message, comparison.counts, null, message.replayed), ...comparison.reported],
  };
}
