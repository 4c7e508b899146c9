/** RFC 9457 problems: the closed catalogue of types and codes. */
import type { AlertGroupRef } from './schema/shapes.ts';

export const PROBLEM_TYPES = {
  'validation-failed': 'Validation failed',
  unauthenticated: 'Unauthenticated',
  forbidden: 'Forbidden',
  'not-found': 'Not found',
  conflict: 'Conflict',
  'command-refused': 'Command refused',
  'route-has-open-alert-groups': 'Route has open Alert Groups',
  'default-route-immutable': 'Default route immutable',
  gone: 'Gone',
  'precondition-failed': 'Precondition failed',
  'payload-too-large': 'Payload too large',
  'precondition-required': 'Precondition required',
  'rate-limited': 'Rate limited',
  internal: 'Internal error',
  'not-implemented': 'Not implemented',
  'interactive-budget-exhausted': 'Messenger is busy',
  'coordination-unavailable': 'Temporarily unavailable',
} as const;

export type ProblemType = keyof typeof PROBLEM_TYPES;

export interface Problem {
  readonly status: number;
  readonly type: ProblemType;
  /** A sentence that says what to do; never repeats a rejected value or a secret. */
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  readonly relatedAlertGroup?: AlertGroupRef;
  readonly openAlertGroupCount?: number;
  readonly linkRules?: readonly { readonly id: string; readonly name: string }[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FieldError {
  /** RFC 6901 into the body, or `/query/<name>`, `/path/<name>`. */
  readonly pointer: string;
  readonly code: FieldErrorCode;
  readonly detail: string;
  /** 1-based; template errors only. */
  readonly line?: number;
  readonly column?: number;
}

/** Most field errors that an answer names. */
export const FIELD_ERROR_LIMIT = 50;

/** Longest pointer of a field error, characters; a longer one is cut and ends in an ellipsis. */
export const POINTER_LIMIT = 256;

/** Cuts a text to a number of UTF-16 code units, the ellipsis included; never inside a surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const isInsidePair = /[\uD800-\uDBFF]/.test(text.charAt(limit - 2));
  return `${text.slice(0, isInsidePair ? limit - 2 : limit - 1)}…`;
}

export const FIELD_ERROR_CODES = [
  'required',
  'invalid_format',
  'too_short',
  'too_long',
  'out_of_range',
  'duplicate',
  'unknown_id',
  'one_of_required',
  'unsupported',
  'invalid_regex',
  'template_syntax',
  'unknown_function',
  'invalid_cursor',
  'permission_not_held',
  'route_set_mismatch',
  'column_mismatch',
  'retention_order',
  'reserved',
  'check_not_supported',
  'destination_check_failed',
  'webhook_call_failed',
  'link_code_invalid',
  'messenger_user_not_found',
] as const;

export type FieldErrorCode = (typeof FIELD_ERROR_CODES)[number];

/** A problem that an operation answers: one that has a handler is implemented, so it never answers 501 (api §1.8). */
export type Refusal = Problem & { readonly type: Exclude<ProblemType, 'not-implemented'> };

/** A refusal as a handler answers it. */
export function refuse(problem: Refusal): { readonly problem: Refusal } {
  return { problem };
}

export function notFound(): { readonly problem: Refusal } {
  return refuse({ status: 404, type: 'not-found' });
}

/** 422 with every field that failed. */
export function invalid(errors: readonly FieldError[]): { readonly problem: Refusal } {
  return refuse({ status: 422, type: 'validation-failed', errors });
}

/** 409 of the type `conflict`. */
export function conflict(code: string, detail: string): { readonly problem: Refusal } {
  return refuse({ status: 409, type: 'conflict', code, detail });
}

export function preconditionFailed(): { readonly problem: Refusal } {
  return refuse({
    status: 412,
    type: 'precondition-failed',
    detail: 'Somebody else changed this in the meantime. Read it again and repeat the change.',
  });
}
