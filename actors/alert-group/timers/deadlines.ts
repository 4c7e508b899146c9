/** Handles deadlines: notices, the end of a Snooze, the end of Grace and of its tails (alert-groups §3, §4, §8). */
import { alertKey, type Slot } from '../../model.ts';
import { rerenderSends } from '../announcements.ts';
import { fire, newlyFiring } from '../ingestion/firings.ts';
import { MAX_HOPS } from '../ingestion/part.ts';
import { acceptanceIn, liveSlot, sameSlot, successorOf, targetOf } from '../ingestion/placing.ts';
import { tailSlots } from '../ingestion/turn-inputs.ts';
import { alertGroupAddress, type Tail, type TailsHandover } from '../messages.ts';
import { type Outside, slotKey } from '../ports.ts';
import { REMINDERS_UNANSWERED_TEXT } from '../reading/timeline.ts';
import { ended, firingAlerts, type GroupAlert, groupBy, keyOf, senderGroupsOf } from '../rows.ts';
import { contextOf, isInGrace } from '../state.ts';
import type { GroupTurn } from '../turn.ts';
import { ACK_NOTICES, dueNotice, timerPolicyOf } from './timers.ts';

const TIMER = { kind: 'system', reason: 'timer' } as const;

/** Handles a wake-up. An early one changes nothing and is scheduled again. */
export function wake(turn: GroupTurn, outside: Outside): void {
  const { noticeAt, snooze, graceDeadline } = contextOf(turn.group);
  const { now } = turn;
  const isDue = (deadline: number | null | undefined) => typeof deadline === 'number' && deadline <= now;
  if (isDue(noticeAt)) sendNotice(turn);
  else if (isDue(snooze?.until)) endSnooze(turn);
  else if (isInGrace(turn.group) && isDue(graceDeadline)) endGrace(turn, outside);
  else if (isReopenWindowOver(turn)) turn.step({ type: 'window_end', at: now }, TIMER);
}

/** The ack timeout or a Reminder, by the policy of now. */
function sendNotice(turn: GroupTurn): void {
  const { group, now } = turn;
  const becomes = dueNotice(contextOf(group), timerPolicyOf(turn.route.policy), now);
  const event = { type: 'notice_due', at: now, sequence: group.sequence + 1 } as const;
  if (becomes === 'reminders_unanswered') {
    const details = { reason: becomes, reasonText: REMINDERS_UNANSWERED_TEXT };
    turn.step(event, { kind: 'system', reason: becomes }, details);
    return;
  }
  turn.step(event, TIMER);
  if (contextOf(turn.group).noticesSent === ACK_NOTICES) turn.step({ type: 'unclaim', at: now }, TIMER);
}

function endSnooze(turn: GroupTurn): void {
  const { snooze } = contextOf(turn.group);
  const fingerprints = (snooze?.joined ?? []).flatMap((key) => {
    const alert = turn.rows.get(key);
    return alert?.state === 'firing' ? [alert.report.fingerprint] : [];
  });
  turn.step({ type: 'snooze_end', at: turn.now }, TIMER, { fingerprints });
}

function isReopenWindowOver({ group, now }: GroupTurn): boolean {
  const { reopenDeadline } = contextOf(group);
  const waits = group.snapshot.matches({ resolved: { system: 'reopenable' } });
  return waits && reopenDeadline !== null && reopenDeadline <= now;
}

