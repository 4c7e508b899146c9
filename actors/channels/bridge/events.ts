/** What happened in the messenger, as a bridge reports it, and what an event may come to (bridge §3.4, §7.1). */
import * as v from 'valibot';
import { MINUTE, type Micros, parseInstant } from '../../../runtime/clock.ts';
import type { LinkRequestStore, MessengerAccount } from '../../account-links/link.ts';
import type { HintBus } from '../../effects.ts';
import type { PressDeps, Reaction } from '../press.ts';
import { characters, EVENT_ID, externalId, type Person, PersonShape } from './info.ts';

/** Clocks differ: an event from further in the future counts as of now. */
const FUTURE_TOLERANCE: Micros = 5 * MINUTE;

const Common = v.object({
  id: v.pipe(v.string(), v.regex(EVENT_ID)),
  type: v.string(),
  occurred_at: v.pipe(
    v.string(),
    v.check((text) => parseInstant(text) !== null),
    v.transform((text) => parseInstant(text) ?? 0),
  ),
});

const reference = v.optional(v.nullable(externalId), null);

/** Members of each type besides the common ones. */
const MEMBERS = {
  press: v.object({ message_id: externalId, user: PersonShape, data: v.string() }),
  thread_message: v.object({
    message_id: externalId,
    thread_ref: reference,
    reply_id: externalId,
    user: PersonShape,
    text: characters(1, 10_000),
  }),
  account_link: v.object({ user: PersonShape, token: characters(1, 512) }),
  message_deleted: v.object({ message_id: externalId, user: v.optional(v.nullable(PersonShape), null) }),
} as const;

type EventType = keyof typeof MEMBERS;

type Known = {
  [Type in EventType]: { readonly type: Type } & Readonly<v.InferOutput<(typeof MEMBERS)[Type]>>;
}[EventType];

export type BridgeEvent = { readonly id: string; readonly occurredAt: Micros } & (
  | Known
  /** Of a later version of the protocol. */
  | { readonly type: 'other' }
);

/** An event, or null for what can never be handled. */
export function readEvent(value: unknown, now: Micros): BridgeEvent | null {
  const common = v.safeParse(Common, value, { abortEarly: true });
  if (!common.success) return null;
  const { id, type, occurred_at: at } = common.output;
  const occurredAt = at > now + FUTURE_TOLERANCE ? now : at;
  switch (type) {
    case 'press':
      return withMembers({ id, occurredAt, type }, MEMBERS.press, value);
    case 'thread_message':
      return withMembers({ id, occurredAt, type }, MEMBERS.thread_message, value);
    case 'account_link':
      return withMembers({ id, occurredAt, type }, MEMBERS.account_link, value);
    case 'message_deleted':
      return withMembers({ id, occurredAt, type }, MEMBERS.message_deleted, value);
    default:
      return { id, occurredAt, type: 'other' };
  }
}

function withMembers<Base extends object, Members extends object>(
  base: Base,
  schema: v.GenericSchema<unknown, Members>,
  value: unknown,
): (Base & Members) | null {
  const members = v.safeParse(schema, value, { abortEarly: true });
  return members.success ? { ...members.output, ...base } : null;
}

/**
 * Where an event has to wait for others: those of one message and those of one person are handled in order
 * (bridge §7.2).
 */
export function lanesOf(event: BridgeEvent): readonly string[] {
  if (event.type === 'other') return [];
  const message = 'message_id' in event ? [`message ${event.message_id}`] : [];
  return event.user ? [...message, `person ${event.user.external_id}`] : message;
}

export interface ReactionDeps extends PressDeps {
  readonly links: Pick<LinkRequestStore, 'useToken'>;
  readonly hints: Pick<HintBus, 'send'>;
}

/** Not ours, or nothing to us. */
export const IGNORED: Reaction = { is: 'noted', say: null };

export function accountOf({ external_id, username, display_name }: Person): MessengerAccount {
  return { externalId: external_id, username, displayName: display_name };
}
