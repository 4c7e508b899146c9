/** What opens the way to the other side of a Connection, and how a person's calls take limiter tokens for it. */
import type { Clock, Micros } from '../../runtime/clock.ts';
import type { RequestRecord } from '../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { type Opener, openSecret, type Sealed } from '../../runtime/secrets/keyring.ts';
import { connectionOwner } from '../connection/messages.ts';
import { INTERACTIVE_BUDGET, type InteractiveTokens, type TokenOwners } from '../connection/tokens.ts';
import { type ProxyFields, proxyRoute } from '../proxy-config.ts';
import type { TokenAccess, TokenCallOptions } from './calls.ts';
import {
  type AskedTrial,
  type Busy,
  type CheckedPlace,
  type CheckedStep,
  shownExchange,
  type TrialClass,
  type TrialName,
  type TrialResult,
  type TrialStep,
  type Tried,
} from './interactive.ts';

/** What is stored of it, secrets sealed. */
export interface SealedAccess {
  readonly id: PublicId;
  /** Number of the address and token. */
  readonly access: number;
  readonly token: Sealed | null;
  readonly proxy: ProxyFields;
  readonly proxyPassword: Sealed | null;
}

/** Null when one of the secrets cannot be opened. */
export function openAccess(opener: Opener, settings: SealedAccess): TokenAccess | null {
  const { id, access, proxyPassword } = settings;
  const token = settings.token && openSecret(opener, 'connection.bridge_token', id, settings.token);
  const password = openProxyPassword(opener, settings);
  if (token === null || (proxyPassword !== null && password === null)) return null;
  const proxy = proxyRoute(settings.proxy, password);
  return { connectionId: id, owner: connectionOwner(id), token, proxy, credentials: String(access) };
}

/** The password of its proxy; null when it has none, or it cannot be opened. */
export function openProxyPassword(
  opener: Opener,
  { id, proxyPassword }: Pick<SealedAccess, 'id' | 'proxyPassword'>,
): string | null {
  return proxyPassword && openSecret(opener, 'connection.proxy_password', id, proxyPassword);
}

export const GONE_CONNECTION = 'the Connection was deleted';
export const UNREADABLE = 'a secret of this Connection cannot be opened any more; enter it again';

export type Asked<Outcome> =
  | { readonly is: 'answered'; readonly outcome: Outcome }
  /** No limiter token within the time that a person waits. */
  | { readonly is: 'busy'; readonly wait: Busy };

/** One step of a check: what was answered, or why the check ends with it. */
export type Step<Name, Value, Failed> =
  | { readonly is: 'ok'; readonly value: Value }
  | { readonly is: 'busy'; readonly step: Name; readonly wait: Busy }
  | { readonly is: 'failed'; readonly step: Name; readonly message: string; readonly outcome: Failed };

/** A check that ends with one of its steps. `outcome` null: the other side answered, and the place is of no use. */
export type EndedStep<Name, Failed> = Exclude<Step<Name, never, Failed | null>, { readonly is: 'ok' }>;

export function stepOf<
  Name extends string,
  Value,
  Failed extends { readonly class: 'not_sent' } | { readonly class: string; readonly error: string },
>(
  step: Name,
  asked: Asked<{ readonly class: 'ok'; readonly value: Value } | Failed>,
): Step<Name, Value, Failed> {
  if (asked.is === 'busy') return { is: 'busy', step, wait: asked.wait };
  const { outcome } = asked;
  if ('value' in outcome) return { is: 'ok', value: outcome.value };
  const message = 'error' in outcome ? outcome.error : 'the service is stopping';
  return { is: 'failed', step, message, outcome };
}

type StepName = CheckedStep['name'];

/** Steps that passed. */
export function passedSteps(names: readonly StepName[]): readonly CheckedStep[] {
  return names.map((name) => ({ name, ok: true, message: null }));
}

/** The check of a place that ends with a step. @param steps all of its type, in order */
export function placeFailed(steps: readonly StepName[], name: StepName, message: string): CheckedPlace {
  const before = passedSteps(steps.slice(0, steps.indexOf(name)));
  return { ok: false, checks: [...before, { name, ok: false, message }], found: null };
}

