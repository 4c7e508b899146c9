/** Somebody pressed a button of ours (account-links §6, secrets §6): the same for every messenger. */
import {
  type ActorSystem,
  BusyError,
  StoreUnavailableError,
  UnavailableError,
} from '../../runtime/actor/index.ts';
import { atMost, type Clock, HOUR, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Keyring } from '../../runtime/secrets/keyring.ts';
import {
  type ButtonData,
  type MessageButtonData,
  readButtonData,
} from '../../runtime/secrets/signed-tokens.ts';
import type { MessengerAccount } from '../account-links/link.ts';
import {
  alertGroupAddress,
  type CarriedReply,
  type Command,
  type CommandName,
  type GroupCommand,
} from '../alert-group/messages.ts';
import {
  type AlertGroupMetrics,
  type CommandLog,
  type ToldCommand,
  tellFailed,
  tellOutcome,
  tellRefused,
} from '../alert-group/metrics.ts';
import type { CopyTold, DeletedMessage } from '../connection/messages.ts';
import type { EventFacts, LinkedPerson, PostedMessage } from '../connection/ports.ts';
import { type DestinationMessage, destinationAddress } from '../destination/messages.ts';
import type { DirectorySource } from '../directory.ts';
import { type Language, type PrivateAnswer, privateAnswer } from '../messages/index.ts';
import type { UserActor } from '../model.ts';

/** What an event came to. */
export type Reaction =
  /** Nothing is stored yet: the Connection notes the event, with what follows. */
  | {
      readonly is: 'noted';
      readonly say: string | null;
      readonly deleted?: DeletedMessage;
      readonly copy?: CopyTold;
    }
  /** The event is stored as handled, together with what it led to. `answered`: called once the person was told. */
  | {
      readonly is: 'stored';
      readonly say: string | null;
      /** What was asked for is so: a person need not read about it twice. */
      readonly isDone?: boolean;
      answered?(): void;
    }
  /** Nobody knows yet whether it will be. */
  | { readonly is: 'unsure'; readonly say: string };

