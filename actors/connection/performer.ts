/** Performs what committed turns of Connections asked for. */
import type { Log } from '../../runtime/log.ts';
import type { ConnectionPerformed, PollBegun } from './effects.ts';

export interface ConnectionPerformerDeps {
  readonly poll: (effect: PollBegun) => void;
  readonly log: Log;
}

export function createConnectionPerformer({
  poll,
  log,
}: ConnectionPerformerDeps): (effect: ConnectionPerformed) => void {
  return (effect) => {
    const { connectionId: connection } = effect;
    switch (effect.type) {
      case 'connection.poll':
        poll(effect);
        break;
      case 'connection.poll_failed':
        log('poll_failed', { connection, error: effect.error });
        break;
      case 'connection.event_given_up':
        log('update_failed', { connection, event: effect.eventId });
        break;
      default:
        effect satisfies never;
    }
  };
}
