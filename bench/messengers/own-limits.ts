/**
 * Bursts of new groups to messengers that keep their own limits, with the limiters that Tocsin has by default. The least
 * time is computed from the limits alone: what was saved up at once, the rest at the pace.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LIMITER_BURST, LIMITER_PER_SECOND } from '../../test/fakes/chat-server/server.ts';
import type { Json } from '../../test/harness/api.ts';
import { postTo } from '../../test/harness/bridge-channel.ts';
import { Loaded } from '../installation.ts';
import type { Row } from '../report.ts';
import { burst, type Messenger } from './messenger.ts';

/** A level that every call passes. */
interface Level {
  /** Calls that may be made at once, after a rest. */
  readonly burst: number;
  readonly perSecond: number;
  /** Those of the burst that pass this level. */
  readonly calls: number;
}

interface Burst {
  /** Of the row, behind the name of the messenger. */
  readonly what: string;
  readonly groups: number;
  readonly channels: number;
  readonly levels: readonly Level[];
}

/** Bursts through one Connection, one behind the other. */
export interface Run {
  /** Of the Connection and its Destinations; left out: the defaults. */
  readonly limiter?: { readonly limit: number; readonly per_seconds: number };
  readonly bursts: readonly Burst[];
}

/** Channels of a bot, and groups of each of them. */
const CHANNELS = 50;
const OF_EACH = 40;
const IN_ONE_CHANNEL = 45;

const TO_ONE = { groups: 2_000, channels: 1 };
/** The defaults (delivery §6). */
export const CHAT_SERVER: Run = {
  bursts: [
    {
      ...{ what: '2,000 groups to one channel, default limiters (5/s)', ...TO_ONE },
      levels: [{ burst: 5, perSecond: 5, calls: 2_000 }],
    },
  ],
};

/** The limit of the server itself, where it is switched on (chat-server §10). */
export const WHOLE_CHAT_SERVER: Run = {
  limiter: { limit: LIMITER_PER_SECOND, per_seconds: 1 },
  bursts: [
    {
      ...{ what: "2,000 groups to one channel, limiters at the server's own 10/s", ...TO_ONE },
      levels: [{ burst: LIMITER_BURST, perSecond: LIMITER_PER_SECOND, calls: 2_000 }],
    },
  ],
};

/** 10 per 1 s of the bot and 10 per 60 s of each channel (delivery §6). */
const OF_BOT = { burst: 10, perSecond: 10 };
const OF_CHANNEL = { burst: 10, perSecond: 10 / 60 };
export const CHANNEL_BOT: Run = {
  bursts: [
    {
      what: `${OF_EACH} groups to each of ${CHANNELS} channels, default limiters (10/s, 10/min a channel)`,
      ...{ groups: CHANNELS * OF_EACH, channels: CHANNELS },
      levels: [
        { ...OF_BOT, calls: CHANNELS * OF_EACH },
        { ...OF_CHANNEL, calls: OF_EACH },
      ],
    },
    {
      what: `${IN_ONE_CHANNEL} groups to one channel, default limiter (10/min)`,
      ...{ groups: IN_ONE_CHANNEL, channels: 1 },
      levels: [{ ...OF_CHANNEL, calls: IN_ONE_CHANNEL }],
    },
  ],
};

/** No sooner can that many calls be begun. */
function leastSeconds(levels: readonly Level[]): number {
  return Math.max(...levels.map(({ burst, perSecond, calls }) => Math.max(0, calls - burst) / perSecond));
}

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
    for (const [index, { what, groups, channels, levels }] of bursts.entries()) {
      progress(what);
      const teams = Array.from({ length: channels }, (_, n) => `team-${index}-${n}`);
      for (const team of teams) {
        const place = { ...messenger.addPlace(), name: team, connection_id: connection.id, limiter };
        await addRoute(tocsin, team, (await api.post('/destinations', place)).destination.id);
      }
      const seconds = await burst(endpoint, messenger, groups, `Own${index}n`, teams);
      measured.push({ what, seconds, least: leastSeconds(levels) });
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
