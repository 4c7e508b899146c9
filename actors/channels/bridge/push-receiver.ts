/** Takes events that bridges push (bridge §7.3). */
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { parseAnswer } from '../../../runtime/outbound/answer-json.ts';
import type { RequestRecorder } from '../../../runtime/outbound/request-log/recorder.ts';
import type { ErrorCode } from '../../../runtime/outbound/verdict.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { equalSecrets, type Opener } from '../../../runtime/secrets/keyring.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { Push, PushAnswer, Receiver } from '../channel.ts';
import { createInboundLog, readSettings } from '../inbound.ts';
import type { EventIntake } from '../intake.ts';
import { newSigningSecret, webhookSignature } from '../signature.ts';
import { openBridge, openPushSecret } from './client.ts';
import { type BridgeEvent, readEvent } from './events.ts';
import { EVENT_ID } from './info.ts';

export type PushReceiver = Pick<Receiver, 'push'>;

export interface PushReceiverDeps {
  readonly intake: Pick<EventIntake<BridgeEvent>, 'handle'>;
  readonly opener: Opener;
  readonly recorder: Pick<RequestRecorder, 'record'>;
  /** Where bridges push, without a trailing slash. */
  readonly ingestUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  settings(id: PublicId): Promise<BridgeSettings | null>;
}

interface Judged {
  readonly answer: Exclude<PushAnswer['status'], 200>;
  readonly code: ErrorCode | null;
}

export function createPushReceiver(deps: PushReceiverDeps): PushReceiver {
  const { intake, opener, clock } = deps;
  const inbound = createInboundLog(deps.recorder);

  const judge = async (connection: BridgeSettings | null, push: Push): Promise<Judged> => {
    const isPushed = connection?.eventMode === 'push';
    const secret = connection && isPushed ? openPushSecret(opener, connection) : null;
    const proof = provePush(proofOf(push), push.body, secret, clock.now());
    if (connection && !isPushed) return { answer: 401, code: 'mode_mismatch' };
    if (!connection || proof.is !== 'authentic') {
      return { answer: 401, code: proof.is === 'authentic' ? 'signature_invalid' : proof.is };
    }
    const event = readEvent(parseAnswer(push.body), clock.now());
    if (!event) return { answer: 400, code: 'body_invalid' };
    if (event.id !== proof.id) return { answer: 400, code: 'id_mismatch' };
    const isHandled = await intake.handle(connection.id, event);
    return isHandled ? { answer: 204, code: null } : { answer: 500, code: 'handler_failed' };
  };

  const record = (connection: BridgeSettings, push: Push, { answer, code }: Judged, began: number): void =>
    inbound({
      ...{ operation: 'pushEvent', connectionId: connection.id, began, ended: clock.now(), status: answer },
      url: `${deps.ingestUrl}/api/v1/callbacks/bridge/${connection.id}`,
      ...{ headers: push.headers, body: push.body },
      failed: code && { is: answer === 500 ? 'failed' : 'refused', code, error: ERRORS[code] ?? code },
      secrets: () => secretsOf(opener, connection),
    });

  return {
    async push(push) {
      const began = clock.now();
      const connection = await readSettings(deps, push.id);
      if (connection === 'unread') return { status: 500 };
      const judged = await judge(connection, push);
      if (connection) record(connection, push, judged, began);
      return { status: judged.answer };
    },
  };
}

function secretsOf(opener: Opener, connection: BridgeSettings): readonly string[] {
  const access = openBridge(opener, connection);
  const secrets = [openPushSecret(opener, connection), access?.token, access?.proxy?.password];
  return secrets.filter((secret) => typeof secret === 'string');
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
