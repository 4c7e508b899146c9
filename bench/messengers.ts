/**
 * A chat server and a channel bot, each the strict one of the tests: how close a burst of new groups comes to what their
 * own limits allow, what a message costs with limits off, and how soon a press is answered.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { postTo } from '../test/harness/bridge-channel.ts';
import { signUp } from '../test/harness/seeded.ts';
import { Loaded } from './installation.ts';
import { startLoop } from './limit/start.ts';
import { burst, channelBot, chatServer, type Messenger } from './messengers/messenger.ts';
import { CHANNEL_BOT, CHAT_SERVER, WHOLE_CHAT_SERVER, withinOwnLimits } from './messengers/own-limits.ts';
import { type Bench, millis, percentiles, perSecond, type Row } from './report.ts';

const WIDE = { limit: 1000, per_seconds: 1 };
const GROUPS = 2_000;
const PRESSES = 200;
/** Presses of one person are handled one after the other. */
const PEOPLE = 20;
const SETTLING_MS = 2_000;
/** In which a service has made the groups of a burst, and has little to do but to wait for tokens. */
const GROUPS_MADE_MS = 60_000;

/** What spends: processor seconds and transactions so far. */
interface Meters {
  cpuSeconds(): number;
  postgresCpuSeconds(): number;
  transactions(): Promise<number>;
}

/** What the work took, divided by how many pieces it has; behind it, 2 s in which edits and replies follow. */
async function spent<Result>(tocsin: Meters, pieces: number, work: () => Promise<Result>) {
  const [service, postgres] = [tocsin.cpuSeconds(), tocsin.postgresCpuSeconds()];
  const transactions = await tocsin.transactions();
  const result = await work();
  await pause(SETTLING_MS);
  return {
    result,
    serviceMillis: ((tocsin.cpuSeconds() - service) * 1000) / pieces,
    postgresMillis: ((tocsin.postgresCpuSeconds() - postgres) * 1000) / pieces,
    transactions: ((await tocsin.transactions()) - transactions) / pieces,
  };
}

async function measure(start: () => Promise<Messenger>, progress: (what: string) => void) {
  const messenger = await start();
  messenger.limit(false);
  const tocsin = await Loaded.start();
  const { api, ready } = tocsin;
  const endpoint = { url: ready.ingest_endpoint, token: ready.integration_token };
  try {
    await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
    const common = { name: 'bench', proxy: { enabled: false }, limiter: WIDE };
    const connection = await api.post('/connections', { ...common, ...messenger.connection });
    const place = { ...messenger.place, name: 'bench', connection_id: connection.id };
    const { destination } = await api.post('/destinations', { ...place, limiter: WIDE });
    await postTo(api, [destination.id], { storm_threshold: 100_000 });
    for (let n = 0; n < PEOPLE; n++) {
      const login = `responder${n}`;
      await messenger.link(await signUp(api, tocsin.ready, login, login), connection.id, login);
    }
    await burst(endpoint, messenger, 50, 'Warm');
    progress(`${GROUPS} groups with limits wide open`);
    const from = messenger.roots();
    const wide = await spent(tocsin, GROUPS, () => burst(endpoint, messenger, GROUPS, 'Wide'));
    progress(`${PRESSES} presses in a second`);
    const press = async (n: number) => {
      const due = performance.now() + (n / PRESSES) * 1000;
      await pause(due - performance.now());
      await messenger.press(from + n);
      return performance.now() - due;
    };
    const pressed = await spent(tocsin, PRESSES, () =>
      Promise.all(Array.from({ length: PRESSES }, (_, n) => press(n))),
    );
    const limit = await bareLoop(tocsin, messenger);
    return { wide, limit, pressed: { ...pressed, ...percentiles(pressed.result) } };
  } finally {
    await tocsin.remove();
    await messenger.close();
  }
}

/** The bare loop, on the installation that Tocsin filled and left. */
async function bareLoop(tocsin: Loaded, messenger: Messenger) {
  while (await tocsin.isBusy()) await pause(20);
  await pause(3_000);
  await tocsin.sql.end();
  await tocsin.installation.stop();
  const loop = await startLoop(tocsin.installation.dataDir, messenger.postsTo, 'Wide7x');
  const endpoint = { url: loop.url, token: null };
  try {
    await burst(endpoint, messenger, 50, 'WarmLoop');
    return await spent(loop, GROUPS, () => burst(endpoint, messenger, GROUPS, 'Loop'));
  } finally {
    await loop.stop();
  }
}

function spentOf(
  what: string,
  used: { serviceMillis: number; postgresMillis: number; transactions: number },
): Row {
  const { serviceMillis, postgresMillis, transactions } = used;
  const value = `service ${millis(serviceMillis)}, PostgreSQL ${millis(postgresMillis)}`;
  return { what, value: `${value}, ${transactions.toFixed(1)} transactions` };
}

function rowsOf({ wide, limit, pressed }: Awaited<ReturnType<typeof measure>>): Row[] {
  return [
    { what: `${GROUPS} groups, limits wide open`, value: perSecond(GROUPS / wide.result) },
    spentOf(`spent on each`, wide),
    { what: `the bare loop`, value: perSecond(GROUPS / limit.result) },
    spentOf(`the bare loop, spent on each`, limit),
    {
      what: `÷ the bare loop`,
      value: (limit.result / wide.result).toFixed(2),
      compared: { product: GROUPS / wide.result, limit: GROUPS / limit.result },
    },
    {
      what: `${PRESSES} presses in a second, answered`,
      value: `p50 ${millis(pressed.p50)}, p99 ${millis(pressed.p99)}`,
      goal: 'p99 under 500 ms',
      met: pressed.p99 < 500,
    },
    spentOf(`spent on each press, with its edit and its reply`, pressed),
  ];
}

export const messengers: Bench = {
  name: 'messengers',
  title: 'A chat server and a channel bot on this machine, the strict ones of the tests (fifteen minutes)',
  async run({ progress }) {
    const ofChat = (what: string) => progress(`chat server: ${what}`);
    const ofBot = (what: string) => progress(`channel bot: ${what}`);
    // They wait for tokens most of the time: together they take no longer, once each has made its groups.
    const [chatLimits, botLimits, wholeChatLimits] = await Promise.all([
      withinOwnLimits(chatServer, CHAT_SERVER, ofChat),
      pause(GROUPS_MADE_MS).then(() => withinOwnLimits(channelBot, CHANNEL_BOT, ofBot)),
      pause(2 * GROUPS_MADE_MS).then(() => withinOwnLimits(chatServer, WHOLE_CHAT_SERVER, ofChat)),
    ]);
    const chat = await measure(chatServer, ofChat);
    const bot = await measure(channelBot, ofBot);
    const named = (name: string, rows: readonly Row[]) =>
      rows.map((row) => ({ ...row, what: `${name}: ${row.what}` }));
    return {
      rows: [
        ...named('chat server', [...chatLimits.rows, ...wholeChatLimits.rows, ...rowsOf(chat)]),
        ...named('channel bot', [...botLimits.rows, ...rowsOf(bot)]),
      ],
      raw: {
        chat,
        bot,
        chatLimits: chatLimits.raw,
        wholeChatLimits: wholeChatLimits.raw,
        botLimits: botLimits.raw,
      },
    };
  },
};
