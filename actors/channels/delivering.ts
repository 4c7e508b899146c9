/** What the calls of one delivery have in common, for channels that post with the token of a Connection. */
import type { PublicId } from '../../runtime/public-id.ts';
import type { Keyring } from '../../runtime/secrets/keyring.ts';
import { type ButtonSubject, buttonData } from '../../runtime/secrets/signed-tokens.ts';
import type { DeliveryNotes, SignButton } from '../messages/index.ts';
import type { EndedStep } from './access.ts';
import {
  ACCEPTED,
  type DestinationProbe,
  groupOf,
  type MessageSend,
  type SendAccepted,
  type SendOutcome,
  type Shown,
  type TokenCallOptions,
} from './calls.ts';
import type { ChannelCall } from './channel.ts';

export type Failed = Exclude<SendOutcome, SendAccepted>;

/** One call to the other side, and afterwards whether its first byte may have been sent. */
export interface BegunCall {
  readonly options: TokenCallOptions;
  hasBegun(): boolean;
}

export function deliveryCall({ asked, mayBegin }: ChannelCall<MessageSend>): BegunCall {
  const { attempt, destinationId } = asked;
  const about = { class: 'delivery', attempt, destinationId, alertGroupId: groupOf(asked) } as const;
  return begunCall(about, mayBegin);
}

export function probeCall({ asked, mayBegin }: ChannelCall<DestinationProbe>): BegunCall {
  const { destinationId } = asked;
  return begunCall({ class: 'delivery', destinationId, check: { as: 'probe', run: null } }, mayBegin);
}

function begunCall(about: TokenCallOptions, mayBegin: () => boolean): BegunCall {
  let hasBegun = false;
  return {
    options: {
      ...about,
      mayBegin() {
        hasBegun = mayBegin();
        return hasBegun;
      },
    },
    hasBegun: () => hasBegun,
  };
}

/** Signs the buttons of one message. */
export function signer(keyring: Keyring, subject: ButtonSubject, id: PublicId): SignButton {
  return (command, seconds) => buttonData(keyring, { subject, id, command, seconds });
}

/** Of a Root message; a last edit leaves it without buttons, and a Storm summary has none. */
export function rootSigner(keyring: Keyring, shown: Shown, notes: DeliveryNotes): SignButton | null {
  if (shown.kind === 'storm' || notes.final) return null;
  return signer(keyring, 'root_message', shown.scene.group.id);
}

/** The key by which the buttons of a message are known; null without buttons. */
export function signedWith({ activeKeyId }: Keyring, buttons: readonly unknown[]): string | null {
  return buttons.length > 0 ? activeKeyId : null;
}

/** A probe that failed says what the check says. */
export function probed<Outcome>(
  checked: { readonly is: 'passed' } | EndedStep<string, Outcome>,
  failedOutcome: (outcome: Outcome) => Failed,
): SendOutcome {
  if (checked.is === 'passed') return ACCEPTED;
  if (checked.is === 'busy') return { class: 'not_sent', because: 'put_back' };
  const { outcome, message: error } = checked;
  if (outcome === null) return { class: 'fatal', error };
  const failed = failedOutcome(outcome);
  return 'error' in failed ? { ...failed, error } : failed;
}

/** Answers of a proxy that gave up waiting for the other side, which may have done it all the same. */
const GATEWAY = new Set([502, 504]);

/** Whether a call that failed for now may have been carried out. @param status null: there was no answer */
export function mayBeDone(status: number | null): boolean {
  return status === null || status < 300 || GATEWAY.has(status);
}