/** Makes one call that a person waits for. A wait that the answer asks for is kept by everybody. */
export async function askedWithToken<Outcome extends { readonly class: string }>(
  tokens: InteractiveTokens,
  owners: TokenOwners & { readonly connectionId: PublicId },
  call: () => Promise<Outcome>,
): Promise<Asked<Outcome>> {
  const grant = await tokens.take(owners);
  if (grant !== 'granted') return { is: 'busy', wait: grant };
  const outcome = await call().finally(() => tokens.ended(owners));
  keepWait(tokens, owners.connectionId, outcome);
  return { is: 'answered', outcome };
}

/** Why a call that a person waits for was of no use; masked. */
export function failed(outcome: { readonly class: string; readonly error?: string }) {
  return { is: 'failed', error: outcome.error ?? 'the service is stopping' } as const;
}

/** All calls of one token wait together. */
export function keepWait(
  tokens: InteractiveTokens,
  connectionId: PublicId,
  outcome: { readonly class: string; readonly until?: number },
): void {
  if (outcome.class !== 'retry_after' || outcome.until === undefined) return;
  tokens.spent(connectionId, { class: 'retry_after', until: outcome.until, scope: 'bot' });
}

export const NO_LIMITER_TOKEN = 'no token of the limiter within 5 s';

export function noToken({ retryAfterSeconds }: Busy): string {
  return `${NO_LIMITER_TOKEN}, the next is due in ${retryAfterSeconds} s`;
}

/** What is left of a step for its request when everything before took as long as it may. */
const LEAST_FOR_CALL: Micros = 100_000;

export interface TrialStepDeps {
  readonly tokens: Pick<InteractiveTokens, 'take' | 'ended'>;
  readonly clock: Pick<Clock, 'now'>;
}

export interface TrialOptions extends TokenCallOptions {
  readonly class: 'interactive';
  readonly check: { readonly as: 'destination_test'; readonly run: PublicId };
  readonly destinationId: PublicId;
  readonly observe: (record: RequestRecord) => void;
}

export interface Limited {
  readonly class: 'limited';
  readonly error: string;
}

/** Begins a step of a test message; it takes at most as long as a person waits. */
export function beginStep(
  { tokens, clock }: TrialStepDeps,
  { destination: { id: destinationId }, run }: AskedTrial,
  name: TrialName = 'message',
) {
  const begun = clock.now();
  const deadline = begun + INTERACTIVE_BUDGET;
  let record: RequestRecord | null = null;
  const ended = (result: TrialResult): TrialStep => ({
    ...{ name, ...shownExchange(record), extracted: null },
    ...{ duration: clock.now() - begun, ...result },
  });
  return {
    name,
    deadline,
    ended,
    /** Of the first step: the test ends with it, and nothing was posted. */
    failed: (errorClass: TrialClass, error: string | null): Tried => ({
      steps: [ended({ errorClass, error })],
      message: null,
    }),
    /** Makes its request, with a limiter token. */
    async call<Outcome>(
      connectionId: PublicId | null,
      make: (options: TrialOptions, timeout: Micros) => Promise<Outcome>,
    ): Promise<Outcome | Limited> {
      const grant = await tokens.take({ destinationId, connectionId });
      if (grant !== 'granted') return { class: 'limited', error: noToken(grant) };
      const observe = (made: RequestRecord) => {
        record = made;
      };
      const check = { as: 'destination_test', run } as const;
      const options = { class: 'interactive', destinationId, check, observe } as const;
      const made = make(options, Math.max(LEAST_FOR_CALL, deadline - clock.now()));
      return made.finally(() => tokens.ended({ destinationId, connectionId }));
    },
  };
}

/** Between two looks for what may arrive at another replica. */
const LOOK_EVERY: Micros = 100_000;

/** @returns false when it was not seen before the deadline */
export async function seenBy(
  clock: Pick<Clock, 'now' | 'after'>,
  deadline: Micros,
  look: () => Promise<unknown>,
): Promise<boolean> {
  while (!(await look())) {
    if (clock.now() + LOOK_EVERY >= deadline) return false;
    await new Promise<void>((resolve) => void clock.after(LOOK_EVERY, resolve));
  }
  return true;
}
