/** Messages through a bridge (bridge §6): laid out as CommonMark within what its Info says, and posted, edited, answered. */
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Keyring, Opener } from '../../../runtime/secrets/keyring.ts';
import type { ButtonSubject } from '../../../runtime/secrets/signed-tokens.ts';
import type { Target } from '../../destination/sending/people.ts';
import type { BridgeTarget } from '../../destination/sending/scene.ts';
import {
  type BridgeLimits,
  type BridgeMessage,
  bridgeReply,
  bridgeRoot,
  bridgeStorm,
  type DeliveryNotes,
  type SignButton,
  type TemplateFailure,
} from '../../messages/index.ts';
import { GONE_CONNECTION } from '../access.ts';
import { ACCEPTED, type MessageContent, type MessageSend, type SendOutcome, type Shown } from '../calls.ts';
import type { Capabilities, Channel, ChannelCall, SendResult } from '../channel.ts';
import { type BegunCall, deliveryCall, type Failed, probeCall, signedWith, signer } from '../delivering.ts';
import type { BridgeOutcome } from './answer.ts';
import { type BridgeAccess, type BridgeClient, openBridge } from './client.ts';
import type { BridgeInfo } from './info.ts';
import type { InfoReader, KnownInfo } from './info-reader.ts';
import { type BridgeRequest, bridgeCalls } from './operations.ts';

export interface BridgeChannelDeps {
  readonly bridge: BridgeClient;
  readonly infos: InfoReader;
  readonly opener: Opener;
  readonly keyring: Keyring;
  readonly clock: Pick<Clock, 'now'>;
  /** Of the Destination, `null` meaning its present one; null when its Connection is deleted. */
  target(destinationId: PublicId, target: number | null): Promise<BridgeTarget | null>;
}

/** The way to a bridge, opened for one call. */
interface OpenBridge {
  readonly access: BridgeAccess;
  readonly channelId: string;
  readonly info: BridgeInfo;
}

export function createBridgeChannel(deps: BridgeChannelDeps): Channel {
  const open = async (asked: {
    readonly destinationId: PublicId;
    readonly target: number | null;
  }): Promise<OpenBridge | SendOutcome> => {
    const target = await deps.target(asked.destinationId, asked.target);
    if (!target) return { class: 'unknown', error: GONE_CONNECTION };
    const access = openBridge(deps.opener, target.connection);
    if (!access) return { class: 'fatal', error: 'secret_unreadable' };
    const known = await deps.infos.upToDate(target.connection, access, 'delivery');
    if (known.class !== 'ok') return withoutInfo(known);
    if (!known.info)
      return { class: 'transient', error: 'the bridge has not said what it can', unsure: false };
    return { access, channelId: target.channelId, info: known.info };
  };

  return {
    async capabilities(destinationId) {
      const info = (await deps.target(destinationId, null))?.connection.info;
      return info ? capabilitiesOf(info) : null;
    },

    async send(call, content) {
      if (content.kind === 'event') throw new Error('a bridge gets messages, not events');
      const opened = await open(call.asked);
      if ('class' in opened) return { outcome: opened, failure: null };
      switch (content.kind) {
        case 'publish':
          return publish(deps, opened, call, content);
        case 'edit':
          return edit(deps, opened, call, content);
        case 'reply':
          return reply(deps, opened, call, content);
      }
    },

    async probe(call) {
      const opened = await open({ destinationId: call.asked.destinationId, target: null });
      if ('class' in opened) return opened;
      const { access, channelId } = opened;
      const token = await called(deps, access, bridgeCalls.getInfo(), probeCall(call));
      if (token.class !== 'ok') return token;
      const channel = await called(deps, access, bridgeCalls.checkChannel(channelId), probeCall(call));
      return channel.class === 'ok' ? ACCEPTED : channel;
    },
  };
}

