import { expect, it } from 'vitest';
import type { Connection } from '../../api/connections.ts';
import {
  checkOf,
  endsLinks,
  fromDraft,
  newDraft,
  newPushSecret,
  toDraft,
  withoutSecrets,
} from './connection-input.ts';

const CONNECTION = {
  id: 'CN5Q8V2K7WXM3D',
  type: 'bridge',
  name: 'Zulip',
  base_url: 'https://bridge.example.org/zulip',
  event_mode: 'push',
  limiter: { limit: 9, per_seconds: 2 },
  proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
} as Connection;

it('sends what was read and no secret when nothing was typed', () => {
  expect(fromDraft(toDraft(CONNECTION))).toEqual({
    type: 'bridge',
    name: 'Zulip',
    base_url: 'https://bridge.example.org/zulip',
    event_mode: 'push',
    limiter: { limit: 9, per_seconds: 2 },
    proxy: { enabled: false },
  });
});

it('sends secrets that were typed, and compares without them', () => {
  const draft = { ...newDraft('bridge'), token: 't0ken', pushSecret: 'whsec_x' };
  draft.proxy = {
    enabled: true,
    type: 'socks5',
    address: 'p:1',
    username: '',
    password: 'pass',
    removesPassword: false,
  };
  const input = fromDraft(draft);
  expect(input).toMatchObject({
    bot_token: 't0ken',
    push_secret: 'whsec_x',
    proxy: { enabled: true, type: 'socks5', address: 'p:1', username: null, password: 'pass' },
  });
  expect(JSON.stringify(withoutSecrets(input))).not.toMatch(/t0ken|whsec_x|"pass"/);
});

it('checks a saved Connection by its id', () => {
  expect(checkOf(toDraft(CONNECTION), CONNECTION.id)).toEqual({
    type: 'bridge',
    base_url: 'https://bridge.example.org/zulip',
    proxy: { enabled: false },
    connection_id: CONNECTION.id,
  });
});

it('makes push secrets in the form that is demanded', () => {
  expect(newPushSecret((bytes) => bytes.fill(255))).toBe(`whsec_${'/'.repeat(42)}8=`);
});

it.each([
  [
    { type: 'chat_server', server_url: 'https://chat.example.org' },
    { save: { server_url: 'https://chat.example.org' }, check: { server_url: 'https://chat.example.org' } },
  ],
  [
    { type: 'channel_bot', bot_api_base_url: 'https://api.telegram.org', update_mode: 'webhook' },
    {
      save: { bot_api_base_url: 'https://api.telegram.org', update_mode: 'webhook' },
      check: { bot_api_base_url: 'https://api.telegram.org', update_mode: 'webhook' },
    },
  ],
] as const)('sends the fields of its type and no others: $0.type', (own, { save, check }) => {
  const { type } = own;
  const { id, name, limiter, proxy } = CONNECTION;
  const draft = toDraft({ id, name, limiter, proxy, ...own } as Connection);
  const common = { type, proxy: { enabled: false } };
  expect(fromDraft(draft)).toEqual({
    ...common,
    ...save,
    name: 'Zulip',
    limiter: { limit: 9, per_seconds: 2 },
  });
  expect(checkOf(draft, null)).toEqual({ ...common, ...check });
});

it('a new one begins with what nearly everybody wants', () => {
  expect(fromDraft(newDraft('channel_bot', 'Telegram'))).toMatchObject({
    ...{ name: 'Telegram', bot_api_base_url: 'https://api.telegram.org', update_mode: 'long_polling' },
    limiter: { limit: 10, per_seconds: 1 },
  });
});

it.each([
  ['bridge', 'https://chat.example', false],
  ['bridge', 'https://chat.example/a', true],
  ['chat_server', 'https://chat.example/a/', false],
  ['chat_server', 'https://chat.example:8443', true],
  ['chat_server', 'https://ch', true],
  ['channel_bot', 'https://other.example', false],
] as const)('says whether links of a %s end with the address %s', (type, address, expected) => {
  expect(endsLinks({ ...newDraft(type), address }, 'https://chat.example')).toBe(expected);
});