/** Hands every tail to the Alert Group of its present Slot. */
function endGrace(turn: GroupTurn, outside: Outside): void {
  const { number, slot: ownSlot } = turn.group;
  const at = contextOf(turn.group).graceDeadline;
  if (number === null || at === null) throw new Error(`${turn.groupId} has no Grace period to end`);
  const slots = tailSlots(turn.state, turn.rows, turn.directory);
  const tails = firingAlerts(turn.rows);
  for (const shared of groupBy(tails, (tail) => slotKey(slotOf(slots, tail))).values()) {
    const [first] = shared;
    if (!first) continue;
    const slot = slotOf(slots, first);
    const named = outside.slots.targets.get(slotKey(slot));
    const isOwn = sameSlot(slot, ownSlot) && (named === undefined || named === turn.groupId);
    const target = isOwn ? successorOf(turn, outside.slots) : targetOf(turn, slot, outside.slots);
    if (target === null) {
      // The Route was edited since its policy was read: the wake-up is repeated and reads the present policy.
      turn.send({ to: alertGroupAddress(turn.groupId), message: { type: 'wake' } });
      return;
    }
    const message: TailsHandover = {
      type: 'tails',
      at,
      fromGroupId: turn.groupId,
      fromNumber: number,
      tails: shared.map(tailOf),
      slot,
      hops: 0,
    };
    turn.send({ to: alertGroupAddress(target), message });
    for (const tail of shared) {
      turn.saveAlert({ ...ended(tail, turn.now, 'moved'), movedTo: target });
    }
  }
  turn.portray();
  turn.step({ type: 'grace_end', at: turn.now }, { kind: 'system', reason: 'timer' });
  // The messages name the tails as still firing.
  for (const send of rerenderSends(turn.groupId, turn.group, turn.directory)) turn.send(send);
}

function slotOf(slots: ReadonlyMap<string, Slot>, alert: GroupAlert): Slot {
  const slot = slots.get(keyOf(alert));
  if (!slot) throw new Error(`no Slot for ${keyOf(alert)}`);
  return slot;
}

function tailOf(alert: GroupAlert): Tail {
  const { integrationId, report, startsAt, endedStart, lastSeenAt, feeds } = alert;
  return { integrationId, report: { ...report, startsAt }, endedStart, lastSeenAt, feeds };
}

/** Takes over tails, or passes them on as new firings are passed on. */
export function adoptTails(turn: GroupTurn, handover: TailsHandover, outside: Outside): void {
  if (handover.hops > MAX_HOPS) {
    throw new Error(`tails of ${handover.fromGroupId} were passed on ${handover.hops} times`);
  }
  const acceptance = acceptanceIn(turn, handover.slot, handover.at, outside.slots);
  if (acceptance === 'none') {
    const named = outside.slots.targets.get(slotKey(handover.slot));
    passOn(turn, handover, named && named !== turn.groupId ? named : successorOf(turn, outside.slots));
    return;
  }
  const [first] = handover.tails;
  if (!first) return;
  const live = liveSlot(handover.slot, first.report.labels, turn.directory);
  if (acceptance === 'create' && live !== handover.slot) {
    passOn(turn, { ...handover, slot: live }, targetOf(turn, live, outside.slots) ?? turn.groupId);
    return;
  }
  const { slot, fromNumber } = handover;
  const alerts = handover.tails.map((tail, position) => adopted(turn, tail, position, slot));
  fire(turn, { alerts, slot, receivedAt: handover.at, tailsOf: fromNumber }, acceptance);
  if (handover.hops > 0) recordAdoption(turn, handover);
}

function adopted(turn: GroupTurn, tail: Tail, position: number, slot: Slot): GroupAlert {
  const { integrationId, report } = tail;
  const known = turn.rows.get(alertKey(integrationId, report.fingerprint));
  const senderGroups = senderGroupsOf(tail.feeds);
  return newlyFiring(turn, known, { ...tail, senderGroups }, { position, routeId: slot.routeId });
}

function passOn(turn: GroupTurn, handover: TailsHandover, target: GroupTurn['groupId']): void {
  const message: TailsHandover = { ...handover, hops: handover.hops + 1 };
  turn.send({ to: alertGroupAddress(target), message });
}

/** The sending group recorded the first address; the tails were forwarded further. */
function recordAdoption(turn: GroupTurn, { fromGroupId, tails }: TailsHandover): void {
  turn.record({
    type: 'tails.adopted',
    fromGroupId,
    toGroupId: turn.groupId,
    tails: tails.map(({ integrationId, report }) => ({
      integrationId,
      fingerprint: report.fingerprint,
    })),
  });
}
