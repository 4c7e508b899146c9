/** Takes events that bridges push (bridge §7.3). */
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { parseAnswer } from '../../../runtime/outbound/answer-json.ts';
import type { HeaderList } from '../../../runtime/outbound/exchange.ts';
import type { RequestRecorder } from '../../../runtime/outbound/request-log/recorder.ts';
import type { ErrorCode } from '../../../runtime/outbound/verdict.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { BridgeSettings } from '../ports.ts';
import { readEvent } from './events.ts';
import type { EventIntake } from './intake.ts';
import { type Opener, openBridge, openPushSecret } from './open.ts';
import { provePush } from './push.ts';
import { createRefusalQuota, recordOfPush } from './push-record.ts';

/** What the bridge is answered: handled, can never be handled, not from it, or to be sent again. */
export type PushAnswer = 204 | 400 | 401 | 500;

export interface Push {
  /** Null: a path that names no Connection. */
  readonly id: PublicId | null;
  /** Those that were sent of the ones that are looked at and kept. */
  readonly headers: HeaderList;
  readonly body: Buffer;
}

export interface PushReceiver {
  /** Never throws. */
  receive(push: Push): Promise<PushAnswer>;
}

export interface PushReceiverDeps {
  readonly intake: EventIntake;
  readonly opener: Opener;
  readonly recorder: Pick<RequestRecorder, 'record'>;
  /** Where bridges push, without a trailing slash. */
  readonly ingestUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  settings(id: PublicId): Promise<BridgeSettings | null>;
}

interface Judged {
  readonly answer: PushAnswer;
  readonly code: ErrorCode | null;
}

export function createPushReceiver(deps: PushReceiverDeps): PushReceiver {
  const { intake, opener, clock, log } = deps;
  const mayRecord = createRefusalQuota();

  const readSettings = async (id: PublicId | null): Promise<BridgeSettings | null | 'unread'> => {
    if (id === null) return null;
    try {
      return await deps.settings(id);
    } catch (error) {
      log('store_read_failed', { what: `Connection ${id}`, error: String(error) });
      return 'unread';
    }
  };

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

  const record = (connection: BridgeSettings, push: Push, { answer, code }: Judged, began: number): void => {
    const isRefused = answer === 400 || answer === 401;
    if (isRefused && !mayRecord(connection.id, began)) return;
    const ended = clock.now();
    deps.recorder.record(() =>
      recordOfPush({
        connectionId: connection.id,
        url: `${deps.ingestUrl}/api/v1/callbacks/bridge/${connection.id}`,
        ...{ headers: push.headers, body: push.body, status: answer, code, began, ended },
        secrets: secretsOf(opener, connection),
      }),
    );
  };

  return {
    async receive(push) {
      const began = clock.now();
      const connection = await readSettings(push.id);
      if (connection === 'unread') return 500;
      const judged = await judge(connection, push);
      if (connection) record(connection, push, judged, began);
      return judged.answer;
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