async function publish(
  deps: BridgeChannelDeps,
  { access, channelId, info }: OpenBridge,
  call: ChannelCall<MessageSend>,
  { shown, notes, isLoud, targets }: Extract<MessageContent, { kind: 'publish' }>,
): Promise<SendResult> {
  const message = laidOut(deps, info, shown, notes, targets);
  const kind = shown.kind === 'group' ? 'root' : 'storm_summary';
  const posted = { ...message.envelope, channel_id: channelId, kind, mentions: message.mentions } as const;
  const began = deps.clock.now();
  const request = bridgeCalls.postMessage({ ...posted, notify: isLoud }, requireKey(call));
  const outcome = await called(deps, access, request, deliveryCall(call));
  if (outcome.class !== 'ok') return { outcome, failure: message.failure };
  const { message_id: messageId, thread_ref: threadRef, replayed } = outcome.value;
  const shownAs = { hash: message.hash, signedWith: signedWith(deps.keyring, message.envelope.buttons) };
  const editableUntil = editEnd(info, began);
  return {
    outcome: { ...ACCEPTED, ...shownAs, messageId, threadRef, replayed, editableUntil },
    failure: message.failure,
  };
}

async function edit(
  deps: BridgeChannelDeps,
  { access, info }: OpenBridge,
  call: ChannelCall<MessageSend>,
  { shown, notes }: Extract<MessageContent, { kind: 'edit' }>,
): Promise<SendResult> {
  const { operation } = call.asked;
  if (operation.kind !== 'edit') throw new Error(`a ${operation.kind} was laid out as an edit`);
  const { envelope, hash, failure } = laidOut(deps, info, shown, notes, []);
  if (!operation.isFinal && hash === operation.hash) return { outcome: { class: 'unchanged' }, failure };
  const request = bridgeCalls.editMessage(operation.messageId, envelope);
  const outcome = await called(deps, access, request, deliveryCall(call));
  if (outcome.class !== 'ok') return { outcome, failure };
  const accepted = { ...ACCEPTED, hash, signedWith: signedWith(deps.keyring, envelope.buttons) };
  return { outcome: accepted, failure };
}

async function reply(
  deps: BridgeChannelDeps,
  { access, info }: OpenBridge,
  call: ChannelCall<MessageSend>,
  { scene, event, isLoud, targets }: Extract<MessageContent, { kind: 'reply' }>,
): Promise<SendResult> {
  const { operation } = call.asked;
  if (operation.kind !== 'reply') throw new Error(`a ${operation.kind} was laid out as a reply`);
  const { group, settings, people } = scene;
  const sign = bridgeSigner(deps.keyring, info, 'thread_reply', group.id);
  const mentions = targets.map(people.mention);
  const written = bridgeReply(event, group, settings, { mentions, sign }, bridgeLimits(info));
  const { body, buttons, failure } = written;
  const content = { thread_ref: operation.threadRef, body, buttons, mentions: written.mentions };
  const request = bridgeCalls.replyInThread(
    operation.messageId,
    { ...content, notify: isLoud },
    requireKey(call),
  );
  const outcome = await called(deps, access, request, deliveryCall(call));
  if (outcome.class !== 'ok') return { outcome, failure };
  const { message_id: messageId, thread_ref: threadRef, replayed } = outcome.value;
  const signed = signedWith(deps.keyring, buttons);
  return { outcome: { ...ACCEPTED, messageId, threadRef, replayed, signedWith: signed }, failure };
}

interface LaidOut extends Pick<BridgeMessage, 'envelope' | 'mentions' | 'hash'> {
  readonly failure: TemplateFailure | null;
}

function laidOut(
  { keyring }: BridgeChannelDeps,
  info: BridgeInfo,
  shown: Shown,
  notes: DeliveryNotes,
  targets: readonly Target[],
): LaidOut {
  if (shown.kind === 'storm') {
    const { storm, settings, people } = shown;
    const mentions = targets.map(people.mention);
    return { ...bridgeStorm(storm, settings, mentions, bridgeLimits(info)), failure: null };
  }
  const { group, settings, people } = shown.scene;
  const sign = notes.final ? null : bridgeSigner(keyring, info, 'root_message', group.id);
  const call = { kind: 'root', notes, mentions: targets.map(people.mention), sign } as const;
  return bridgeRoot(group, settings, call, bridgeLimits(info));
}

