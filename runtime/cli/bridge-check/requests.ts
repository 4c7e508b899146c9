/** Requests as the checks make them: everything as the protocol has it, apart from what a check changes. */
import type { Answer } from './client.ts';
import { expectPosted, type Posted } from './expect.ts';
import type { Given, Run } from './run.ts';

type Members = Readonly<Record<string, unknown>>;

/** Every message says in its title where it comes from. */
export const TITLE = 'Bridge check';
/** For requests that must fail before the channel matters. */
const NO_CHANNEL = 'bridge-check';

/** @throws when the check that asks did not name its need */
export function given<K extends keyof Given>(run: Run, name: K): NonNullable<Given[K]> {
  const value = run.given[name];
  if (value === null) throw new Error(`A check uses ${name} without needing it.`);
  return value;
}

/** A part of the run that the check named as its need. */
export function part<K extends 'person' | 'events' | 'polled' | 'inbox'>(
  run: Run,
  name: K,
): NonNullable<Run[K]> {
  const value = run[name];
  if (value === null) throw new Error(`A check uses ${name} without needing it.`);
  return value;
}

export function newKey({ random }: Run): string {
  return `bridge-check-${Buffer.from(random(12)).toString('hex')}`;
}

/** 43 characters, as tokens of Account links have. */
export function newToken({ random }: Run): string {
  return Buffer.from(random(32)).toString('base64url');
}

export function buttonsOf(
  run: Run,
  ...texts: readonly string[]
): readonly (Members & { text: string; data: string })[] {
  return texts.map((text) => ({ text, data: newToken(run), style: 'default' }));
}

function content(change: Members): Members {
  return {
    ...{ status: 'firing', color: '#d32f2f', emoji: '🔴', title: TITLE },
    link: { url: 'https://example.org/bridge-check', text: 'Open in Tocsin' },
    ...{ body: 'A message of `tocsin bridge-check`\\.', buttons: [] },
    ...change,
  };
}

export function envelope(run: Run, change: Members = {}): Members {
  const channel_id = run.given.channel ?? NO_CHANNEL;
  const where = { channel_id, kind: 'test', mentions: [], notify: false };
  return content({ ...where, ...change });
}

/** @param key null: sent without */
export function post(
  run: Run,
  change: Members = {},
  key: string | null = newKey(run),
  call: { token?: string | null } = {},
): Promise<Answer> {
  const body = envelope(run, change);
  return run.client.call({
    method: 'POST',
    path: '/v1/messages',
    body,
    ...(key !== null && { key }),
    ...call,
  });
}

/** A message to do something with. */
export async function posted(run: Run, change: Members = {}): Promise<Posted> {
  return expectPosted(await post(run, change));
}

export function edit(
  run: Run,
  messageId: string,
  change: Members = {},
  call: { token?: string } = {},
): Promise<Answer> {
  return run.client.call({ method: 'PUT', path: pathOf(messageId), body: content(change), ...call });
}

export function remove(run: Run, messageId: string): Promise<Answer> {
  return run.client.call({ method: 'DELETE', path: pathOf(messageId) });
}

export function reply(
  run: Run,
  messageId: string,
  change: Members = {},
  key: string | null = newKey(run),
  path = `${pathOf(messageId)}/replies`,
): Promise<Answer> {
  const body = { thread_ref: null, body: 'A reply', buttons: [], mentions: [], notify: false, ...change };
  return run.client.call({ method: 'POST', path, body, ...(key !== null && { key }) });
}

export function checkChannel(run: Run, channelId: string): Promise<Answer> {
  return run.client.call({ method: 'GET', path: `/v1/channels/${encodeURIComponent(channelId)}` });
}

export function findPerson(run: Run, handle: string): Promise<Answer> {
  return run.client.call({ method: 'GET', path: `/v1/people?handle=${encodeURIComponent(handle)}` });
}

export function sendDirectly(run: Run, body: Members, key: string | null = newKey(run)): Promise<Answer> {
  return run.client.call({ method: 'POST', path: '/v1/direct-messages', body, ...(key !== null && { key }) });
}

export function answerEvent(run: Run, body: Members, key = newKey(run)): Promise<Answer> {
  return run.client.call({ method: 'POST', path: '/v1/event-answers', body, key });
}

export function pathOf(messageId: string): string {
  return `/v1/messages/${encodeURIComponent(messageId)}`;
}
