/** RFC 9457 problems: the closed catalogue of types and codes. */
import type { AlertGroupRef } from './schema/shapes.ts';

/** Each type with its title, and what it means. */
export const PROBLEM_TYPES = {
  'validation-failed': ['Validation failed', 'Fields or parameters are wrong; `errors` lists them.'],
  unauthenticated: ['Unauthenticated', 'Sign in, or send a valid token.'],
  forbidden: ['Forbidden', 'The caller may not do this.'],
  'not-found': ['Not found', 'There is no such path or resource.'],
  conflict: ['Conflict', 'What is stored does not allow it; `code` says why.'],
  'command-refused': ['Command refused', 'The state does not allow it; `code` says why.'],
  'route-has-open-alert-groups': ['Route has open Alert Groups', 'Move or resolve them first.'],
  'default-route-immutable': ['Default route immutable', 'It is always last, and stays.'],
  gone: ['Gone', 'The link was used or has expired.'],
  'precondition-failed': ['Precondition failed', 'Somebody else changed it: read it again.'],
  'payload-too-large': ['Payload too large', 'The body is larger than is taken here.'],
  'precondition-required': ['Precondition required', '`If-Match` is missing.'],
  'rate-limited': ['Rate limited', 'Too many requests: wait as long as the answer says.'],
  internal: ['Internal error', 'A defect of the service.'],
  'interactive-budget-exhausted': ['Messenger is busy', 'Its limit of calls is used up: try again later.'],
  'coordination-unavailable': [
    'Temporarily unavailable',
    'Something that is needed is away: try again later.',
  ],
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

export const FIELD_ERRORS = {
  required: 'It is missing, or empty where a value is needed.',
  invalid_format: 'Its type, pattern or syntax is wrong, or it is not one of the values.',
  too_short: 'A text or list has too little in it.',
  too_long: 'A text or list has too much in it.',
  out_of_range: 'A number or time is beyond its bounds.',
  duplicate: 'A value is repeated.',
  unknown_id: 'It refers to nothing, to something deleted or of another type.',
  one_of_required: 'Too many or too few of several fields are given.',
  unsupported: 'It is valid, but not here.',
  invalid_regex: 'It is not a regular expression of RE2.',
  template_syntax: 'The template does not parse or render.',
  unknown_function: 'The template calls a function that does not exist.',
  invalid_cursor: 'It is malformed, or of another list, sort or filter.',
  permission_not_held: 'It gives a Permission that the caller does not hold.',
  route_set_mismatch: 'The order does not name each Route once.',
  column_mismatch: 'An entry has other keys than the columns.',
  retention_order: 'Summaries would be kept for a shorter time than details.',
  reserved: 'The service sets this header itself.',
  check_not_supported: 'A webhook has no check.',
  destination_check_failed: 'The messenger refused what was tried.',
  webhook_call_failed: 'The messenger refused to set or remove its webhook.',
  link_code_invalid: 'The code is wrong, used up or expired.',
  messenger_user_not_found: 'The messenger has no such account.',
} as const;

export type FieldErrorCode = keyof typeof FIELD_ERRORS;

/** A refusal as a handler answers it. */
export function refuse(problem: Problem): { readonly problem: Problem } {
  return { problem };
}

export function notFound(): { readonly problem: Problem } {
  return refuse({ status: 404, type: 'not-found' });
}

/** 422 with every field that failed. */
export function invalid(errors: readonly FieldError[]): { readonly problem: Problem } {
  return refuse({ status: 422, type: 'validation-failed', errors });
}

export function conflict(code: string, detail: string): { readonly problem: Problem } {
  return refuse({ status: 409, type: 'conflict', code, detail });
}

export function preconditionFailed(): { readonly problem: Problem } {
  return refuse({
    status: 412,
    type: 'precondition-failed',
    detail: 'Somebody else changed this in the meantime. Read it again and repeat the change.',
  });
}
