import { expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import { answerOutcome, unansweredOutcome } from './answer.ts';
import { type ChatRequest, chatCalls } from './operations.ts';

const NOW = 1_791_020_467 * SECOND;
const URL_ = new URL('https://chat.example/api/v4/posts');
const post = { channel_id: 'c', message: '', pending_post_id: 'b:k', props: { tocsin_key: 'k' } };
const REQUESTS: Readonly<Record<string, ChatRequest<unknown>>> = {
  create: chatCalls.createPost(post, false),
  reply: chatCalls.createPost({ ...post, root_id: 'p' }, false),
  patch: chatCalls.patchPost('p', { message: '', props: { attachments: [] } }),
  read: chatCalls.getPost('p'),
  me: chatCalls.getMe(),
};

function judged(name: string, status: number, id: string | null, headers = {}, text?: string) {
  const body =
    text ?? (id === null ? '' : JSON.stringify({ id, message: 'Said\nso.', detailed_error: 't0k' }));
  const answer = { kind: 'answer', status, headers, body: Buffer.from(body), tooLarge: false } as const;
  const request = REQUESTS[name];
  if (!request) throw new Error(name);
  return answerOutcome(answer, { url: URL_, now: NOW, mask: (said) => said }, request);
}

const POSTS = 'api.post.create_post.';

test.each<readonly [request: string, status: number, id: string | null, outcome: string]>([
  ['create', 401, 'api.context.session_expired.app_error', 'fatal'],
  ['create', 403, 'api.context.permissions.app_error', 'fatal'],
  ['create', 404, 'app.bot.getbot.app_error', 'fatal'],
  ['patch', 404, 'app.post.get.app_error', 'gone'],
  ['read', 404, 'app.post.get.app_error', 'gone'],
  // A proxy, or another path prefix: what the server holds is not known.
  ['patch', 404, null, 'fatal'],
  ['patch', 404, 'api.context.404.app_error', 'fatal'],
  ['reply', 400, `${POSTS}root_id.app_error`, 'gone'],
  ['reply', 400, `${POSTS}channel_root_id.app_error`, 'gone'],
  ['create', 400, `${POSTS}root_id.app_error`, 'unknown'],
  ['create', 400, `${POSTS}can_not_post_to_deleted.error`, 'fatal'],
  ['patch', 400, 'api.post.patch_post.can_not_update_post_in_deleted.error', 'fatal'],
  ['patch', 400, 'api.post.update_post.can_not_update_post_in_deleted.error', 'fatal'],
  ['create', 400, `${POSTS}can_not_post_in_restricted_dm.error`, 'fatal'],
  ['patch', 400, 'api.post.update_post.permissions_time_limit.app_error', 'edit_window_closed'],
  ['create', 400, 'model.post.is_valid.message_length.app_error', 'unknown'],
  ['create', 500, 'api.post.deduplicate_create_post.pending', 'transient'],
  ['create', 500, 'api.post.error_get_post_id.pending', 'transient'],
  ['create', 408, null, 'transient'],
  ['create', 503, null, 'transient'],
  ['create', 429, null, 'transient'],
  ['create', 409, null, 'unknown'],
  ['create', 413, 'api.context.request_body_too_large.app_error', 'unknown'],
  ['create', 501, null, 'unknown'],
  ['create', 304, null, 'unknown'],
])('%s answered with %i %s is %s', (request, status, id, outcome) => {
  expect(judged(request, status, id)).toMatchObject({ class: outcome, status, id });
});

test.each([
  [429, '1', { class: 'retry_after', until: NOW + SECOND }],
  [503, '7', { class: 'retry_after', until: NOW + 7 * SECOND }],
  [429, '3600', { class: 'transient' }],
  [429, 'soon', { class: 'transient' }],
])('%i with Retry-After %s', (status, header, expected) => {
  expect(judged('create', status, null, { 'retry-after': header }, 'limit exceeded\n')).toMatchObject(
    expected,
  );
});

test.each(['', '<html>', '[]', '{}', '{"id":1}'])('a 2xx without the post is transient: %s', (body) => {
  expect(judged('create', 201, null, {}, body)).toMatchObject({ class: 'transient', status: 201 });
});

test('people read what the server says as one line, and never its details', () => {
  const outcome = judged('create', 400, 'x.app_error');
  expect(outcome).toMatchObject({ error: 'answered 400: Said so.' });
  expect(JSON.stringify(outcome)).not.toContain('t0k');
  expect(judged('me', 401, 'x')).toMatchObject({ error: 'The server refuses the bot token.' });
  expect(judged('me', 404, null)).toMatchObject({ error: 'nothing here: check the path prefix (404)' });
});

test('a redirect and a blocked address concern every call', () => {
  const redirect = {
    class: 'redirect',
    code: 'redirect_refused',
    error: 'redirect to x not followed',
  } as const;
  expect(unansweredOutcome(redirect, 301)).toMatchObject({
    class: 'fatal',
    error: expect.stringContaining('redirect to x not followed: enter'),
  });
  const blocked = { class: 'blocked', code: 'policy_blocked', error: 'private' } as const;
  expect(unansweredOutcome(blocked, null)).toMatchObject({ class: 'fatal', error: 'private' });
});

test.each(['.', '..', '', '\ud800'])('an id that no path can carry is not sent: %j', (id) => {
  expect(chatCalls.getPost(id).path).toBeNull();
  expect(chatCalls.getPost('a/b?c').path).toBe('/api/v4/posts/a%2Fb%3Fc');
});
