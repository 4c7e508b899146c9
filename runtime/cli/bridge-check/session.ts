/** One run of the checker against one bridge. */
import type { Clock } from '../../clock.ts';
import { EDITING_CHECKS, REPLY_CHECKS } from './checks/editing.ts';
import { ALL_EVENTS_CHECK, POLLING_CHECKS, PUSHING_CHECKS } from './checks/events.ts';
import { CHANNEL_CHECKS, ERRORS_CHECK, GENERAL_CHECKS, INFO_CHECKS } from './checks/general.ts';
import { PEOPLE_CHECKS } from './checks/people.ts';
import { PEOPLE_ACTING_CHECKS } from './checks/people-acting.ts';
import { OLD_KEY_CHECK, POSTING_CHECKS } from './checks/posting.ts';
import { type BridgeClient, createClient, Unmet } from './client.ts';
import { createPolledFeed, createPushedFeed } from './events.ts';
import type { PushInbox } from './inbox.ts';
import { type Declared, declaredBy } from './info.ts';
import { type Ask, createAskedPerson, createSimPerson } from './person.ts';
import { type Check, type CheckResult, chosenChecks, type Given, runChecks } from './run.ts';
import type { Send } from './send.ts';

/** Every check, in the order in which they are made. */
export const ALL_CHECKS: readonly Check[] = [
  ...GENERAL_CHECKS,
  ...INFO_CHECKS,
  ...CHANNEL_CHECKS,
  ...POSTING_CHECKS,
  ...EDITING_CHECKS,
  ...REPLY_CHECKS,
  ...PEOPLE_CHECKS,
  ...POLLING_CHECKS,
  ...PEOPLE_ACTING_CHECKS,
  ...PUSHING_CHECKS,
  OLD_KEY_CHECK,
  ALL_EVENTS_CHECK,
  ERRORS_CHECK,
];

export interface Session extends Given {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: string;
  /** Who acts in the messenger; null: nobody. */
  readonly person: 'sim' | Ask | null;
  /** Ids of checks; null: all. */
  readonly only: readonly string[] | null;
}

export interface SessionPorts {
  readonly send: Send;
  readonly clock: Clock;
  random(size: number): Uint8Array;
  /** null: nothing listens. */
  readonly inbox: PushInbox | null;
}

export type SessionOutcome =
  | { readonly kind: 'checked'; readonly results: readonly CheckResult[] }
  | { readonly kind: 'unreachable'; readonly reason: string };

export async function checkBridge(
  session: Session,
  { send, clock, random, inbox }: SessionPorts,
  report: (result: CheckResult) => void,
): Promise<SessionOutcome> {
  const { baseUrl, token, person } = session;
  const client = createClient({ baseUrl, token, send, clock });
  const first = await readDeclared(client);
  if (typeof first === 'string') return { kind: 'unreachable', reason: first };
  const polled = first.delivery.includes('poll') ? createPolledFeed(client, clock) : null;
  const run = {
    ...{ given: session, declared: first, client, clock, random, inbox, polled, left: {} },
    events: polled ?? (inbox && createPushedFeed(inbox, clock)),
    person: person === 'sim' ? createSimPerson(client) : person && createAskedPerson(person),
  };
  return { kind: 'checked', results: await runChecks(chosenChecks(ALL_CHECKS, session.only), run, report) };
}

/** What the bridge declares, nothing when it answers something else; a sentence when it does not answer at all. */
async function readDeclared(client: BridgeClient): Promise<Declared | string> {
  try {
    return declaredBy((await client.call({ method: 'GET', path: '/v1/info' })).fields);
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    // An answer that breaks a rule is for the checks to tell.
    const isAnswered = client.takeExchanges().some(({ answer }) => answer !== null);
    return isAnswered ? declaredBy({}) : error.message;
  }
}
