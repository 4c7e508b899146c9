/** One record of the Request log: a request of an owner, or a callback it received, masked (outbound-http §4.2). */
import type { Micros } from '../../clock.ts';
import type { PublicId } from '../../public-id.ts';
import type { HeaderList } from '../client.ts';
import type { ErrorClass, ErrorCode } from '../verdict.ts';

export const REQUEST_CHECKS = ['connection_check', 'destination_check', 'destination_test', 'probe'] as const;
export type RequestCheck = (typeof REQUEST_CHECKS)[number];

export interface RequestAbout {
  /** Such as `event` or `createPost`: what the owner's protocol calls it, at most 64 characters. */
  readonly operation: string;
  /** 1 for the first request of this delivery, event, reply, poll or step. */
  readonly attempt: number;
  readonly connectionId: PublicId | null;
  readonly destinationId: PublicId | null;
  readonly alertGroupId: PublicId | null;
  readonly check: RequestCheck | null;
  /** The run of a check or test, as its answer names it; null for probes. */
  readonly checkRun: PublicId | null;
}

/** Header list and body of one direction, as shown. */
export interface RecordedMessage {
  readonly headers: HeaderList;
  /** Null when there was none, or it is not text. */
  readonly body: string | null;
  /** Before masking and cutting. */
  readonly bodyBytes: number;
  readonly bodyTruncated: boolean;
}

export interface RequestRecord extends RequestAbout {
  readonly id: PublicId;
  /** Start of the attempt. */
  readonly at: Micros;
  readonly direction: 'outbound' | 'inbound';
  readonly method: string;
  readonly url: string;
  readonly status: number | null;
  readonly latency: Micros;
  readonly via: 'direct' | 'proxy' | null;
  readonly errorClass: ErrorClass | null;
  readonly errorCode: ErrorCode | null;
  readonly error: string | null;
  /** A successful poll without any update. */
  readonly isEmptyPoll?: true;
  readonly request: RecordedMessage;
  /** Null without an answer. */
  readonly response: RecordedMessage | null;
}

/** Whose bound a record counts to: its Connection, else its webhook Destination, else what is not saved yet. */
export function ownerOf({ connectionId, destinationId }: RequestAbout): PublicId | '' {
  return connectionId ?? destinationId ?? '';
}
