/** Problems as the client knows them: RFC 9457 members read carefully, plus the case that no answer came at all. */
import type { Schemas } from './shapes.ts';

/** A refused field. The service may be newer than the page, so its code is any text. */
export type FieldError = Omit<Schemas['FieldError'], 'code'> & { readonly code: string };

export interface Problem {
  /** HTTP status, or 0 when no answer came. */
  readonly status: number;
  /**
   * Last segment of the problem type; `unknown` for a body that is no problem. Without an answer from the service:
   * `unreachable` for a request that changes nothing, `not-sent` for a change that was kept back, `unanswered` for one
   * whose outcome nobody knows (ui §1.4). `defect` when the page itself failed at the answer.
   */
  readonly type: string;
  readonly code: string | null;
  readonly detail: string | null;
  readonly errors: readonly FieldError[];
  readonly retryAfterSeconds: number | null;
  readonly openAlertGroupCount: number | null;
  readonly relatedAlertGroup: Schemas['AlertGroupRef'] | null;
  /** Link rules that read a Lookup table. */
  readonly linkRules: readonly Schemas['EntityRef'][];
}

const NOTHING: Problem = {
  status: 0,
  type: 'unreachable',
  code: null,
  detail: null,
  errors: [],
  retryAfterSeconds: null,
  openAlertGroupCount: null,
  relatedAlertGroup: null,
  linkRules: [],
};

/** The service did not answer a request that changes nothing. */
export function unreachable(): Problem {
  return NOTHING;
}

/** A change was not sent, because the service is known to be away. Nothing happened. */
export function notSent(): Problem {
  return { ...NOTHING, type: 'not-sent' };
}

/** A change was sent and no answer came: it may have happened. @param status of a proxy that answered instead, or 0 */
export function unanswered(status: number): Problem {
  return { ...NOTHING, status, type: 'unanswered' };
}

/** Whether a change that got this instead of an answer may have been made. */
export function mayBeDone({ status, type }: Pick<Problem, 'status' | 'type'>): boolean {
  return type === 'unanswered' || status >= 500;
}

/** The page threw: whatever the service answered, there is nothing to show. */
export function defect(): Problem {
  return { ...NOTHING, type: 'defect' };
}

/** Whether the service says that what it was asked for is wrong: asked again, it refuses again. */
export function isQueryRefused({ errors }: Pick<Problem, 'errors'>): boolean {
  return errors.some((error) => error.pointer.startsWith('/query/'));
}

/** Reads an error answer. Never throws: a body that is no problem becomes type `unknown`. */
export function readProblem(status: number, body: unknown, retryAfter: string | null): Problem {
  const members = asRecord(body);
  if (members === null) {
    return { ...NOTHING, status, type: 'unknown', retryAfterSeconds: seconds(retryAfter) };
  }
  return {
    status,
    type: text(members.type)?.split('/').at(-1) ?? 'unknown',
    code: text(members.code),
    detail: text(members.detail),
    errors: Array.isArray(members.errors) ? members.errors.flatMap(readFieldError) : [],
    retryAfterSeconds: number(members.retry_after_seconds) ?? seconds(retryAfter),
    openAlertGroupCount: number(members.open_alert_group_count),
    relatedAlertGroup: readAlertGroupRef(members.related_alert_group),
    linkRules: Array.isArray(members.link_rules) ? members.link_rules.flatMap(readEntityRef) : [],
  };
}

function readFieldError(value: unknown): FieldError[] {
  const item = asRecord(value);
  const pointer = text(item?.pointer);
  const code = text(item?.code);
  if (item === null || pointer === null || code === null) return [];
  const [detail, line, column] = [text(item.detail), number(item.line), number(item.column)];
  return [
    {
      pointer,
      code,
      ...(detail !== null && { detail }),
      ...(line !== null && { line }),
      ...(column !== null && { column }),
    },
  ];
}

function readAlertGroupRef(value: unknown): Problem['relatedAlertGroup'] {
  const item = asRecord(value);
  const id = text(item?.id);
  const groupNumber = number(item?.number);
  return id === null || groupNumber === null ? null : { id, number: groupNumber };
}

function readEntityRef(value: unknown): Problem['linkRules'] {
  const item = asRecord(value);
  const id = text(item?.id);
  const name = text(item?.name);
  return id === null || name === null ? [] : [{ id, name }];
}

function asRecord(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function seconds(header: string | null): number | null {
  if (header === null) return null;
  const value = Number(header);
  return Number.isFinite(value) ? Math.max(1, Math.ceil(value)) : null;
}
