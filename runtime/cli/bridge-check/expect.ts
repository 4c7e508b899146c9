/** What checks expect of answers. Everything here throws Unmet with what was found instead. */
import { type Answer, classOf, demand, type ProblemClass } from './client.ts';

export interface Posted {
  readonly messageId: string;
  readonly threadRef: string | null;
  readonly replayed: boolean;
}

export function expectStatus(answer: Answer, status: number): void {
  demand(answer.status === status, `status ${status} was expected, not ${told(answer)}`);
}

/** Any 2xx. */
export function expectSuccess(answer: Answer): void {
  demand(answer.status >= 200 && answer.status < 300, `a success was expected, not ${told(answer)}`);
}

export function expectClass(answer: Answer, ...classes: readonly ProblemClass[]): void {
  const found = classOf(answer);
  const isExpected = found !== null && classes.includes(found);
  demand(isExpected, `class ${classes.join(' or ')} was expected, not ${told(answer)}`);
}

/** The answer of something that posts; `thread_ref` may be missing where the messenger does not know it yet. */
export function expectPosted(answer: Answer): Posted {
  const { message_id: messageId, replayed, truncated } = expectCreated(answer);
  demand(typeof truncated === 'boolean', 'truncated is not true or false');
  const threadRef = answer.fields.thread_ref ?? null;
  demand(threadRef === null || isId(threadRef), 'thread_ref is not null or a string of 1 to 512 characters');
  return { messageId, threadRef, replayed };
}

export function expectReplied(answer: Answer): Posted & { readonly threadRef: string } {
  const { threadRef, ...posted } = expectPosted(answer);
  demand(threadRef !== null, 'thread_ref is missing');
  return { ...posted, threadRef };
}

export function expectCreated(answer: Answer): { message_id: string; replayed: boolean; truncated: unknown } {
  demand(
    answer.status === 200 || answer.status === 201,
    `status 200 or 201 was expected, not ${told(answer)}`,
  );
  const { message_id, replayed, truncated } = answer.fields;
  demand(isId(message_id), 'message_id is not a string of 1 to 512 characters');
  demand(typeof replayed === 'boolean', 'replayed is not true or false');
  return { message_id, replayed, truncated };
}

export function expectReplay(replayed: boolean, is: boolean): void {
  demand(replayed === is, `replayed is ${replayed}, not ${is}`);
}

export function expectSame(found: string, expected: string, what: string): void {
  demand(found === expected, `${what} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
}

/** 1 to 512 code points. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && [...value].length <= 512;
}

function told(answer: Answer): string {
  const found = classOf(answer);
  return found === null ? `${answer.status}` : `${answer.status} (class ${found})`;
}