export interface PressDeps {
  readonly system: Pick<ActorSystem, 'ask' | 'tell'>;
  readonly facts: EventFacts;
  readonly keyring: Keyring;
  readonly directory: DirectorySource;
  /** Whether a Role grants a Command. */
  readonly may: (role: LinkedPerson['role'], command: CommandName) => boolean;
  readonly metrics?: Pick<AlertGroupMetrics, 'command'> | undefined;
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Press {
  /** Of the event, by which a repeat is known. */
  readonly id: string;
  readonly occurredAt: Micros;
  readonly messageId: string;
  readonly account: MessengerAccount;
  /** What the button brought back. */
  readonly data: string;
}

/** Through which kind of messenger it came: for the Timeline, and for the form of its answers. */
export type PressedThrough = (
  | { readonly transport: 'bridge'; readonly way: 'bridge_event' }
  | { readonly transport: 'chat_server'; readonly way: 'chat_server_press' }
  | { readonly transport: 'channel_bot'; readonly way: 'channel_bot_press' }
) & {
  /** How long a press waits until its message is recorded. Then its event comes again, or fails where none does. */
  readonly recordedWithin: Micros;
};

/** Older ones are not carried out: the person has seen that nothing happened. */
const TOO_OLD: Micros = HOUR;
const ANSWERED_WITHIN: Micros = 5 * SECOND;
/** Between two looks for the record of a message. */
const LOOK_AGAIN: Micros = SECOND / 10;
/** Edits of the message wait so long for the answer. */
const EDITS_WAIT: Micros = 2 * SECOND;

interface Pressed {
  readonly connectionId: PublicId;
  readonly through: PressedThrough;
  readonly event: Press;
  readonly posted: PostedMessage;
  /** Null: no linked account. */
  readonly person: LinkedPerson | null;
  readonly language: Language;
}

/**
 * @returns null: the message is none that can be pressed and was posted through this Connection
 * @throws when something needed cannot be reached: nothing happened yet
 */
export async function reactToPress(
  deps: PressDeps,
  connectionId: PublicId,
  event: Press,
  through: PressedThrough,
): Promise<Reaction | null> {
  const { facts, directory } = deps;
  const [found, person] = await Promise.all([
    facts.message(connectionId, event.messageId),
    facts.person(connectionId, event.account.externalId),
  ]);
  const posted = found ?? (await recordedMeanwhile(deps, connectionId, event, through));
  if (!posted || posted.kind === 'storm_summary') return null;
  const route = posted.routeId && directory.current().routesById.get(posted.routeId);
  const language = person?.language ?? (route ? route.policy.language : 'en');
  const pressed = { connectionId, through, event, posted, person, language };
  if (deps.clock.now() - event.occurredAt > TOO_OLD)
    return told(deps, pressed, { say: 'too_old' }, 'too_old');
  const read = readButtonData(deps.keyring, event.data);
  if (!read.ok) return told(deps, pressed, { say: read.reason }, 'invalid');
  const { button } = read;
  if (!isOf(button, posted)) return told(deps, pressed, { say: 'invalid' }, 'invalid');
  if (button.subject === 'test_message') return told(deps, pressed, { say: 'test' }, 'test');
  if (!person) return told(deps, pressed, { say: 'not_linked' }, 'not_linked');
  return act(deps, { ...pressed, person }, button);
}

/**
 * A message is in the messenger before its id is stored, for longer when the answer to the call was lost.
 * @returns the message, if it was recorded since; null: it was not posted through this Connection (bridge §1 rule 11)
 * @throws {UnavailableError} it may be recorded later: the event has to come again
 */
async function recordedMeanwhile(
  { keyring, facts, clock }: PressDeps,
  connectionId: PublicId,
  { data, messageId }: Press,
  { recordedWithin }: PressedThrough,
): Promise<PostedMessage | null> {
  const read = readButtonData(keyring, data);
  if (!read.ok || read.button.subject === 'test_message') return null;
  const deadline = clock.now() + recordedWithin;
  while (await facts.isPosting(connectionId, read.button.id)) {
    if (clock.now() >= deadline) throw new UnavailableError('its message is not recorded yet');
    await new Promise<void>((resolve) => clock.after(LOOK_AGAIN, resolve));
    const found = await facts.message(connectionId, messageId);
    if (found) return found;
  }
  return facts.message(connectionId, messageId);
}

/** Whether a button belongs to the message that it came back from. */
export function isOf(
  button: ButtonData,
  { kind, groupId, destinationId }: PostedMessage,
): button is MessageButtonData {
  const { subject, id } = button;
  switch (subject) {
    case 'root_message':
      return kind === 'root' && groupId === id;
    case 'thread_reply':
      return kind === 'reply' && groupId === id;
    case 'test_message':
      return kind === 'test' && destinationId === id;
    case 'account_link':
      return false;
  }
}

async function act(
  deps: PressDeps,
  pressed: Pressed & { readonly person: LinkedPerson },
  button: MessageButtonData,
): Promise<Reaction> {
  const { person, event } = pressed;
  await deps.facts.used(person.linkId, event.account, deps.clock.now());
  if (person.status !== 'active') return told(deps, pressed, { say: 'disabled' }, 'disabled', button);
  const by = actorOf(person, pressed.through.transport);
  if (!deps.may(person.role, button.command)) {
    tellRefused(deps.log, { command: button.command, group: button.id, by }, 'forbidden');
    return told(deps, pressed, { say: 'not_permitted' }, 'not_permitted', button);
  }
  const message: GroupCommand = {
    type: 'command',
    command: commandOf(button, deps.clock.now()),
    by,
    carrier: {
      connection: connectionRef(deps, pressed.connectionId),
      eventId: event.id,
      externalId: event.account.externalId,
      answer: {
        way: pressed.through.way,
        language: pressed.language,
        button: button.command,
        seconds: button.seconds,
      },
    },
  };
  return run(deps, pressed, button, message);
}

async function run(
  deps: PressDeps,
  pressed: Pressed,
  button: MessageButtonData,
  message: GroupCommand,
): Promise<Reaction> {
  const { system, clock } = deps;
  const command: ToldCommand = { command: button.command, group: button.id, by: message.by };
  const destination = destinationAddress(pressed.posted.destinationId);
  const groupId = button.id;
  const began: DestinationMessage = { type: 'press_began', groupId, until: clock.now() + EDITS_WAIT };
  const ended: DestinationMessage = { type: 'press_ended', groupId };
  const answered = () => system.tell(destination, ended);
  system.tell(destination, began);
  try {
    const reply = await replyWithin(deps, system.ask(alertGroupAddress(groupId), message), command);
    if (reply === null) {
      handled(deps, pressed, 'unknown', button);
      return { is: 'unsure', say: textOf(deps, pressed, { say: 'unknown_result' }) };
    }
    if (reply.outcome?.outcome === 'unknown')
      return told(deps, pressed, { say: 'invalid' }, 'invalid', button);
    if (reply.outcome) handled(deps, pressed, reply.outcome.outcome, button);
    const isDone = reply.outcome?.outcome === 'done' || reply.outcome?.outcome === 'unchanged';
    return { is: 'stored', say: reply.say, isDone, answered };
  } catch (error) {
    answered();
    if (isAway(error)) throw error;
    tellFailed(deps, command, error);
    return told(deps, pressed, { say: 'failed' }, 'failed', button);
  }
}

/** The reply of the group, or null when there is none in time; the Command may still be carried out. */
async function replyWithin(
  deps: CommandLog & Pick<PressDeps, 'clock'>,
  asked: Promise<unknown>,
  command: ToldCommand,
): Promise<CarriedReply | null> {
  let reply: CarriedReply | null = null;
  const replied = asked.then((given) => {
    // The reply of an Alert Group to a Command that an event carries (its messages.ts).
    reply = given as CarriedReply;
    if (reply.outcome) tellOutcome(deps, command, reply.outcome);
  });
  await atMost(deps.clock, ANSWERED_WITHIN, replied);
  return reply;
}

/** Something needed cannot be reached: the event comes again. */
function isAway(error: unknown): boolean {
  return (
    error instanceof BusyError || error instanceof UnavailableError || error instanceof StoreUnavailableError
  );
}

function commandOf({ command, seconds }: MessageButtonData, now: Micros): Command {
  switch (command) {
    case 'snooze':
      return { name: 'snooze', until: now + seconds * SECOND };
    case 'resolve':
      return { name: 'resolve', note: null };
    default:
      return { name: command };
  }
}

/** Nothing happened: the event is only to be noted, with the answer. */
function told(
  deps: PressDeps,
  pressed: Pressed,
  answer: PrivateAnswer,
  outcome: string,
  button?: MessageButtonData,
): Reaction {
  handled(deps, pressed, outcome, button);
  return { is: 'noted', say: textOf(deps, pressed, answer) };
}

function textOf({ publicUrl }: PressDeps, { language, through }: Pressed, answer: PrivateAnswer): string {
  return privateAnswer(answer, through.way, language, publicUrl);
}

export function actorOf(
  { id, name, login }: LinkedPerson,
  transport: PressedThrough['transport'],
): UserActor {
  return { kind: 'user', id, name, login, tokenName: null, transport };
}

export function connectionRef({ directory }: Pick<PressDeps, 'directory'>, id: PublicId) {
  return { id, name: directory.current().connectionsById.get(id)?.name ?? id };
}

/** Says of a press that belongs to no message of the Connection, or is not signed, that it came (secrets §6). */
export function tellInvalid({ log }: Pick<PressDeps, 'log'>, connection: PublicId): void {
  log('press_handled', { connection, group: null, command: null, outcome: 'invalid' });
}

function handled(
  { log }: PressDeps,
  { connectionId, posted }: Pressed,
  outcome: string,
  button?: MessageButtonData,
): void {
  const command = button?.command ?? null;
  log('press_handled', { connection: connectionId, group: posted.groupId, command, outcome });
}
