/**
 * Bursts of new groups to messengers that keep their own limits, with the limiters that Tocsin has by default. The least
 * time is computed from the limits alone.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { PER_MINUTE_IN_GROUP, PER_SECOND } from '../../test/fakes/channel-bot/server.ts';
import { LIMITER_BURST, LIMITER_PER_SECOND } from '../../test/fakes/chat-server/server.ts';
import type { Json } from '../../test/harness/api.ts';
import { postTo } from '../../test/harness/bridge-channel.ts';
import { Loaded } from '../installation.ts';
import type { Row } from '../report.ts';
import { burst, type Messenger } from './messenger.ts';

interface Burst {
  /** Of the row, behind the name of the messenger. */
  readonly what: string;
  readonly groups: number;
  readonly channels: number;
  /** No sooner can the last call be begun. */
  readonly leastSeconds: number;
}

/** Bursts through one Connection, one behind the other. */
export interface Run {
  /** Of the Connection and its Destinations; left out: the defaults. */
  readonly limiter?: { readonly limit: number; readonly per_seconds: number };
  readonly bursts: readonly Burst[];
}

/** Of tokens that fill steadily: what was saved up begins at once, the rest at the pace. */
function steady(calls: number, burst: number, perSecond: number): number {
  return Math.max(0, calls - burst) / perSecond;
}

/** Of calls of which no more than `limit` fall into any `seconds`. */
function sliding(calls: number, limit: number, seconds: number): number {
  return (Math.ceil(calls / limit) - 1) * seconds;
}

const TO_ONE = { groups: 2_000, channels: 1 };
/** The defaults (delivery §6). */
export const CHAT_SERVER: Run = {
  bursts: [
    {
      ...{ what: '2,000 groups to one channel, default limiters (5/s)', ...TO_ONE },
      leastSeconds: steady(2_000, 5, 5),
    },
  ],
};

/** The limit of the server itself, where it is switched on (chat-server §10). */
export const WHOLE_CHAT_SERVER: Run = {
  limiter: { limit: LIMITER_PER_SECOND, per_seconds: 1 },
  bursts: [
    {
      ...{ what: "2,000 groups to one channel, limiters at the server's own 10/s", ...TO_ONE },
      leastSeconds: steady(2_000, LIMITER_BURST, LIMITER_PER_SECOND),
    },
  ],
};

const IN_ONE_CHANNEL = 45;
const CHANNELS = 2_000 / PER_MINUTE_IN_GROUP;
/** The defaults, which are the limits of the messenger itself. */
export const CHANNEL_BOT: Run = {
  bursts: [
    {
      what: `2,000 groups to ${CHANNELS} channels, the messenger's own 30/s`,
      ...{ groups: 2_000, channels: CHANNELS },
      leastSeconds: sliding(2_000, PER_SECOND, 1),
    },
    {
      what: `${IN_ONE_CHANNEL} groups to one channel, the messenger's own 20/min`,
      ...{ groups: IN_ONE_CHANNEL, channels: 1 },
      leastSeconds: sliding(IN_ONE_CHANNEL, PER_MINUTE_IN_GROUP, 60),
    },
  ],
};

/** What a burst may be followed by, edits and replies, and the time in which buckets fill. */
const SETTLING_MS = 3_000;

/** @returns a row for each burst, and one of what the messenger was asked to do meanwhile */
export async function withinOwnLimits(
  start: () => Promise<Messenger>,
  { limiter, bursts }: Run,
  progress: (what: string) => void,
): Promise<{ readonly rows: readonly Row[]; readonly raw: object }> {
  const messenger = await start();
  const tocsin = await Loaded.start();
  const { api, ready } = tocsin;
  const endpoint = { url: ready.ingest_endpoint, token: ready.integration_token };
  const measured: { what: string; seconds: number; least: number }[] = [];
  try {
    messenger.limit(true);
    await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
    await postTo(api, [], { storm_threshold: 100_000 });
    const common = { name: 'bench', proxy: { enabled: false }, limiter };
    const connection = await api.post('/connections', { ...common, ...messenger.connection });
    for (const [index, { what, groups, channels, leastSeconds }] of bursts.entries()) {
      progress(what);
      const teams = Array.from({ length: channels }, (_, n) => `team-${index}-${n}`);
      for (const team of teams) {
        const place = { ...messenger.addPlace(), name: team, connection_id: connection.id, limiter };
        await addRoute(tocsin, team, (await api.post('/destinations', place)).destination.id);
      }
      const seconds = await burst(endpoint, messenger, groups, `Own${index}n`, teams);
      measured.push({ what, seconds, least: leastSeconds });
      progress(`${what}: took ${seconds.toFixed(1)} s`);
      await pause(SETTLING_MS);
    }
    const calls = messenger.calls();
    return { rows: [...measured.map(rowOf), callsRow(calls)], raw: { measured, calls } };
  } finally {
    await tocsin.remove();
    await messenger.close();
  }
}

/** A Route of the alerts of a team, which posts to one Destination. */
async function addRoute({ api }: Loaded, team: string, destinationId: string): Promise<void> {
  const { items } = await api.get('/routes');
  const { urgent, group_key, policy } = items.find((route: Json) => route.is_default);
  await api.post('/routes', {
    ...{ name: team, urgent, group_key, policy, destination_ids: [destinationId] },
    matchers: [{ label: 'team', op: '=', value: team }],
  });
}

function rowOf({ what, seconds, least }: { what: string; seconds: number; least: number }): Row {
  const ratio = seconds / least;
  const value = `${ratio.toFixed(2)} (${seconds.toFixed(1)} s ÷ ${least.toFixed(1)} s)`;
  return { what: `${what}: time ÷ the least`, value, goal: 'at most 1.1', met: ratio <= 1.1 };
}

function callsRow({ posts, edits, refused }: ReturnType<Messenger['calls']>): Row {
  const value = `${posts} posts, ${edits} edits, ${refused} refused`;
  return { what: 'calls within its own limits', value, goal: 'none refused', met: refused === 0 };
}
