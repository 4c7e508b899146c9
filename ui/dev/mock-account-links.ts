/** Accounts at messengers, kept while the mock runs. Every code but "WRONG" is right; a token never arrives. */
import type { AccountLink, LinkableConnection } from '../src/api/people.ts';
import type { MockAnswer, MockRequest } from './mock-api.ts';

type Handler = (request: MockRequest, params: readonly string[]) => MockAnswer;

const MINUTES_TO_LINK = 10;
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const REFUSED: MockAnswer = {
  status: 422,
  body: {
    ...{ type: 'https://tocsin.invalid/problems/validation-failed', title: 'validation-failed', status: 422 },
    errors: [{ pointer: '/code', code: 'link_code_invalid', detail: 'This code does not work.' }],
  },
};
const ZULIP: LinkableConnection = {
  ...{ id: 'CN000000000001', name: 'Zulip', messenger: 'bridge' },
  ...{ link_methods: ['token', 'code'], handle_kind: 'email' },
};

export function mockAccountLinks(): Record<string, Handler> {
  let links: readonly AccountLink[] = [];
  const begin = (body: { readonly method?: string }): MockAnswer => {
    const expires = minutesFromNow(MINUTES_TO_LINK);
    if (body.method === 'token') {
      const token = 'q3ZcT0kenOfThisMockThatLeadsNowhereAtAll0000';
      return { status: 201, body: { token, deep_link: null, expires_at: expires } };
    }
    return {
      status: 202,
      body: { request_id: 'AR000000000001', expires_at: expires, attempts_remaining: 5 },
    };
  };
  return {
    'GET /me/account-links': () => ({ status: 200, body: { items: links } }),
    'GET /me/account-links/connections': () => ({ status: 200, body: { items: [ZULIP] } }),
    'POST /me/account-links/bridge': ({ body }) => begin(body as { readonly method?: string }),
    'POST /me/account-links/bridge/confirmation': ({ body }) => {
      if ((body as { readonly code: string }).code === 'WRONG') return REFUSED;
      const link: AccountLink = {
        ...{ id: 'AK000000000001', messenger: 'bridge', connection: { id: ZULIP.id, name: ZULIP.name } },
        ...{ external_id: '18', username: 'ada', last_used_at: null, created_at: minutesFromNow(0) },
      };
      links = [link];
      return { status: 201, body: link };
    },
    'DELETE /me/account-links/:id': (_, [id]) => {
      links = links.filter((link) => link.id !== id);
      return { status: 204 };
    },
    'GET /users/:id/account-links': () => ({ status: 200, body: { items: [] } }),
  };
}
