/** Commands that come with an event of a messenger: what becomes of them, and what the person is told (bridge §7.1). */
import { isPressRefusal, privateAnswer } from '../messages/index.ts';
import type { CarriedReply, CommandCarrier, CommandOutcome } from './messages.ts';
import { NOTHING_ASKED, type Outside } from './outside.ts';
import type { RelatedGroups } from './ports.ts';
import type { GroupTurn } from './turn.ts';

export async function lookUpForCarried(
  related: RelatedGroups,
  { connection, eventId }: CommandCarrier,
): Promise<Outside> {
  const handled = await related.eventHandled({ connectionId: connection.id, eventId });
  return { ...NOTHING_ASKED, handled };
}

/**
 * Runs a Command once, however often its event comes: the event is claimed in the commit of what it led to, and the
 * claim is refused where another commit was quicker.
 */
export function runCarried(
  turn: GroupTurn,
  carrier: CommandCarrier,
  { handled }: Outside,
  run: () => CommandOutcome,
): CarriedReply {
  if (handled) return { outcome: null, say: handled.say };
  const outcome = run();
  const say = answerTo(outcome, carrier);
  if (outcome.outcome !== 'unknown') {
    const { connection, eventId } = carrier;
    turn.record({
      type: 'connection.event_claimed',
      connectionId: connection.id,
      eventId,
      say,
      at: turn.now,
    });
  }
  return { outcome, say };
}

function answerTo(outcome: CommandOutcome, { answer }: CommandCarrier): string | null {
  if (!answer) return null;
  const { way, language, button: command, seconds } = answer;
  switch (outcome.outcome) {
    case 'done':
    case 'unchanged':
      return privateAnswer({ say: 'done', command, seconds }, way, language, '');
    case 'refused': {
      const { code } = outcome;
      return privateAnswer(
        isPressRefusal(code) ? { say: 'refused', code } : { say: 'failed' },
        way,
        language,
        '',
      );
    }
    case 'skipped':
    case 'unknown':
      return privateAnswer({ say: 'invalid' }, way, language, '');
  }
}