const MOST_BUTTONS = 25;
const LONGEST_BUTTON = 64;

/** What the Info says about messages, with the protocol's own bounds where it says nothing. */
export function bridgeLimits({ limits }: Pick<BridgeInfo, 'limits'>): BridgeLimits {
  return {
    maxBodyLength: limits.max_body_length,
    maxButtons: limits.max_buttons ?? MOST_BUTTONS,
    maxButtonText: limits.max_button_text ?? LONGEST_BUTTON,
  };
}

function capabilitiesOf(info: BridgeInfo): Capabilities {
  const { maxBodyLength, maxButtons, maxButtonText } = bridgeLimits(info);
  const age = info.limits.edit_max_age_seconds;
  return {
    text: { unit: 'code_points', most: maxBodyLength },
    edits: age === null ? 'always' : { within: age * SECOND },
    replies: true,
    mentions: info.capabilities.native_mentions,
    buttons: info.capabilities.buttons ? { most: maxButtons, text: maxButtonText } : null,
  };
}

/** Signs the buttons of one message; null for a bridge without buttons. */
export function bridgeSigner(
  keyring: Keyring,
  { capabilities }: Pick<BridgeInfo, 'capabilities'>,
  subject: ButtonSubject,
  id: PublicId,
): SignButton | null {
  if (!capabilities.buttons) return null;
  return signer(keyring, subject, id);
}

const LARGEST_MARGIN: Micros = 300 * SECOND;

/** Past this a message counts as frozen: a little before the bridge would refuse. */
function editEnd({ limits }: BridgeInfo, posted: Micros): Micros | null {
  const age = limits.edit_max_age_seconds;
  return age === null ? null : posted + age * SECOND - Math.min(LARGEST_MARGIN, (age * SECOND) / 10);
}

function requireKey({ asked }: ChannelCall<MessageSend>): string {
  if (asked.key === null) throw new Error('a message without an Idempotency-Key');
  return asked.key;
}

/** One call, in the words of deliveries. */
async function called<Value>(
  { bridge }: BridgeChannelDeps,
  access: BridgeAccess,
  request: BridgeRequest<Value>,
  { options, hasBegun }: BegunCall,
): Promise<{ readonly class: 'ok'; readonly value: Value } | Failed> {
  const outcome = await bridge.call(access, request, options);
  return outcome.class === 'ok' ? outcome : failedOutcome(outcome, hasBegun());
}

/** @param hasBegun the first byte may have been sent, so that no answer says nothing about what the bridge did */
function failedOutcome(
  outcome: Exclude<BridgeOutcome<never>, { readonly class: 'ok' }>,
  hasBegun: boolean,
): Failed {
  switch (outcome.class) {
    case 'not_sent':
      return { class: 'not_sent', because: 'unreadable' };
    case 'retry_after': {
      const scope = outcome.scope === 'bot' ? 'connection' : 'destination';
      return { class: 'retry_after', until: outcome.until, scope, error: outcome.error };
    }
    case 'transient':
      return { class: 'transient', error: outcome.error, unsure: hasBegun && outcome.status === null };
    case 'gone':
      return { class: outcome.reason ?? 'gone', error: outcome.error };
    case 'fatal':
      return { class: 'fatal', error: outcome.error };
    case 'unknown':
      return { class: 'unknown', error: outcome.error, unsure: isSuccess(outcome.status) };
  }
}

/** It was done, though the answer to it is of no use. */
function isSuccess(status: number | null): boolean {
  return status === 200 || status === 201;
}

/** Without a copy of its Info nothing can be laid out: the call ends as the question for it did. */
function withoutInfo(known: Exclude<KnownInfo, { readonly class: 'ok' }>): Failed {
  if (known.class === 'no_token') return { class: 'not_sent', because: 'unreadable' };
  return failedOutcome(known, false);
}
