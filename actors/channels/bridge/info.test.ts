import { describe, expect, test } from 'vitest';
import { PLAIN_INFO } from '../../../test/fakes/scripted-bridge.ts';
import { botName, readInfo } from './info.ts';

const with_ = (changes: object) => ({ ...PLAIN_INFO, ...changes });
const limits = (changes: object) => with_({ limits: { max_body_length: 4000, ...changes } });
const able = (changes: object) => with_({ capabilities: { ...changes } });

test('what is left out is missing, and what is not known is left out', () => {
  const read = readInfo({ ...PLAIN_INFO, motto: 'hello', capabilities: { teleports: true } });
  if (!read.ok) throw new Error(JSON.stringify(read));
  expect(read.wrong).toBeNull();
  expect(read.info).toEqual({
    protocol_version: '1',
    bridge: { name: 'scripted', version: '1.0', homepage: null },
    messenger: {
      name: 'Nowhere',
      version: null,
      url: null,
      bot: { external_id: '42', username: 'oncall-bot', display_name: null, bot: true },
    },
    capabilities: {
      buttons: false,
      quiet_messages: false,
      native_mentions: false,
      delete: false,
      direct_messages: false,
      private_answers: false,
      thread_messages: false,
      deletion_events: false,
    },
    limits: { max_body_length: 4000, edit_max_age_seconds: null, max_buttons: null, max_button_text: null },
    user_lookup: 'email',
    event_delivery: ['poll', 'push'],
    link_url_template: null,
  });
});

describe('an Info is invalid as a whole', () => {
  test.each<[string, unknown, string]>([
    ['no object', 'hello', ''],
    ['no version', with_({ protocol_version: undefined }), '/protocol_version'],
    ['no name', with_({ bridge: { version: '1' } }), '/bridge/name'],
    ['an empty name', with_({ messenger: { name: '' } }), '/messenger/name'],
    ['a capability that is no flag', able({ buttons: 'yes' }), '/capabilities/buttons'],
    ['a limit below the least', limits({ max_body_length: 499 }), '/limits/max_body_length'],
    ['a limit above the most', limits({ max_body_length: 1_000_001 }), '/limits/max_body_length'],
    ['a kind of handle that is not known', with_({ user_lookup: 'phone' }), '/user_lookup'],
    ['no way for events', with_({ event_delivery: [] }), '/event_delivery'],
    ['a way twice', with_({ event_delivery: ['poll', 'poll'] }), '/event_delivery'],
    ['a way that is not known', with_({ event_delivery: ['pigeon'] }), '/event_delivery/0'],
  ])('%s', (_name, value, pointer) => {
    expect(readInfo(value)).toEqual({ ok: false, because: 'invalid', pointer });
  });

  test('another version says which', () => {
    expect(readInfo({ protocol_version: '2' })).toEqual({ ok: false, because: 'version', version: '2' });
  });
});

describe('a member that is wrong counts as missing, and is told', () => {
  test.each<[unknown, string]>([
    [with_({ link_url_template: 'javascript:alert({token})' }), '/link_url_template'],
    [with_({ link_url_template: 'https://chat.example/{token}/{token}' }), '/link_url_template'],
    [with_({ link_url_template: 'https://chat.example/{token}?for={user}' }), '/link_url_template'],
    [with_({ link_url_template: 'https://chat.example/' }), '/link_url_template'],
    [with_({ messenger: { name: 'N', bot: { username: 'x' } } }), '/messenger/bot'],
    [with_({ messenger: { name: 'N', url: 'ftp://chat.example' } }), '/messenger/url'],
    [with_({ bridge: { name: 'b', version: '1', homepage: 'home' } }), '/bridge/homepage'],
    [limits({ max_buttons: 26 }), '/limits/max_buttons'],
    [limits({ max_button_text: 3 }), '/limits/max_button_text'],
    [limits({ edit_max_age_seconds: 59 }), '/limits/edit_max_age_seconds'],
  ])('%j', (value, wrong) => {
    expect(readInfo(value)).toMatchObject({ ok: true, wrong });
  });

  test('a template with the token once is none of them', () => {
    expect(readInfo(with_({ link_url_template: 'https://chat.example/start?t={token}' }))).toMatchObject({
      ok: true,
      wrong: null,
    });
  });
});

test('the bot is called by its username, else by its display name', () => {
  const named = (bot: object) => {
    const read = readInfo(with_({ messenger: { name: 'N', bot } }));
    return read.ok ? botName(read.info) : null;
  };
  expect(named({ external_id: '1', username: 'bot', display_name: 'Bot' })).toBe('bot');
  expect(named({ external_id: '1', display_name: 'Bot' })).toBe('Bot');
  expect(botName(null)).toBeNull();
});
