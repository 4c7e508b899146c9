/** What an Alert Group does when its earliest deadline has come (§3.3, §8). */

import type { Outside } from './outside.ts';
import { REMINDERS_UNANSWERED_TEXT } from './reasons.ts';
import { contextOf, isInGrace } from './state.ts';
import { endGrace } from './tails.ts';
import { ACK_NOTICES, dueNotice, timerPolicyOf } from './timers.ts';
import type { GroupTurn } from './turn.ts';

const TIMER = { kind: 'system', reason: 'timer' } as const;

/** A wake-up that came too early changes nothing and is asked for again. */
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
