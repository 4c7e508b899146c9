/** Tries a chat server before and after it is saved, and lists the channels of its bot (chat-server §1, §3). */

import type { Clock } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import { cutToBytes } from '../../../runtime/secrets/masking.ts';
import type { ChatServerInfo, ChatServerSettings } from '../../connection/ports.ts';
import type { InteractiveTokens, TokenGrant } from '../../connection/tokens.ts';
import { cutPoints, oneLine } from '../../messages/neutral.ts';
import type { Busy, CheckedPlace, Interactive } from '../interactive.ts';
import type { ChatOutcome } from './answer.ts';
import { type ChatAccess, type ChatCallOptions, type ChatClient, openChatServer } from './client.ts';
import { type ChatRequest, chatCalls, type ServerChannel, type ServerTeam } from './operations.ts';
import { type AskServer, type ChatPlace, checkPlace } from './place.ts';
import { infoOf } from './server-info.ts';

export interface ChatCheckStep {
  readonly name: 'dry_probe' | 'token';
  readonly ok: boolean;
  readonly skipped: boolean;
  readonly latencyMs: number | null;
  /** For people; masked. */
  readonly message: string | null;
}

export interface ChatServerCheck {
  readonly ok: boolean;
  readonly steps: readonly ChatCheckStep[];
  /** What the server and the bot are; null when the token was not tried, or refused. */
  readonly info: ChatServerInfo | null;
  /** The bot may not show a text to one person in a channel: answers to presses are shown in the Thread. */
  readonly warnings: readonly 'press_answers_in_thread'[];
}

export interface ChatCheckDeps {
  /** Shared by the records of its requests. */
  readonly run: PublicId;
  readonly chat: ChatClient;
  readonly clock: Pick<Clock, 'now'>;
  /** A limiter token for one request. */
  take(): Promise<TokenGrant>;
}

const LONGEST_MESSAGE = 500;
const NO_TOKEN = 'no token for this address';
const NO_SERVER = 'not a Mattermost server';

/** @returns how it went, or when to come again where not even the first request could be made */
export async function checkChatServer(
  deps: ChatCheckDeps,
  access: ChatAccess,
): Promise<ChatServerCheck | Busy> {
  const grant = await deps.take();
  if (grant !== 'granted') return grant;
  const dry = await timed(deps, access, chatCalls.ping());
  const probe = stepOf('dry_probe', dry, access);
  if (!probe.ok) return ended([probe, skipped(null)]);
  // The token never reaches a server that is none.
  if (access.token === null) return ended([probe, skipped(NO_TOKEN)]);
  const second = await deps.take();
  if (second !== 'granted') {
    const message = `no token of the limiter within 5 s, the next is due in ${second.retryAfterSeconds} s`;
    return ended([probe, { name: 'token', ok: false, skipped: false, latencyMs: null, message }]);
  }
  const me = await timed(deps, access, chatCalls.getMe());
  const token = stepOf('token', me, access);
  if (me.outcome.class !== 'ok') return ended([probe, token]);
  const info = await infoOf(deps.chat, access, me.outcome.value, optionsOf(deps));
  const warnings = info.answers_privately ? [] : (['press_answers_in_thread'] as const);
  return { ...ended([probe, token]), info, warnings };
}

/** Skipped steps do not fail the check. */
function ended(steps: readonly ChatCheckStep[]): ChatServerCheck {
  const ok = steps.every((step) => step.ok || step.skipped) && steps.some((step) => step.ok);
  return { ok, steps, info: null, warnings: [] };
}

function skipped(message: string | null): ChatCheckStep {
  return { name: 'token', ok: false, skipped: true, latencyMs: null, message };
}

interface Timed<Value> {
  readonly outcome: ChatOutcome<Value>;
  readonly latencyMs: number;
}

async function timed<Value>(
  deps: ChatCheckDeps,
  access: ChatAccess,
  request: ChatRequest<Value>,
): Promise<Timed<Value>> {
  const begun = deps.clock.now();
  const outcome = await deps.chat.call(access, request, optionsOf(deps));
  return { outcome, latencyMs: Math.round((deps.clock.now() - begun) / 1000) };
}

function optionsOf({ run }: ChatCheckDeps): ChatCallOptions {
  return { class: 'interactive', check: { as: 'connection_check', run } };
}

function stepOf(
  name: ChatCheckStep['name'],
  { outcome, latencyMs }: Timed<unknown>,
  { serverUrl }: ChatAccess,
): ChatCheckStep {
  const ok = outcome.class === 'ok';
  const message = ok
    ? null
    : cutToBytes(failure(name, outcome, new URL(serverUrl).hostname), LONGEST_MESSAGE);
  return { name, ok, skipped: false, latencyMs, message };
}

