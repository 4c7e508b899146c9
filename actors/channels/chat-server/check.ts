/** Tries a chat server before and after it is saved, and lists the channels of its bot (chat-server §1, §3). */
import type { Clock } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { ChatServerInfo } from '../../connection/ports.ts';
import type { InteractiveTokens } from '../../connection/tokens.ts';
import { cutPoints, oneLine } from '../../messages/neutral.ts';
import {
  askedWithToken,
  failed,
  GONE_CONNECTION,
  openProxyPassword,
  passedSteps,
  placeFailed,
  UNREADABLE,
} from '../access.ts';
import {
  type ChannelLister,
  type ConnectionCheck,
  checkInSteps,
  type Listed,
  type ListedChannel,
  NO_TOKEN,
  unreachable,
  type WantedChannels,
} from '../connection-check.ts';
import type { Busy, CheckedPlace, Interactive } from '../interactive.ts';
import type { ChatOutcome } from './answer.ts';
import { type ChatAccess, type ChatCallOptions, type ChatUse, openChatServer } from './client.ts';
import { chatCalls, type ServerChannel, type ServerTeam } from './operations.ts';
import { type AskServer, type ChatPlace, checkPlace } from './place.ts';
import { infoOf } from './server-info.ts';

export interface ChatConnectionCheckDeps extends ChatUse {
  readonly clock: Pick<Clock, 'now'>;
}

const NO_SERVER = 'not a Mattermost server';

/** Tries the address without the token, which never reaches a server that is none, then the token. */
export function createChatConnectionCheck(deps: ChatConnectionCheckDeps): ConnectionCheck {
  const { chat, opener, clock } = deps;
  return {
    async saved(id) {
      const settings = await deps.settings(id);
      if (!settings) return null;
      const { access, serverUrl: address, proxy } = settings;
      const proxyPassword = openProxyPassword(opener, settings);
      return {
        id,
        access,
        address,
        mode: null,
        proxy,
        proxyPassword,
        opened: openChatServer(opener, settings),
      };
    },

    async run({ address: serverUrl, access, run, take }) {
      const on = { ...access, serverUrl };
      const options: ChatCallOptions = { class: 'interactive', check: { as: 'connection_check', run } };
      const host = new URL(serverUrl).hostname;
      let info: ChatServerInfo | null = null;
      const checked = await checkInSteps({ take, clock }, [
        {
          ...{ name: 'dry_probe', skip: null },
          make: async () => failure('dry_probe', await chat.call(on, chatCalls.ping(), options), host),
        },
        {
          ...{ name: 'token', skip: access.token === null ? NO_TOKEN : null },
          async make() {
            const me = await chat.call(on, chatCalls.getMe(), options);
            if (me.class === 'ok') info = await infoOf(chat, on, me.value, options);
            return failure('token', me, host);
          },
        },
      ]);
      const learned = info && ({ ok: true, info, wrong: null, tokenless: null } as const);
      return 'steps' in checked ? { ...checked, info, wrong: null, tokenless: false, learned } : checked;
    },
  };
}

/** What is wrong, for people who check a chat server; masked. Null: nothing. */
function failure(name: 'dry_probe' | 'token', outcome: ChatOutcome<unknown>, host: string): string | null {
  if (outcome.class === 'ok') return null;
  if (outcome.class === 'not_sent') return 'the service is stopping';
  const { code, error, status, id } = outcome;
  switch (code) {
    case 'response_invalid':
      return NO_SERVER;
    case 'http_status':
      if (status === 404) return 'nothing here: check the path prefix (404)';
      if (status === 401 && name === 'token') return id === null ? NO_SERVER : 'the token was refused';
      return `unexpected status ${status}`;
    default:
      return unreachable(outcome, host) ?? error;
  }
}

export interface ChatPlaceCheckDeps extends ChatUse {
  readonly tokens: InteractiveTokens;
}

/** Whether the bot can post to a channel: the Destination check of the type (chat-server §3). It posts nothing. */
export function createChatServerCheck(deps: ChatPlaceCheckDeps): NonNullable<Interactive['check']> {
  return async ({ destinationId, fields }, run) => {
    if (fields.type !== 'chat_server')
      throw new Error(`a Destination of type ${fields.type} is no channel of a chat server`);
    const settings = await deps.settings(fields.connection_id);
    if (!settings) return placeFailed(STEPS, 'token', GONE_CONNECTION);
    const access = openChatServer(deps.opener, settings);
    if (!access) return placeFailed(STEPS, 'token', UNREADABLE);
    const owners = { destinationId, connectionId: settings.id };
    const ask = asker(deps, access, owners, { check: { as: 'destination_check', run } });
    return checkedPlace({ teamId: fields.team_id ?? '', channelId: fields.channel_id }, ask);
  };
}

