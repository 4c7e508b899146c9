/** Why an outbound request got no usable answer (outbound-http §4.4). */
import { errors } from 'undici';
import type { Clock, Micros } from '../clock.ts';
import type { Refusal } from './address-policy.ts';

export type FailureCode =
  | 'dns_failed'
  | 'connect_refused'
  | 'connect_failed'
  | 'connect_timeout'
  | 'tls_failed'
  | 'timeout'
  | 'connection_lost'
  | 'proxy_auth_failed'
  | 'proxy_failed'
  | 'response_invalid'
  | 'cancelled'
  /** The caller did not want it any more when the connection stood. */
  | 'withheld';

/** Raised inside the client only; callers get {@link OutboundResult} values. */
export class OutboundFailure extends Error {
  override readonly name = 'OutboundFailure';
  readonly failure: FailureCode;

  constructor(failure: FailureCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }
}

/** The outbound policy refused every address of a target. Raised inside the client only. */
export class OutboundRefused extends Error {
  override readonly name = 'OutboundRefused';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.error);
    this.refusal = refusal;
  }
}

const BY_NODE_CODE: Readonly<Record<string, readonly [FailureCode, string]>> = {
  ECONNREFUSED: ['connect_refused', 'connection refused'],
  EHOSTUNREACH: ['connect_failed', 'the host is unreachable'],
  ENETUNREACH: ['connect_failed', 'the network is unreachable'],
  ENETDOWN: ['connect_failed', 'the network is down'],
  EADDRNOTAVAIL: ['connect_failed', 'the address is not available'],
  UND_ERR_HEADERS_OVERFLOW: ['response_invalid', 'the answer has too large headers'],
};

/** What a socket error while connecting means. */
export function connectFailure(error: unknown): OutboundFailure {
  const [failure, text] = BY_NODE_CODE[codeOf(error)] ?? ['connect_failed', 'connecting failed'];
  return new OutboundFailure(failure, text, error);
}

/** What an error after the connection stood means. Everything not known is a lost connection. */
export function exchangeFailure(error: unknown): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  if (error instanceof errors.HTTPParserError) {
    return new OutboundFailure('response_invalid', 'the answer is not HTTP', error);
  }
  const [failure, text] = BY_NODE_CODE[codeOf(error)] ?? ['connection_lost', 'the connection was lost'];
  return new OutboundFailure(failure, text, error);
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** Waits of the outbound client that end once: by an answer, by a failure, or because their time is over. */
export interface Settle<T> {
  done(value: T): void;
  fail(error: Error): void;
}

/**
 * Runs `begin` and settles once: by its answer, its failure, or `budget` (µs) running out; losers are cleaned up.
 * @param begin gives back what cleans up behind a wait that came to nothing
 * @throws {OutboundFailure} connect_timeout with the text `timedOut`
 */
export function within<T>(
  budget: Micros,
  clock: Clock,
  timedOut: string,
  begin: (settle: Settle<T>) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const finish = (settleIt: () => void): void => {
      if (settled) return;
      settled = true;
      timer.cancel();
      settleIt();
    };
    const timer = clock.after(Math.max(0, budget), () =>
      finish(() => {
        abandon();
        reject(new OutboundFailure('connect_timeout', timedOut));
      }),
    );
    const abandon = begin({
      done: (value) => finish(() => resolve(value)),
      fail: (error) =>
        finish(() => {
          abandon();
          reject(error);
        }),
    });
  });
}
