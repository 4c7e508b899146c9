/** Tests and previews of Destinations: what a person sees of what would be sent, before it matters (delivery §13). */
import type { Micros } from '../../../runtime/clock.ts';
import type { RecordedMessage, RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { cutToBytes } from '../../../runtime/secrets/masking.ts';
import type { Principal } from '../../model.ts';
import type { StoredDestination } from '../ports.ts';
import type { GroupScene } from '../sending/scene.ts';

/** Of an answer, as it is shown. */
const ANSWER_BYTES = 4096;

export type TrialName = 'message' | 'event' | 'create';

export type TrialClass =
  | 'none'
  | 'retry_after'
  | 'transient'
  | 'fatal'
  | 'unknown'
  | 'template_error'
  | 'blocked'
  /** No limiter token within the time that a person waits: nothing was sent. */
  | 'limited';

/** One request of a test, masked. */
export interface TrialStep {
  readonly name: TrialName;
  /** Null when nothing was sent. */
  readonly request: TrialRequest | null;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  /** By the names of extraction rules; null where there are none. */
  readonly extracted: Readonly<Record<string, string | null>> | null;
  readonly duration: Micros;
  readonly errorClass: TrialClass;
  readonly error: string | null;
}

export interface TrialRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RecordedMessage['headers'];
  readonly body: string | null;
}

/** What would be sent. */
export interface PreviewItem {
  readonly name: TrialName | 'update' | 'open_thread' | 'reply_in_thread';
  readonly format: 'markdown' | 'html' | 'commonmark' | 'json' | 'plain';
  readonly text: string | null;
  readonly request: TrialRequest | null;
}

export interface AskedPreview {
  readonly destination: StoredDestination;
  /** Of the chosen Alert Group, or of the example. */
  readonly scene: GroupScene;
}

export interface AskedTrial extends AskedPreview {
  /** Shared by the records of its requests. */
  readonly run: PublicId;
  readonly by: Principal;
}

export interface Tried {
  /** In order, up to the first that failed. */
  readonly steps: readonly TrialStep[];
  /** A message that people may press buttons of from now on. */
  readonly message: { readonly connectionId: PublicId; readonly messageId: string } | null;
}

/** What one type of Destination does. Whatever the receiver answers, it throws nothing. */
export interface DestinationTrial {
  test(asked: AskedTrial): Promise<Tried>;
  preview(asked: AskedPreview): Promise<readonly PreviewItem[]>;
}

/** What a step shows of its request, as the Request log has it; null: nothing was sent. */
export function shownExchange(
  record: RequestRecord | null,
): Pick<TrialStep, 'request' | 'responseStatus' | 'responseBody'> {
  if (!record) return { request: null, responseStatus: null, responseBody: null };
  const { method, url, request, status, response } = record;
  const body = response?.body ?? null;
  return {
    request: { method, url, headers: request.headers, body: request.body },
    responseStatus: status,
    responseBody: body === null ? null : cutToBytes(body, ANSWER_BYTES),
  };
}
