/** The messengers of the bench, the strict ones of the tests, and a burst of new groups to them. */
import { setTimeout as pause } from 'node:timers/promises';
import { startBotApi } from '../../test/fakes/channel-bot/http.ts';
import type { FakePerson } from '../../test/fakes/channel-bot/world.ts';
import { startChatServer } from '../../test/fakes/chat-server/http.ts';
import type { FakeUser } from '../../test/fakes/chat-server/server.ts';
import type { Api } from '../../test/harness/api.ts';
import { snapshotBody } from '../../test/harness/sender.ts';

/** What a messenger was asked to do so far. */
export interface Calls {
  /** New messages, and edits of them. */
  readonly posts: number;
  readonly edits: number;
  /** Refused with 429 because there were too many. */
  readonly refused: number;
}

/** A messenger as this bench sees it. */
export interface Messenger {
  readonly connection: object;
  readonly place: object;
  /** Where a message is posted, and with what credentials; empty: those of the address. */
  readonly postsTo: { readonly url: string; readonly authorization: string };
  /** Another channel, as the place of a Destination. */
  addPlace(): object;
  /** Root messages so far, of all channels. */
  roots(): number;
  /** Turns the limits of the messenger itself on or off. */
  limit(isOn: boolean): void;
  /** Calls so far, by what the limiters of a Destination and of its Connection count. */
  calls(): Calls;
  /** One of them presses Ack of the n-th root message; resolves once that person is answered. */
  press(n: number): Promise<void>;
  /** Gives the person who is signed in an account, linked. */
  link(api: Api, connectionId: string, login: string): Promise<void>;
  close(): Promise<void>;
}

function turnOf<One>(people: readonly One[], n: number): One {
  const one = people[n % people.length];
  if (!one) throw new Error('Nobody presses');
  return one;
}

export async function chatServer(): Promise<Messenger> {
  const { server, url, token, close } = await startChatServer();
  const people: FakeUser[] = [];
  const posted = () =>
    server.posts.filter(
      ({ rootId, channelId }) => rootId === '' && server.channels.get(channelId)?.teamId === server.team.id,
    );
  const placeIn = (channelId: string) => ({
    ...{ type: 'chat_server', team_id: server.team.id, channel_id: channelId },
  });
  const made = (call: RegExp) => server.calls.filter((name) => call.test(name)).length;
  return {
    connection: { type: 'chat_server', server_url: url, bot_token: token },
    place: placeIn(server.channel.id),
    addPlace() {
      const name = `alerts-${server.channels.size}`;
      return placeIn(server.addChannel(server.team.id, name, name, [server.bot.id]).id);
    },
    limit(isOn) {
      server.settings.limits = isOn;
    },
    calls: () => ({
      ...{ posts: made(/^POST \/api\/v4\/posts(\?|$)/), edits: made(/^PUT .*\/patch$/) },
      refused: server.tooMany,
    }),
    postsTo: { url: `${url}/api/v4/posts`, authorization: `Bearer ${token}` },
    roots: () => posted().length,
    async press(n) {
      const [answer] = await server.press(posted()[n]?.id ?? '', 'ack', turnOf(people, n));
      if (answer?.status !== 200) throw new Error(`A press was answered ${answer?.status}`);
    },
    async link(api, connectionId, login) {
      people.push(server.addUser(login));
      const asked = { connection_id: connectionId, username: `@${login}` };
      const started = await api.call('POST', '/me/account-links/chat-server', asked);
      const [code] = /[A-Z0-9]{4}-?[A-Z0-9]{4}/.exec(server.posts.at(-1)?.message ?? '') ?? [];
      const body = { request_id: started.body.request_id, code };
      await api.call('POST', '/me/account-links/chat-server/confirmation', body);
    },
    close,
  };
}

export async function channelBot(): Promise<Messenger> {
  const { server, url, token, close } = await startBotApi();
  const { world, answers } = server;
  const people: FakePerson[] = [];
  const channels = [world.channel];
  const placeIn = (id: number) => ({ type: 'channel_bot', channel_id: String(id) });
  const made = (method: string) => server.calls.filter((name) => name === method).length;
  return {
    connection: { type: 'channel_bot', bot_api_base_url: url, bot_token: token },
    place: placeIn(world.channel.id),
    addPlace() {
      const id = world.channel.id - channels.length;
      const channel = world.addChat(id, 'channel', `Alerts ${channels.length}`);
      const group = world.group.id - channels.length;
      world.link(channel, world.addChat(group, 'supergroup', `${channel.title} talk`));
      channels.push(channel);
      return placeIn(id);
    },
    limit(isOn) {
      server.settings.limits = isOn;
    },
    calls: () => ({
      ...{ posts: made('sendMessage'), edits: made('editMessageText'), refused: server.tooMany },
    }),
    postsTo: { url: `${url}/bot${token}/sendMessage`, authorization: '' },
    roots: () => channels.reduce((sum, { messages }) => sum + messages.length, 0),
    async press(n) {
      const message = world.channel.messages[n];
      if (!message) throw new Error(`There is no message ${n}`);
      const query = server.press(message, 'Ack', turnOf(people, n));
      while (!answers.some(({ queryId }) => queryId === query)) await pause(5);
    },
    async link(api, connectionId, login) {
      const person = world.addPerson(5001 + people.length, login);
      people.push(person);
      const started = await api.post('/me/account-links/channel-bot', { connection_id: connectionId });
      const token = new URL(started.deep_link).searchParams.get('start');
      const chat = world.addChat(person.id, 'private', login);
      server.write(chat, person, `/start ${token}`);
      while ((await api.get('/me/account-links')).items.length === 0) await pause(50);
    },
    close,
  };
}

/** Where Snapshots are posted. */
export interface Endpoint {
  readonly url: string;
  readonly token: string | null;
}

async function post({ url, token }: Endpoint, name: string, team: string): Promise<void> {
  const alerts = [{ labels: { alertname: name, team, cluster: 'production-eu-1', severity: 'warning' } }];
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: snapshotBody({ groupKey: name, alerts }),
  });
  if (response.status !== 202) throw new Error(`A Snapshot was answered ${response.status}`);
}

/**
 * Posts new groups and waits until each has its message.
 * @param teams the `team` that Routes match, each as often as the others
 * @returns seconds from the first post
 */
export async function burst(
  to: Endpoint,
  messenger: Pick<Messenger, 'roots'>,
  groups: number,
  name: string,
  teams: readonly string[] = ['operations'],
): Promise<number> {
  const wanted = messenger.roots() + groups;
  const from = performance.now();
  const numbers = Array.from({ length: groups }, (_, n) => n);
  const lanes = Array.from({ length: 16 }, async () => {
    for (let next = numbers.pop(); next !== undefined; next = numbers.pop())
      await post(to, `${name}${next}x`, teams[next % teams.length] ?? '');
  });
  await Promise.all(lanes);
  while (messenger.roots() < wanted) await pause(20);
  if (messenger.roots() > wanted) throw new Error('A message was posted twice');
  return (performance.now() - from) / 1000;
}
