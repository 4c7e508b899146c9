/** What an event of a bridge leads to (bridge §7.1). Pure. */
import type { BridgeEvent } from './events.ts';

/** No person is known behind it, so it is said in English. */
const NOTHING_WAITS = 'Nothing waits for this token. Open your Tocsin profile and begin anew.';

/**
 * What is to be said to the person behind an event that was not handled before; null: nothing. No message was posted
 * through a Connection yet, so whatever happens to one concerns somebody else's; and nobody waits for a token yet.
 */
export function answerTo(event: BridgeEvent): string | null {
  return event.type === 'account_link' ? NOTHING_WAITS : null;
}
