/** What a chat server can do for Account links: find people and write to them (account-links §5.1). */
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring } from '../../../runtime/secrets/keyring.ts';
import type { NotStarted } from '../../account-links/link.ts';
import type { DirectMessage, LinkPeople, LinkPlaces } from '../../account-links/linking.ts';
import type { ChatServerSettings } from '../../connection/ports.ts';
import { failed } from '../access.ts';
import type { ChatOutcome } from './answer.ts';
import { type ChatAccess, type ChatUse, openChatServer } from './client.ts';
import { type ChatRequest, chatCalls, MARK } from './operations.ts';
import { buttonsBack, unlinkAttachments } from './posts.ts';
import type { ServerInfoReader } from './server-info.ts';

export interface ChatServerPlacesDeps extends ChatUse {
  readonly infos: ServerInfoReader;
  readonly keyring: Keyring;
  /** Where the server calls, without a trailing slash. */
  readonly ingestUrl: string;
}

export function createChatServerPlaces(deps: ChatServerPlacesDeps): LinkPlaces {
  const call = <Value>(access: ChatAccess, request: ChatRequest<Value>): Promise<ChatOutcome<Value>> =>
    deps.chat.call(access, request, { class: 'interactive' });

  const unlinkButton = (unlink: NonNullable<DirectMessage['unlink']>, id: PublicId) =>
    unlinkAttachments(deps.keyring, unlink, buttonsBack(deps.keyring, deps.ingestUrl, id));

  const open = async (settings: ChatServerSettings): Promise<LinkPeople | NotStarted> => {
    const access = openChatServer(deps.opener, settings);
    if (!access) return { is: 'failed', error: 'a secret of the Connection cannot be read' };
    const known = await deps.infos.upToDate(settings, access);
    return known.class === 'ok' ? peopleOf(access, known.info.bot_id, settings.id) : failed(known);
  };

  const peopleOf = (access: ChatAccess, botId: string, id: PublicId): LinkPeople => ({
    way: 'chat_server_direct',
    // The direct channel is opened, and a post made there.
    callsToWrite: 2,

    async find(handle) {
      const found = await call(access, chatCalls.findUser(handle.replace(/^@/, '').toLowerCase()));
      if (found.class !== 'ok') return isNobody(found) ? { is: 'nobody' } : failed(found);
      const { id, username, delete_at: deletedAt, is_bot: isBot } = found.value;
      if (deletedAt !== 0 || isBot) return { is: 'nobody' };
      return { externalId: id, username, displayName: null };
    },

    /** Opens the direct channel and posts to it, where nobody else reads. */
    async write({ externalId, key, text, secrets, unlink }) {
      const hiding = { ...access, otherSecrets: secrets };
      const opened = await call(hiding, chatCalls.createDirectChannel(botId, externalId));
      if (opened.class !== 'ok') return isRefusal(opened) ? { is: 'unreachable' } : failed(opened);
      const post = {
        ...{ channel_id: opened.value.id, message: text, pending_post_id: `${botId}:${key}` },
        props: { ...(unlink ? { attachments: unlinkButton(unlink, id) } : {}), [MARK]: key },
      };
      const sent = await call(hiding, chatCalls.createPost(post, false));
      if (sent.class === 'ok') return 'sent';
      return isRefusal(sent) ? { is: 'unreachable' } : failed(sent);
    },
  });

  return async (id) => {
    const settings = await deps.settings(id);
    return settings && { people: () => open(settings) };
  };
}

/** 403 where the bot may see only some people; 400, or no request, for a name that nobody can have. */
function isNobody(outcome: ChatOutcome<unknown>): boolean {
  if (!('id' in outcome)) return false;
  const { status, id, code } = outcome;
  if (code === 'body_invalid') return true;
  if (status === 404) return id === 'app.user.get_by_username.app_error';
  return status === 403 || (status === 400 && id === 'api.context.invalid_body_param.app_error');
}

/** The bot may not write to this account, while its token is good. */
function isRefusal(outcome: ChatOutcome<unknown>): boolean {
  return 'status' in outcome && (outcome.status === 403 || outcome.status === 400);
}
