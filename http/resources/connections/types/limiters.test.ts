/** The default limiters against the messengers' own limits, as the strict fakes keep them (delivery §6). */
import { describe, expect, test } from 'vitest';
import { CHANNEL_BOT as BOT_CHANNEL } from '../../../../actors/channels/channel-bot/settings.ts';
import {
  fullBucket,
  type Limiter,
  refilled,
  tokenDueAt,
  withoutToken,
} from '../../../../actors/destination/pacing.ts';
import { MINUTE, type Micros, SECOND } from '../../../../runtime/clock.ts';
import { FakeBotApi } from '../../../../test/fakes/channel-bot/server.ts';
import { FakeChatServer } from '../../../../test/fakes/chat-server/server.ts';
import { CHANNEL_BOT } from './channel-bot.ts';
import { CHAT_SERVER } from './chat-server.ts';

const TOKEN = '123456:hunter2-very-secret-bot-token';

/**
 * When calls arrive that are begun as soon as the limiter allows.
 * @param heldUp what is begun before then arrives then, as when a machine is busy
 */
function arrivals(limiter: Limiter, until: Micros, heldUp: Micros): readonly Micros[] {
  const begun: Micros[] = [];
  let bucket = fullBucket(limiter, 0);
  for (let now = 0; now < until; now = tokenDueAt(bucket, limiter)) {
    bucket = refilled(bucket, limiter, now);
    const left = withoutToken(bucket);
    if (!left) continue;
    bucket = left;
    begun.push(Math.max(now, heldUp));
  }
  return begun;
}

/** @returns how many calls the messenger refused */
async function botRefuses(limiter: Limiter, until: Micros, heldUp: Micros, channels: number) {
  let now = 0;
  const server = new FakeBotApi({ now: () => now / 1_000, token: TOKEN });
  const { world } = server;
  const chats = Array.from({ length: channels }, (_, n) =>
    world.addChat(world.channel.id - 1 - n, 'channel', `Alerts ${n}`),
  );
  for (const [n, at] of arrivals(limiter, until, heldUp).entries()) {
    now = at;
    await server.answer({
      ...{ method: 'POST', target: `/bot${TOKEN}/sendMessage` },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ chat_id: chats[n % channels]?.id, text: `message ${n}` }),
    });
  }
  return server.tooMany;
}

describe('by default a messenger refuses no call for its own limits', () => {
  test('of a bot to many channels, though calls of a second are held up', async () => {
    expect(await botRefuses(CHANNEL_BOT.limiter, 10 * SECOND, SECOND, 100)).toBe(0);
    expect(await botRefuses({ limit: 12, per_seconds: 1 }, 10 * SECOND, SECOND, 100)).toBeGreaterThan(0);
  });

  test('of a bot to one channel, though calls of five seconds are held up', async () => {
    const { limiter } = BOT_CHANNEL.settings;
    expect(await botRefuses(limiter, 10 * MINUTE, 5 * SECOND, 1)).toBe(0);
    expect(await botRefuses({ limit: 12, per_seconds: 60 }, 10 * MINUTE, 0, 1)).toBeGreaterThan(0);
  });

  test('of a chat server whose limiter is on, though calls of ten seconds are held up', async () => {
    let now = 0;
    const server = new FakeChatServer({ now: () => now / 1_000, token: TOKEN });
    server.settings.limits = true;
    const ask = async (at: Micros) => {
      now = at;
      const headers = { authorization: `Bearer ${TOKEN}` };
      await server.answer({ method: 'GET', target: '/api/v4/users/me', headers, body: '' });
    };
    for (const at of arrivals(CHAT_SERVER.limiter, MINUTE, 10 * SECOND)) await ask(at);
    expect(server.tooMany).toBe(0);
    for (let asked = 0; asked < 102; asked++) await ask(2 * MINUTE);
    expect(server.tooMany).toBe(1);
  });
});
