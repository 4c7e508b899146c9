/** Takes events that bridges push (bridge §7.3). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import { parseAnswer } from '../../../runtime/outbound/answer-json.ts';
import type { ErrorCode } from '../../../runtime/outbound/verdict.ts';
import { equalSecrets, type Opener } from '../../../runtime/secrets/keyring.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { Push, Receiver } from '../channel.ts';
import { createPushes, type JudgedPush, type PushDeps } from '../inbound.ts';
import type { EventIntake } from '../intake.ts';
import { newSigningSecret, webhookSignature } from '../signature.ts';
import { openBridge, openPushSecret } from './client.ts';
import { type BridgeEvent, readEvent } from './events.ts';
import { EVENT_ID } from './info.ts';

export type PushReceiver = Pick<Receiver, 'push'>;

export interface PushReceiverDeps extends PushDeps<BridgeSettings> {
  readonly intake: Pick<EventIntake<BridgeEvent>, 'handle'>;
  readonly opener: Opener;
  /** Where bridges push, without a trailing slash. */
  readonly ingestUrl: string;
}

export function createPushReceiver(deps: PushReceiverDeps): PushReceiver {
  const { intake, opener, clock } = deps;

  const judge = async (connection: BridgeSettings | null, push: Push): Promise<JudgedPush> => {
    const isPushed = connection?.eventMode === 'push';
    const secret = connection && isPushed ? openPushSecret(opener, connection) : null;
    const proof = provePush(proofOf(push), push.body, secret, clock.now());
    if (connection && !isPushed) return { answer: { status: 401 }, code: 'mode_mismatch' };
    if (!connection || proof.is !== 'authentic') {
      return { answer: { status: 401 }, code: proof.is === 'authentic' ? 'signature_invalid' : proof.is };
    }
    const event = readEvent(parseAnswer(push.body), clock.now());
    if (!event) return { answer: { status: 400 }, code: 'body_invalid' };
    if (event.id !== proof.id) return { answer: { status: 400 }, code: 'id_mismatch' };
    const isHandled = await intake.handle(connection.id, event);
    return isHandled
      ? { answer: { status: 204 }, code: null }
      : { answer: { status: 500 }, code: 'handler_failed' };
  };

  return createPushes(deps, {
    ...{ operation: 'pushEvent', errors: ERRORS, judge },
    url: (id) => `${deps.ingestUrl}/api/v1/callbacks/bridge/${id}`,
    secrets(connection) {
      const access = openBridge(opener, connection);
      return [openPushSecret(opener, connection), access?.token, access?.proxy?.password];
    },
  });
}

function proofOf({ headers }: Push) {
  const headerOf = (wanted: string) => headers.find(([name]) => name === wanted)?.[1] ?? null;
  return {
    id: headerOf('webhook-id'),
    timestamp: headerOf('webhook-timestamp'),
    signature: headerOf('webhook-signature'),
  };
}

/** `bridge.push_tolerance`. */
const TOLERANCE: Micros = 300 * SECOND;
/** Signatures of one request that are looked at. */
const MOST_SIGNATURES = 10;
const TIMESTAMP = /^[0-9]{1,12}$/;
/** What an unknown Connection is compared with, so that it costs the same. */
const NO_SECRET = newSigningSecret((size) => Buffer.alloc(size));

export interface PushHeaders {
  readonly id: string | null;
  readonly timestamp: string | null;
  readonly signature: string | null;
}

export type PushProof =
  | { readonly is: 'authentic'; readonly id: string }
  | { readonly is: 'signature_invalid' | 'timestamp_out_of_range' };

const UNPROVEN: PushProof = { is: 'signature_invalid' };

/**
 * Whether a request is from who knows the secret, and of now. The work is the same whether or not there is a secret.
 * @param secret null: no Connection that takes pushed events
 * @param body as it came
 */
export function provePush(
  headers: PushHeaders,
  body: Uint8Array,
  secret: string | null,
  now: Micros,
): PushProof {
  const { id, timestamp, signature } = headers;
  if (id === null || timestamp === null || signature === null) return UNPROVEN;
  if (!EVENT_ID.test(id) || !TIMESTAMP.test(timestamp)) return UNPROVEN;
  const expected = webhookSignature([secret ?? NO_SECRET], id, timestamp, body);
  const given = signature.split(' ').slice(0, MOST_SIGNATURES);
  // Every one is compared before anything is decided.
  const matches = given.map((one) => equalSecrets(one, expected));
  const isInTime = Math.abs(Number(timestamp) * SECOND - now) <= TOLERANCE;
  if (secret === null || !matches.includes(true)) return UNPROVEN;
  return isInTime ? { is: 'authentic', id } : { is: 'timestamp_out_of_range' };
}

const ERRORS: Partial<Record<ErrorCode, string>> = {
  signature_invalid: 'no signature was made with the push secret',
  timestamp_out_of_range: 'the time is more than 5 minutes from the clock here',
  mode_mismatch: 'the Connection is in poll mode',
  body_invalid: 'the body is no event',
  id_mismatch: 'webhook-id is not the id of the event',
  handler_failed: 'handling the event failed',
};
