import { expect, it } from 'vitest';
import type { Connection } from '../../api/connections.ts';
import { checkOf, fromDraft, newDraft, newPushSecret, toDraft, withoutSecrets } from './connection-input.ts';

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
  const draft = { ...newDraft(), token: 't0ken', pushSecret: 'whsec_x' };
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