/** Every request takes a limiter token first; a wait that the server asks for holds for the whole Connection. */
function asker(
  { tokens, chat }: ChatPlaceCheckDeps,
  access: ChatAccess,
  owners: { readonly destinationId: PublicId | null; readonly connectionId: PublicId },
  about: Pick<ChatCallOptions, 'check'>,
): AskServer {
  const { destinationId } = owners;
  return (request) =>
    askedWithToken(tokens, owners, () =>
      chat.call(access, request, { class: 'interactive', destinationId, ...about }),
    );
}

async function checkedPlace(place: ChatPlace, ask: AskServer): Promise<CheckedPlace | Busy> {
  const checked = await checkPlace(place, ask);
  if (checked.is === 'busy') return checked.wait;
  if (checked.is === 'failed') return placeFailed(STEPS, checked.step, checked.message);
  const { channel, team } = checked;
  return {
    ok: true,
    checks: passedSteps(STEPS),
    found: {
      channelName: shownName(channel),
      teamName: team && shownName(team),
      teamPath: team?.name ?? null,
    },
  };
}

const STEPS = ['token', 'bot_in_channel'] as const;

const MOST_TEAMS = 20;
const MOST_CHANNELS = 500;
/** Direct and group channels are no place for alerts; their ids can be typed. */
const TYPES: Readonly<Record<string, ListedChannel['type']>> = { O: 'open', P: 'private' };
/** An answer that means none. */
const NONE = 'app.channel.get_channels.not_found.app_error';

/** Lists channels with a limiter token a request. */
export function createChatChannels(deps: ChatPlaceCheckDeps): ChannelLister {
  return async (id, wanted) => {
    const settings = await deps.settings(id);
    if (!settings) return { is: 'failed', error: GONE_CONNECTION };
    const access = openChatServer(deps.opener, settings);
    if (!access) return { is: 'failed', error: UNREADABLE };
    return listChatChannels(wanted, asker(deps, access, { destinationId: null, connectionId: id }, {}));
  };
}

/** Channels that the bot is a member of, by team and name, at most 500 of at most 20 teams. */
export async function listChatChannels(wanted: WantedChannels, ask: AskServer): Promise<Listed> {
  const teams = await ask(chatCalls.listTeams());
  if (teams.is === 'busy') return teams;
  if (teams.outcome.class !== 'ok') return failed(teams.outcome);
  const found: ListedChannel[] = [];
  for (const team of chosenTeams(teams.outcome.value, wanted.teamId)) {
    const channels = await ask(chatCalls.listChannels(team.id));
    if (channels.is === 'busy') return channels;
    const { outcome } = channels;
    if (outcome.class === 'ok') found.push(...outcome.value.flatMap((channel) => listed(channel, team)));
    else if (outcome.class === 'not_sent' || outcome.id !== NONE) return failed(outcome);
  }
  const q = wanted.q?.toLowerCase() ?? '';
  const fits = ({ name, display_name: shown }: ListedChannel) =>
    name.toLowerCase().includes(q) || shown.toLowerCase().includes(q);
  const channels = found.filter(fits).sort(byTeamAndName);
  return { is: 'listed', channels: channels.slice(0, MOST_CHANNELS) };
}

function chosenTeams(teams: readonly ServerTeam[], teamId: string | null): readonly ServerTeam[] {
  const live = teams.filter((team) => team.delete_at === 0 && (teamId === null || team.id === teamId));
  return [...live].sort((one, other) => compare(one.name, other.name)).slice(0, MOST_TEAMS);
}

function listed(channel: ServerChannel, team: ServerTeam): readonly ListedChannel[] {
  const type = TYPES[channel.type];
  if (type === undefined || channel.delete_at !== 0) return [];
  const names = { display_name: shownName(channel), team_id: team.id, team_name: shownName(team) };
  return [{ id: channel.id, name: oneLine(channel.name), type, ...names }];
}

function byTeamAndName(one: ListedChannel, other: ListedChannel): number {
  return compare(one.team_name, other.team_name) || compare(one.display_name, other.display_name);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

const LONGEST_NAME = 200;

/** What the server says is not to be trusted: one line that can be stored and fits into a list. */
function shownName({ name, display_name: shown }: Pick<ServerChannel, 'name' | 'display_name'>): string {
  return cutPoints(oneLine(shown === '' ? name : shown), LONGEST_NAME);
}
