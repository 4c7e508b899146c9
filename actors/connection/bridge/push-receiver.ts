/** Takes events that bridges push (bridge §7.3). */
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { BridgeSettings } from '../ports.ts';
import { readEvent } from './events.ts';
import type { EventIntake } from './intake.ts';
import { type Opener, openPushSecret } from './open.ts';
import { authenticPush, type PushHeaders } from './push.ts';

/** What the bridge is answered: handled, can never be handled, not from it, or to be sent again. */
export type PushAnswer = 204 | 400 | 401 | 500;

export interface PushReceiver {
  /** @param id null: a path that names no Connection. Never throws */
  receive(id: PublicId | null, headers: PushHeaders, body: Buffer): Promise<PushAnswer>;
}

export interface PushReceiverDeps {
  readonly intake: EventIntake;
  readonly opener: Opener;
  readonly clock: Clock;
  readonly log: Log;
  settings(id: PublicId): Promise<BridgeSettings | null>;
}

export function createPushReceiver({ intake, opener, clock, log, settings }: PushReceiverDeps): PushReceiver {
  return {
    async receive(id, headers, body) {
      const connection = await readSettings(id);
      if (connection === 'unread') return 500;
      const secret = connection?.eventMode === 'push' ? openPushSecret(opener, connection) : null;
      const eventId = authenticPush(headers, body, secret, clock.now());
      if (!connection || eventId === null) return 401;
      const event = readEvent(parsed(body), clock.now());
      if (!event || event.id !== eventId) return 400;
      return (await intake.handle(connection.id, event)) ? 204 : 500;
    },
  };

  async function readSettings(id: PublicId | null): Promise<BridgeSettings | null | 'unread'> {
    if (id === null) return null;
    try {
      return await settings(id);
    } catch (error) {
      log('store_read_failed', { what: `Connection ${id}`, error: String(error) });
      return 'unread';
    }
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // Not JSON: not an event.
    return undefined;
  }
}
