/**
 * The port of channels. A channel speaks to the other side of a Destination: a messenger, a bridge, an HTTP receiver.
 * It is a folder beside this file and one line of `index.ts`; nothing outside its folder knows its wire format.
 *
 * The engine decides what is sent, when, how often and in which order (delivery §3). A channel lays one call out in its
 * own format, makes it, and classifies the answer. It keeps no queue, repeats nothing and follows no redirect. Requests go
 * through the outbound caller that it is opened with, so policy, proxies, limits and the Request log hold for all of them.
 */
import type * as v from 'valibot';
import type { Micros } from '../../runtime/clock.ts';
import type { HeaderList } from '../../runtime/outbound/client.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { PollBegun } from '../connection/effects.ts';
import type { Limiter } from '../destination/limiter.ts';
import type { DestinationConfig } from '../directory.ts';
import type { WebhookEventRecorded } from '../effects.ts';
import type { TemplateFailure } from '../messages/index.ts';
import type { DestinationProbe, MessageContent, MessageSend, SendOutcome } from './calls.ts';

/** What is known of a channel before anything runs: its line of the registry. */
export interface ChannelType {
  /** Type of its Destinations, and their mode where one type has several channels. */
  readonly destination: { readonly type: DestinationConfig['type']; readonly mode: string | null };
  readonly settings: ChannelSettings;
  /** What is known after a call without an outcome; the contract suite proves it. */
  readonly unknownOutcome: UnknownOutcome;
  /** Who can be mentioned besides linked people, and what names of groups look like there. */
  readonly mentions: { readonly everyone: boolean; readonly groups: boolean; readonly groupName?: RegExp };
  /**
   * The text of one event, for a channel that gets events instead of messages; null for messages. Pure, and called in the
   * commit that records the event, so that every attempt sends the same bytes.
   * @param number #N of the Alert Group
   * @param publicUrl address of the UI, without a trailing slash
   */
  readonly renderEvent: ((event: RecordedEvent, number: number, publicUrl: string) => string) | null;
  /** How its other side calls in; null: it never does. */
  readonly callback: Callback | null;
}
/** `/api/v1/callbacks/<path>/<Connection>`: the headers that a {@link Push} keeps, and the answer to more than 1 MiB. */
export type Callback = {
  readonly path: string;
  readonly headers: readonly string[];
  /** `as_empty`: what an empty body is answered, since a header proves the sender and strangers get 401. */
  readonly tooLarge: 400 | 413 | 'as_empty';
};
export type RecordedEvent = Pick<WebhookEventRecorded, 'event' | 'group' | 'mentions'>;

/** Writable settings of its own, besides the name, Mentions and limiter that every Destination has. */
export interface ChannelSettings {
  readonly destination: v.GenericSchema;
  /** Most calls of a Destination in a time by default; left out: 5 in 1 s. */
  readonly limiter?: Limiter;
  /** Its other side counts the calls of the last time, of a Destination and of a Connection (delivery §6). */
  readonly isSliding?: true;
  /**
   * Of its Connection. Null: it has none. Then there is no check, so that what waits is the probe, and a deleted
   * Destination has nothing left to call with, so that messages get no last edit.
   */
  readonly connection: v.GenericSchema | null;
  /** Of a channel with a Connection: how the API calls it. */
  readonly messenger: MessengerWords | null;
}

/** `schema`: `Bridge`, in names of schemas; `noun`: `bridge`; `hasTeams`: channels belong to teams. */
export type MessengerWords = { readonly schema: string; readonly noun: string; readonly hasTeams: boolean };

/**
 * `repeats_safely`: the other side knows the key of the first attempt and answers a repeat as it answered that one, so
 * calls may be begun ahead.
 * `finds_its_mark`: a later answer or update shows whether the message exists (an echoed id, a copy).
 * `cannot_be_known`: it is sent again, and the delivery records a possible duplicate.
 */
export type UnknownOutcome = 'repeats_safely' | 'finds_its_mark' | 'cannot_be_known';

/** What the other side takes at the moment; it may change with its version or its settings. */
export interface Capabilities {
  /** Longest text, in what the other side counts. Null: no limit. */
  readonly text: { readonly unit: 'code_points' | 'utf16' | 'bytes'; readonly most: number } | null;
  /** How long after it was posted a message can be changed: not at all, for ever, or µs. */
  readonly edits: 'never' | 'always' | { readonly within: Micros };
  /** A message has a Thread for replies. Without one they are `dropped`. */
  readonly replies: boolean;
  /** People can be mentioned so that it rings. */
  readonly mentions: boolean;
  /** Null: messages have no buttons. `text`: code points of a label. */
  readonly buttons: { readonly most: number; readonly text: number } | null;
}

/** A channel that is opened. No method throws for an answer of the other side; errors of storage are thrown. */
export interface Channel {
  /** Null: not known yet, or there is no such Destination. */
  capabilities(destinationId: PublicId): Promise<Capabilities | null>;
  /** Makes the call that a committed state asks for: publish, edit, reply or event. Errors in the result are masked. */
  send(call: ChannelCall<MessageSend>, content: MessageContent | EventContent): Promise<SendResult>;
  /** Tries a Broken Destination and posts nothing. Null: there is no such call, so a waiting delivery is the probe. */
  readonly probe: ((call: ChannelCall<DestinationProbe>) => Promise<SendOutcome>) | null;
}
/** The text that {@link ChannelType.renderEvent} made. The key of the call is the id of the event. */
export type EventContent = { readonly kind: 'event'; readonly body: string };

export interface ChannelCall<Asked extends MessageSend | DestinationProbe> {
  readonly asked: Asked;
  /** As last saved, when it is not deleted. */
  readonly destination: DestinationConfig | null;
  /** Asked right before the first byte is sent: false when another replica may own the Destination. */
  mayBegin(): boolean;
}

export interface SendResult {
  readonly outcome: SendOutcome;
  /** A template of the Route that failed while the message was laid out. */
  readonly failure: TemplateFailure | null;
}

/** How presses, thread messages and deletions arrive through a Connection, by either way. Neither method throws. */
export interface Receiver {
  /** Takes a request to the callback address. */
  push(request: Push): Promise<PushAnswer>;
  /** Performs one poll that the Connection committed, and reports its outcome to it. */
  poll(effect: PollBegun): void;
}
/** `id`: null for a path that names no Connection. */
export type Push = { readonly id: PublicId | null; readonly headers: HeaderList; readonly body: Buffer };
/** 200 with a JSON body and 204: handled. 400: it never can be. 401: not from the other side. 500: to be sent again. */
export type PushAnswer =
  | { readonly status: 200; readonly body: string }
  | { readonly status: 204 | 400 | 401 | 500; readonly body?: never };
