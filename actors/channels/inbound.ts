/** Requests of another side in the Request log (outbound-http §4): what was handled, and some that was refused. */
import { type Clock, MINUTE, type Micros } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { HeaderList } from '../../runtime/outbound/client.ts';
import { createRecordMask } from '../../runtime/outbound/request-log/mask-record.ts';
import type { RequestRecord } from '../../runtime/outbound/request-log/record.ts';
import type { RequestRecorder } from '../../runtime/outbound/request-log/recorder.ts';
import type { ErrorCode } from '../../runtime/outbound/verdict.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createMask } from '../../runtime/secrets/masking.ts';
import type { Push, PushAnswer, Receiver } from './channel.ts';

export interface Inbound {
  readonly operation: 'pushEvent' | 'interactiveAction' | 'webhookUpdate';
  readonly connectionId: PublicId;
  /** As people know it. */
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: Buffer;
  readonly status: number;
  /** Null: it was handled. `error` says it in words. */
  readonly failed: {
    readonly is: 'failed' | 'refused';
    readonly code: ErrorCode;
    readonly error: string;
  } | null;
  readonly began: Micros;
  readonly ended: Micros;
  /** Every secret of the Connection; asked for only when a record is made. */
  secrets(): readonly string[];
}

/** Refused requests that are kept of a Connection in a minute: strangers must not push the rest out. */
const MOST_REFUSED = 10;

export function createInboundLog(recorder: Pick<RequestRecorder, 'record'>): (taken: Inbound) => void {
  let minute = 0;
  const refused = new Map<PublicId, number>();
  const mayRecord = (id: PublicId, now: Micros): boolean => {
    const present = Math.floor(now / MINUTE);
    if (present !== minute) refused.clear();
    minute = present;
    const count = (refused.get(id) ?? 0) + 1;
    refused.set(id, count);
    return count <= MOST_REFUSED;
  };
  return (taken) => {
    if (taken.failed?.is === 'refused' && !mayRecord(taken.connectionId, taken.began)) return;
    recorder.record(() => recordOf(taken));
  };
}

function recordOf(taken: Inbound): RequestRecord {
  const secrets = taken.secrets();
  const masked = createRecordMask(secrets, createMask(secrets));
  const { failed } = taken;
  return {
    id: newPublicId('RQ'),
    at: taken.began,
    direction: 'inbound',
    operation: taken.operation,
    attempt: 1,
    connectionId: taken.connectionId,
    destinationId: null,
    alertGroupId: null,
    check: null,
    checkRun: null,
    method: 'POST',
    url: masked.url(new URL(taken.url)),
    status: taken.status,
    latency: taken.ended - taken.began,
    via: null,
    errorClass: failed?.is ?? null,
    errorCode: failed?.code ?? null,
    error: failed?.error ?? null,
    request: masked.message(taken.headers, taken.body),
    response: masked.message([], null),
  };
}

/** The Connection that a request of another side names. Null: there is none. `unread`: nobody can say at the moment. */
export async function readSettings<Settings>(
  { settings, log }: { settings(id: PublicId): Promise<Settings | null>; readonly log: Log },
  id: PublicId | null,
): Promise<Settings | null | 'unread'> {
  if (id === null) return null;
  try {
    return await settings(id);
  } catch (error) {
    log('store_read_failed', { what: `Connection ${id}`, error: String(error) });
    return 'unread';
  }
}

export interface PushDeps<Settings> {
  readonly recorder: Pick<RequestRecorder, 'record'>;
  readonly clock: Clock;
  readonly log: Log;
  settings(id: PublicId): Promise<Settings | null>;
}

/** `code`: why it was not handled. */
export interface JudgedPush {
  readonly answer: PushAnswer;
  readonly code: ErrorCode | null;
}

/** Takes what another side posts, and keeps a record of what names a Connection. */
export function createPushes<Settings extends { readonly id: PublicId }>(
  deps: PushDeps<Settings>,
  of: {
    readonly operation: Inbound['operation'];
    readonly errors: Partial<Record<ErrorCode, string>>;
    url(id: PublicId): string;
    secrets(settings: Settings): readonly (string | null | undefined)[];
    judge(settings: Settings | null, push: Push): Promise<JudgedPush>;
  },
): Pick<Receiver, 'push'> {
  const inbound = createInboundLog(deps.recorder);
  return {
    async push(push) {
      const began = deps.clock.now();
      const settings = await readSettings(deps, push.id);
      if (settings === 'unread') return { status: 500 };
      const { answer, code } = await of.judge(settings, push);
      if (!settings) return answer;
      const is = answer.status === 500 ? 'failed' : 'refused';
      inbound({
        ...{ operation: of.operation, connectionId: settings.id, began, ended: deps.clock.now() },
        ...{ url: of.url(settings.id), headers: push.headers, body: push.body, status: answer.status },
        failed: code && { is, code, error: of.errors[code] ?? code },
        secrets: () => of.secrets(settings).filter((secret) => typeof secret === 'string'),
      });
      return answer;
    },
  };
}
