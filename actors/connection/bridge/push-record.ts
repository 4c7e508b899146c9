/** What a callback of a bridge leaves in the Request log (outbound-http §4). */
import { MINUTE, type Micros } from '../../../runtime/clock.ts';
import type { HeaderList } from '../../../runtime/outbound/exchange.ts';
import { createRecordMask } from '../../../runtime/outbound/request-log/mask-record.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { ErrorCode } from '../../../runtime/outbound/verdict.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { createMask } from '../../../runtime/secrets/masking.ts';

/** Refused requests that are kept of a Connection in a minute: strangers must not push the rest out. */
const MOST_REFUSED = 10;

export interface TakenPush {
  readonly connectionId: PublicId;
  /** As people know it. */
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: Buffer;
  readonly status: number;
  /** Null: it was handled. */
  readonly code: ErrorCode | null;
  readonly began: Micros;
  readonly ended: Micros;
  /** Every secret of the Connection. */
  readonly secrets: readonly string[];
}

const ERRORS: Partial<Record<ErrorCode, string>> = {
  signature_invalid: 'no signature was made with the push secret',
  timestamp_out_of_range: 'the time is more than 5 minutes from the clock here',
  mode_mismatch: 'the Connection is in poll mode',
  body_invalid: 'the body is no event',
  id_mismatch: 'webhook-id is not the id of the event',
  handler_failed: 'handling the event failed',
};

export function recordOfPush(push: TakenPush): RequestRecord {
  const masked = createRecordMask(push.secrets, createMask(push.secrets));
  const { code, status } = push;
  return {
    id: newPublicId('RQ'),
    at: push.began,
    direction: 'inbound',
    operation: 'pushEvent',
    attempt: 1,
    connectionId: push.connectionId,
    destinationId: null,
    alertGroupId: null,
    check: null,
    checkRun: null,
    method: 'POST',
    url: masked.url(new URL(push.url)),
    status,
    latency: push.ended - push.began,
    via: null,
    errorClass: code === null ? null : status === 500 ? 'failed' : 'refused',
    errorCode: code,
    error: code === null ? null : (ERRORS[code] ?? code),
    request: masked.message(push.headers, push.body),
    response: masked.message([], null),
  };
}

/** Says of which refused requests a record is kept. */
export function createRefusalQuota(): (id: PublicId, now: Micros) => boolean {
  let minute = 0;
  const refused = new Map<PublicId, number>();
  return (id, now) => {
    const present = Math.floor(now / MINUTE);
    if (present !== minute) refused.clear();
    minute = present;
    const count = (refused.get(id) ?? 0) + 1;
    refused.set(id, count);
    return count <= MOST_REFUSED;
  };
}
