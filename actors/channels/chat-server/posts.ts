/** Posts as the chat server takes them: with attachment, buttons and mark (chat-server §4, §5, §8). */
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring } from '../../../runtime/secrets/keyring.ts';
import { type ButtonCommand, buttonData, buttonProof } from '../../../runtime/secrets/signed-tokens.ts';
import type { DirectMessage } from '../../account-links/linking.ts';
import type { ChatServerMessage, ChatServerReply, MessageButton } from '../../messages/index.ts';
import { MARK, type NewPost, type PostAction, type PostAttachment, type PostPatch } from './operations.ts';

/** What comes back with presses of one Connection, and where. */
export interface ButtonsBack {
  readonly callbackUrl: string;
  /** @param action the signed text of a button */
  contextOf(action: string): PostAction['integration']['context'];
}

/** The bot that posts, and the key of the intent, the same at every attempt. */
export interface PostOrigin {
  readonly channelId: string;
  readonly botId: string;
  readonly key: string;
}

/** Letters and digits only: a press of any other id finds no route on the server. */
const ACTIONS = {
  acknowledge: { id: 'ack', style: 'primary' },
  unacknowledge: { id: 'unack', style: 'default' },
  resolve: { id: 'resolve', style: 'success' },
  snooze: { id: 'snooze', style: 'default' },
  unsnooze: { id: 'unsnooze', style: 'default' },
  still_on_it: { id: 'stillonit', style: 'primary' },
} as const satisfies Record<ButtonCommand, Pick<PostAction, 'id' | 'style'>>;

/** Of a Connection. @param ingestUrl where senders and messengers reach the service, without a trailing slash */
export function callbackUrl(ingestUrl: string, connectionId: PublicId): string {
  return `${ingestUrl}/api/v1/callbacks/chat-server/${connectionId}`;
}

export function buttonsBack(keyring: Keyring, ingestUrl: string, connectionId: PublicId): ButtonsBack {
  const keyId = keyring.activeKeyId;
  return {
    callbackUrl: callbackUrl(ingestUrl, connectionId),
    contextOf: (action) => ({
      ...{ action, key_id: keyId, proof: buttonProof(keyring, keyId, connectionId, action) },
    }),
  };
}

/** A Root message, Storm summary or test message. */
export function rootPost(
  message: Pick<ChatServerMessage, 'message' | 'attachment' | 'buttons'>,
  origin: PostOrigin,
  back: ButtonsBack,
): NewPost {
  const attachments = [attachmentOf(message, back)];
  return { ...begun(origin), message: message.message, props: { attachments, [MARK]: origin.key } };
}

/** What an edit replaces; the mark is not needed once the id of the post is known. */
export function rootPatch(
  message: Pick<ChatServerMessage, 'message' | 'attachment' | 'buttons'>,
  back: ButtonsBack,
): PostPatch {
  return { message: message.message, props: { attachments: [attachmentOf(message, back)] } };
}

/** A Thread reply; only one with buttons has an attachment. */
export function replyPost(
  { message, buttons }: Pick<ChatServerReply, 'message' | 'buttons'>,
  rootId: string,
  origin: PostOrigin,
  back: ButtonsBack,
): NewPost {
  const attachments = [{ fallback: '', text: '', actions: actionsOf(buttons, back) }];
  return {
    ...begun(origin),
    root_id: rootId,
    message,
    props: { ...(buttons.length > 0 ? { attachments } : {}), [MARK]: origin.key },
  };
}

/** One button, by which whoever reads the post ends their link (account-links §8). */
export function unlinkAttachments(
  keyring: Keyring,
  { label, linkId }: NonNullable<DirectMessage['unlink']>,
  { callbackUrl: url, contextOf }: ButtonsBack,
): readonly PostAttachment[] {
  const data = { subject: 'account_link', id: linkId, command: 'unlink', seconds: 0 } as const;
  const integration = { url, context: contextOf(buttonData(keyring, data)) };
  const actions = [{ id: 'unlink', type: 'button', name: label, style: 'default', integration } as const];
  return [{ fallback: '', text: '', actions }];
}

/** The server remembers this id for a while, and answers a repeat with the first post. */
function begun({ channelId, botId, key }: PostOrigin) {
  return { channel_id: channelId, pending_post_id: `${botId}:${key}` };
}

function attachmentOf(
  { attachment, buttons }: Pick<ChatServerMessage, 'attachment' | 'buttons'>,
  back: ButtonsBack,
): PostAttachment {
  const { fallback, color, title, titleLink, text, footer, footerIcon } = attachment;
  return {
    ...{ fallback, color, title, title_link: titleLink, text, footer, footer_icon: footerIcon },
    actions: actionsOf(buttons, back),
  };
}

function actionsOf(
  buttons: readonly MessageButton[],
  { callbackUrl: url, contextOf }: ButtonsBack,
): PostAction[] {
  let snoozes = 0;
  return buttons.map(({ command, text, data }) => {
    const { id, style } = ACTIONS[command];
    return {
      ...{ id: command === 'snooze' ? `${id}${snoozes++}` : id, type: 'button', name: text, style },
      integration: { url, context: contextOf(data) },
    };
  });
}

/** Where people open a post. @param teamPath null: the server finds the team itself */
export function messageUrl(serverUrl: string, teamPath: string | null, postId: string): string {
  const team = teamPath === null ? '_redirect' : encodeURIComponent(teamPath);
  return `${serverUrl}/${team}/pl/${encodeURIComponent(postId)}`;
}
