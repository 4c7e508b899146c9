/** The default limiters against the messengers' own limits, as the strict fakes keep them (delivery §6). */
import { describe, expect, test } from 'vitest';
import { CHANNEL_BOT as BOT_CHANNEL } from '../../../../actors/channels/channel-bot/settings.ts';
import { limiterFor } from '../../../../actors/channels/index.ts';
import {
  fullBucket,
  type Limiter,
  refilled,
  tokenDueAt,
  withEnded,
  withoutToken,
} from '../../../../actors/destination/limiter.ts';
import { TOLD_CALL } from '../../../../actors/destination/pacing.ts';
import { MINUTE, type Micros, SECOND } from '../../../../runtime/clock.ts';
import { FakeBotApi } from '../../../../test/fakes/channel-bot/server.ts';
import { FakeChatServer } from '../../../../test/fakes/chat-server/server.ts';
import { CHANNEL_BOT } from './channel-bot.ts';
import { CHAT_SERVER } from './chat-server.ts';

const TOKEN = '123456:hunter2-very-secret-bot-token';

/**
 * When calls arrive that are begun as soon as the limiter allows.
 * @param heldUp what is begun before then arrives, and ends, then, as when a machine is busy
 */
function arrivals(limiter: Limiter, until: Micros, heldUp: Micros): readonly Micros[] {
  const begun: Micros[] = [];
  let waiting = 0;
  let bucket = fullBucket(limiter, 0);
  for (let now = 0; now < until; ) {
    bucket = refilled(bucket, limiter, now);
    for (; waiting > 0 && now >= heldUp; waiting--) bucket = withEnded(bucket, limiter);
    const left = withoutToken(bucket, limiter, TOLD_CALL);
    if (left) {
      bucket = left;
      begun.push(Math.max(now, heldUp));
      waiting++;
    } else now = Math.min(tokenDueAt(bucket, limiter), now < heldUp ? heldUp : Number.POSITIVE_INFINITY);
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
  const bot = limiterFor('channel_bot', CHANNEL_BOT.limiter);
  const channel = limiterFor('channel_bot', BOT_CHANNEL.settings.limiter);

  test('of a bot to many channels, though calls of three seconds are held up', async () => {
    expect(await botRefuses(bot, 10 * SECOND, 3 * SECOND, 100)).toBe(0);
    expect(await botRefuses({ ...bot, limit: 31 }, 10 * SECOND, 0, 100)).toBeGreaterThan(0);
  });

  test('of a bot to one channel, though calls of five seconds are held up', async () => {
    expect(await botRefuses(channel, 10 * MINUTE, 5 * SECOND, 1)).toBe(0);
    expect(await botRefuses({ ...channel, limit: 21 }, 10 * MINUTE, 0, 1)).toBeGreaterThan(0);
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