/** What is wrong, for people who check a chat server; masked. */
function failure(name: ChatCheckStep['name'], outcome: ChatOutcome<unknown>, host: string): string {
  if (outcome.class === 'ok' || outcome.class === 'not_sent') return 'the service is stopping';
  const { code, error, status, id } = outcome;
  switch (code) {
    case 'dns_failed':
      return `DNS: ${host} not found`;
    case 'tls_failed':
      return `TLS: ${error}`;
    case 'proxy_auth_failed':
      return 'the proxy refused the login (407)';
    case 'response_invalid':
      return NO_SERVER;
    case 'http_status':
      if (status === 404) return 'nothing here: check the path prefix (404)';
      if (status === 401 && name === 'token') return id === null ? NO_SERVER : 'the token was refused';
      return `unexpected status ${status}`;
    default:
      return error;
  }
}

export interface ChatPlaceCheckDeps {
  readonly chat: ChatClient;
  readonly opener: Opener;
  readonly tokens: InteractiveTokens;
  settings(connectionId: PublicId): Promise<ChatServerSettings | null>;
}

const GONE = 'the Connection was deleted';
const UNREADABLE = 'a secret of this Connection cannot be opened any more; enter it again';

/** Whether the bot can post to a channel: the Destination check of the type (chat-server §3). It posts nothing. */
export function createChatServerCheck(deps: ChatPlaceCheckDeps): NonNullable<Interactive['check']> {
  return async ({ destinationId, fields }, run) => {
    if (fields.type !== 'chat_server')
      throw new Error(`a Destination of type ${fields.type} is no channel of a chat server`);
    const settings = await deps.settings(fields.connection_id);
    if (!settings) return placeFailed('token', GONE);
    const access = openChatServer(deps.opener, settings);
    if (!access) return placeFailed('token', UNREADABLE);
    const check = { as: 'destination_check', run } as const;
    const ask: AskServer = async (request) => {
      const grant = await deps.tokens.take({ destinationId, connectionId: settings.id });
      if (grant !== 'granted') return { is: 'busy', wait: grant };
      const outcome = await deps.chat.call(access, request, { class: 'interactive', destinationId, check });
      if (outcome.class === 'retry_after') deps.tokens.spent(settings.id, { ...outcome, scope: 'bot' });
      return { is: 'answered', outcome };
    };
    return checkedPlace({ teamId: fields.team_id ?? '', channelId: fields.channel_id }, ask);
  };
}

async function checkedPlace(place: ChatPlace, ask: AskServer): Promise<CheckedPlace | Busy> {
  const checked = await checkPlace(place, ask);
  if (checked.is === 'busy') return checked.wait;
  if (checked.is === 'failed') return placeFailed(checked.step, checked.message);
  const { channel, team } = checked;
  return {
    ok: true,
    checks: [TOKEN_PASSED, { name: 'bot_in_channel', ok: true, message: null }],
    found: {
      channelName: shownName(channel),
      teamName: team && shownName(team),
      teamPath: team?.name ?? null,
    },
  };
}

const TOKEN_PASSED = { name: 'token', ok: true, message: null } as const;

function placeFailed(name: 'token' | 'bot_in_channel', message: string): CheckedPlace {
  const failed = { name, ok: false, message };
  return { ok: false, checks: name === 'token' ? [failed] : [TOKEN_PASSED, failed], found: null };
}

/** A channel to choose. */
export interface ListedChannel {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly team_id: string;
  readonly team_name: string;
  readonly type: 'open' | 'private';
}

const MOST_TEAMS = 20;
const MOST_CHANNELS = 500;
/** Direct and group channels are no place for alerts; their ids can be typed. */
const TYPES: Readonly<Record<string, ListedChannel['type']>> = { O: 'open', P: 'private' };
/** An answer that means none. */
const NONE = 'app.channel.get_channels.not_found.app_error';

export type Listed =
  | { readonly is: 'listed'; readonly channels: readonly ListedChannel[] }
  /** For people; masked. */
  | { readonly is: 'failed'; readonly error: string }
  | { readonly is: 'busy'; readonly wait: Busy };

/**
 * Channels that the bot is a member of, by team and name, at most 500 of at most 20 teams.
 * @param wanted a team, and a part of a name in any case; null: all
 */
export async function listChatChannels(
  wanted: { readonly teamId: string | null; readonly q: string | null },
  ask: AskServer,
): Promise<Listed> {
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

function failed(outcome: Exclude<ChatOutcome<never>, { readonly class: 'ok' }>): Listed {
  return { is: 'failed', error: outcome.class === 'not_sent' ? 'the service is stopping' : outcome.error };
}

const LONGEST_NAME = 200;

/** What the server says is not to be trusted: one line that can be stored and fits into a list. */
function shownName({ name, display_name: shown }: Pick<ServerChannel, 'name' | 'display_name'>): string {
  return cutPoints(oneLine(shown === '' ? name : shown), LONGEST_NAME);
}
