/**
 * What one type of message Destination does with a committed call (delivery §1): lays out what it is given in its own
 * form, compares, calls, and says what came of it. An adapter per type; none knows health, attempts or order.
 */
import type { PublicId } from '../../runtime/public-id.ts';
import type { People, Target } from '../destination/sending/people.ts';
import type { GroupScene } from '../destination/sending/scene.ts';
import type { DestinationConfig } from '../directory.ts';
import type {
  DeliveryNotes,
  MessageSettings,
  ReplyEvent,
  StormSummary,
  TemplateFailure,
} from '../messages/index.ts';
import type { DestinationProbe, MessageSend, SendOutcome } from './calls.ts';

/** What a Root message or a Storm summary is about, as it is now. */
export type Shown =
  | { readonly kind: 'group'; readonly scene: GroupScene }
  | {
      readonly kind: 'storm';
      readonly storm: StormSummary;
      readonly settings: MessageSettings;
      readonly people: People;
    };

/** What is to be said. `targets` is empty for a Quiet message. */
export type MessageContent =
  | {
      readonly kind: 'publish';
      readonly shown: Shown;
      readonly notes: DeliveryNotes;
      readonly isLoud: boolean;
      readonly targets: readonly Target[];
    }
  | { readonly kind: 'edit'; readonly shown: Shown; readonly notes: DeliveryNotes }
  | {
      readonly kind: 'reply';
      readonly scene: GroupScene;
      readonly event: ReplyEvent;
      readonly isLoud: boolean;
      readonly targets: readonly Target[];
    };

export interface AdapterCall<Asked extends MessageSend | DestinationProbe> {
  readonly asked: Asked;
  /** As last saved, when it is not deleted. */
  readonly destination: DestinationConfig | null;
  /** Asked right before the first byte is sent: false when the Destination may have gone elsewhere meanwhile. */
  mayBegin(): boolean;
}

export interface AdapterResult {
  readonly outcome: SendOutcome;
  /** A template of the Route that failed while it was laid out. */
  readonly failure: TemplateFailure | null;
}

/** Neither method throws for what a messenger answers; what storage throws goes through. */
export interface MessageAdapter {
  send(call: AdapterCall<MessageSend>, content: MessageContent): Promise<AdapterResult>;
  /** The Destination check, by which a Broken one is tried. Posts nothing. */
  check(call: AdapterCall<DestinationProbe>): Promise<SendOutcome>;
}

/** The Alert Group that a call is about, if it is about one. */
export function groupOf({ subject }: Pick<MessageSend, 'subject'>): PublicId | null {
  return subject.kind === 'group' ? subject.groupId : null;
}
