/** Collects what of a part belongs to other Alert Groups and sends each of them its share (ingestion §5.1 rule 2). */
import type { PublicId } from '../../runtime/public-id.ts';
import { alertKey } from '../model.ts';
import {
  alertGroupAddress,
  type FiringEntry,
  type PresenceChange,
  type ResolvedEntry,
  type SnapshotPart,
  type Withdrawal,
} from './messages.ts';
import type { Outside } from './outside.ts';
import { successorOf, targetOf } from './placing.ts';
import type { GroupAlert } from './rows.ts';
import type { GroupTurn } from './turn.ts';

interface Share {
  readonly firing: FiringEntry[];
  readonly resolved: ResolvedEntry[];
  readonly groupWideResolved: string[];
  readonly withdrawn: Withdrawal[];
  readonly presences: PresenceChange[];
}

export class PassedOn {
  readonly #turn: GroupTurn;
  readonly #part: SnapshotPart;
  readonly #outside: Outside;
  readonly #shares = new Map<PublicId, Share>();

  constructor(turn: GroupTurn, part: SnapshotPart, outside: Outside) {
    this.#turn = turn;
    this.#part = part;
    this.#outside = outside;
  }

  /** A new firing that this group does not take: to its successor, or to whom another Slot names. */
  entry(entry: FiringEntry, ownSlot: boolean): void {
    // Without a look-up the group asks itself once more: the next turn prepares for what this one found out.
    const target =
      ownSlot && this.#turn.state.stage === 'started'
        ? successorOf(this.#turn, this.#outside.slots)
        : (targetOf(this.#turn, entry.slot, this.#outside.slots) ?? this.#turn.groupId);
    this.entryTo(target, entry);
  }

  entryTo(target: PublicId, entry: FiringEntry): void {
    this.#shareOf(target).firing.push(entry);
  }

  /** A resolve of an Alert that does not fire here. Answers whether there is somebody to judge it. */
  resolved(entry: ResolvedEntry, alert: GroupAlert | undefined): boolean {
    const target = this.#homeOf(entry.fingerprint, alert);
    if (target) this.#shareOf(target).resolved.push(entry);
    return target !== null;
  }

  groupWide(fingerprint: string, alert: GroupAlert | undefined): void {
    const target = this.#homeOf(fingerprint, alert);
    if (target) this.#shareOf(target).groupWideResolved.push(fingerprint);
  }

  withdrawal(withdrawal: Withdrawal, alert: GroupAlert | undefined): void {
    const target = this.#homeOf(withdrawal.fingerprint, alert);
    if (target) this.#shareOf(target).withdrawn.push(withdrawal);
  }

  /** Answers whether there is somebody to hear it. */
  presence(change: PresenceChange, alert: GroupAlert | undefined): boolean {
    const target = this.#homeOf(change.fingerprint, alert);
    if (target) this.#shareOf(target).presences.push(change);
    return target !== null;
  }

  send(): void {
    for (const [target, share] of this.#shares) {
      const message: SnapshotPart = { ...this.#part, ...share, hops: this.#part.hops + 1 };
      this.#turn.send({ to: alertGroupAddress(target), message });
    }
  }

  /** Where an Alert that once was here, or never was, may fire now. */
  #homeOf(fingerprint: string, alert: GroupAlert | undefined): PublicId | null {
    const found = this.#outside.homes.get(alertKey(this.#part.integrationId, fingerprint));
    if (found && found !== this.#turn.groupId) return found;
    if (alert?.movedTo) return alert.movedTo;
    return this.#turn.state.stage === 'started' ? this.#turn.state.successorId : null;
  }

  #shareOf(target: PublicId): Share {
    const known = this.#shares.get(target);
    if (known) return known;
    const share: Share = { firing: [], resolved: [], groupWideResolved: [], withdrawn: [], presences: [] };
    this.#shares.set(target, share);
    return share;
  }
}
