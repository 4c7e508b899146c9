/**
 * Everything that is sent to messengers, laid out and within their limits, from plain values (messages). Pure: who
 * delivers asks for the desired state, compares its `hash` with what the messenger last took, and calls when they differ.
 *
 * - Root message, test message: {@link chatServerRoot}, {@link channelBotRoot}, {@link bridgeRoot}. Their `hash` leaves
 *   out notes and Mentions, so a Loud post and a Quiet edit to the same state have the same one.
 * - Thread replies: {@link chatServerReply}, {@link channelBotReply}, {@link bridgeReply}.
 * - Storm summaries: {@link chatServerStorm}, {@link channelBotStorm}, {@link bridgeStorm}.
 * - What requests of webhooks say in plain text: {@link plainReply}, {@link plainFinalNotice}.
 * - Answers to presses, texts of Account links: {@link privateAnswer}.
 *
 * A template that fails never throws: the result says so in `failure` and shows the Fallback.
 */
export { isPressRefusal, type PrivateAnswer, privateAnswer, type Way } from './answers.ts';
export {
  type BridgeLimits,
  type BridgeMessage,
  bridgeReply,
  bridgeRoot,
  bridgeStorm,
} from './bridge.ts';
export {
  CHANNEL_BOT_LIMIT,
  type ChannelBotText,
  channelBotReply,
  channelBotRoot,
  channelBotStorm,
} from './channel-bot.ts';
export {
  CHAT_SERVER_LIMIT,
  type ChatServerMessage,
  type ChatServerReply,
  chatServerReply,
  chatServerRoot,
  chatServerStorm,
} from './chat-server.ts';
export { isLinkable } from './formats/html.ts';
export {
  type DeliveryNotes,
  type GroupMessage,
  groupPage,
  type MessageAlert,
  type MessageLink,
  type MessageMention,
  type MessageSettings,
  type MessengerAccount,
  NO_NOTES,
  routePage,
  type TemplateFailure,
} from './input.ts';
export { isOvertaken, type ReplyEvent } from './replies.ts';
export { plainFinalNotice, plainReply } from './reply-text.ts';
export type { RootCall } from './root.ts';
export { FORMATS, previewRoot } from './root.ts';
export type { MessageButton, SignButton } from './status.ts';
export { STATUS_STYLES } from './status.ts';
export type { StormSummary } from './storm.ts';
export type { Language } from './texts/texts.ts';
