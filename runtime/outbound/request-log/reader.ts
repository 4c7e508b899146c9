/** Reading the Request log, within its bounds (outbound-http §4.6). Implemented in storage/delivery/request-log.ts. */
import { DAY, type Micros } from '../../clock.ts';
import type { PublicId } from '../../public-id.ts';
import type { HeaderList } from '../client.ts';
import type { RequestCheck } from './record.ts';

export const KEPT_FOR: Micros = 7 * DAY;
/** Newest records of an owner that can be read. */
export const KEPT_OF_OWNER = 1_000;
/** Of a check of something that was not saved. */
export const DRAFTS_KEPT_FOR: Micros = DAY;

export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

/** Of a Connection, of a Destination, or of one run of a check; a run may narrow an owner down. */
export interface RequestScope {
  readonly connectionId: PublicId | null;
  readonly destinationId: PublicId | null;
  readonly run: PublicId | null;
}

export interface RequestsQuery extends RequestScope {
  readonly direction: 'outbound' | 'inbound' | null;
  readonly statusClass: StatusClass | null;
  readonly operation: string | null;
  readonly alertGroupId: PublicId | null;
  readonly after: readonly [at: Micros, id: string] | null;
  readonly limit: number;
}

/** A record as lists show it. */
export interface RequestItem {
  readonly id: PublicId;
  readonly at: Micros;
  readonly direction: 'outbound' | 'inbound';
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly status: number | null;
  readonly latencyMs: number;
  readonly via: 'direct' | 'proxy' | null;
  readonly attempt: number;
  readonly errorClass: string | null;
  readonly errorCode: string | null;
  readonly error: string | null;
  readonly check: RequestCheck | null;
  readonly checkRun: PublicId | null;
  readonly connectionId: PublicId | null;
  readonly destination: { readonly id: PublicId; readonly name: string } | null;
  readonly alertGroup: { readonly id: PublicId; readonly number: number } | null;
  readonly requestBodyBytes: number | null;
  readonly requestBodyTruncated: boolean;
  readonly responseBodyBytes: number | null;
  readonly responseBodyTruncated: boolean;
}

export interface RequestDetail extends RequestItem {
  readonly requestHeaders: HeaderList;
  readonly requestBody: string | null;
  readonly responseHeaders: HeaderList | null;
  readonly responseBody: string | null;
}

export interface RequestLogReader {
  /** Newest first; null when an owner that is named does not exist or was deleted. */
  list(
    query: RequestsQuery,
    now: Micros,
  ): Promise<{
    readonly items: readonly RequestItem[];
    readonly next: readonly [Micros, string] | null;
  } | null>;
  /** Null also for one past its bounds, or of an owner that was deleted. */
  read(id: PublicId, now: Micros): Promise<RequestDetail | null>;
}
