/** Heartbeat signals: proof that a sender's path works (ingestion §12). */
import { hash } from 'node:crypto';
import type { IntegrationTokens } from '../../actors/integration/ports.ts';
import type { Clock, Micros } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { isIntegrationToken } from './accept.ts';
import { type AcceptQueue, LateError, LOOKUP_TIMEOUT, WRITE_TIMEOUT, within } from './accept-queue.ts';

/** Where signals are kept. */
export interface HeartbeatSignals {
  /** Notes a signal durably; of an Integration whose Heartbeat is off nothing is recorded. */
  record(integrationId: PublicId, at: Micros): Promise<void>;
}

export interface SignalRequest {
  readonly token: string | null;
  /** Path pattern, for logs. */
  readonly pattern: string;
  address(): string;
}

export type SignalOutcome = 'accepted' | 'unauthorized' | 'unavailable' | 'failed';

export type HeartbeatSignal = (request: SignalRequest, answer: (outcome: SignalOutcome) => void) => void;

export interface HeartbeatDeps {
  readonly tokens: IntegrationTokens;
  readonly signals: HeartbeatSignals;
  /** Signals take places in it like webhooks. */
  readonly queue: Pick<AcceptQueue, 'admits' | 'enter' | 'leave'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly isUnavailable: (error: unknown) => boolean;
  /** Whether the process stops: new signals are refused, those on their way are finished. */
  readonly isClosed: () => boolean;
}

/** Answers each signal once: after its commit, unless it is refused. */
export function createHeartbeatSignal(deps: HeartbeatDeps): HeartbeatSignal {
  const { tokens, signals, queue, clock, log } = deps;

  return (request, answer) => {
    const { token, pattern } = request;
    // Read at once: the address is gone with the connection.
    const client = request.address();
    const refuse = (outcome: 'unauthorized' | 'unavailable') => {
      log('ingest_rejected', { outcome, route_pattern: pattern, client_address: client });
      answer(outcome);
    };
    if (deps.isClosed()) refuse('unavailable');
    else if (token === null || !isIntegrationToken(token)) refuse('unauthorized');
    else if (!queue.admits()) refuse('unavailable');
    else {
      queue.enter();
      receive(token).then(
        (isRecorded) => {
          queue.leave();
          if (isRecorded) answer('accepted');
          else refuse('unauthorized');
        },
        (error) => {
          queue.leave();
          log('ingest_failed', { error: String(error) });
          answer(error instanceof LateError || deps.isUnavailable(error) ? 'unavailable' : 'failed');
        },
      );
    }
  };

  /** False when nobody knows the token. */
  async function receive(token: string): Promise<boolean> {
    const now = clock.now();
    const found = await within(clock, LOOKUP_TIMEOUT, tokens.find(hash('sha256', token, 'buffer')));
    if (found === null) return false;
    tokens.used(found.tokenId, now);
    await within(clock, WRITE_TIMEOUT, signals.record(found.integrationId, now));
    return true;
  }
}
