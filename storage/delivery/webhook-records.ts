/** Writes what Alert Groups and Destinations record about webhook events, a statement a kind and batch. */
import { CHANNELS } from '../../actors/channels/index.ts';
import type {
  DestinationHealthRecorded,
  WebhookBudgetsRenewed,
  WebhookEventsEnded,
  WebhookProgress,
} from '../../actors/destination/effects.ts';
import type { WebhookEventRecorded } from '../../actors/effects.ts';
import type { RecordedEffect } from '../../runtime/actor/index.ts';
import { numberArray, textArray, wordArray } from '../postgres/bulk-parameters.ts';
import type { RecordWriter, Transaction } from '../postgres/records.ts';

export interface WebhookRecordDeps {
  /** Address of the UI, without a trailing slash. */
  readonly publicUrl: string;
  /** Keeps bodies for the request that usually follows at once. */
  readonly bodies: WebhookBodies;
}

type Written =
  | WebhookEventRecorded
  | WebhookProgress
  | WebhookBudgetsRenewed
  | WebhookEventsEnded
  | DestinationHealthRecorded;

interface Inserted {
  readonly recorded: WebhookEventRecorded;
  readonly body: string;
  progress: WebhookProgress | null;
}

/** What is not yet written of a batch: the last word on each event. */
interface Pending {
  readonly inserts: Map<string, Inserted>;
  readonly updates: Map<string, WebhookProgress>;
}

export function createWebhookRecordWriter({ publicUrl, bodies }: WebhookRecordDeps): RecordWriter {
  const record = (
    pending: Pending,
    recorded: WebhookEventRecorded,
    numbers: ReadonlyMap<string, number>,
  ): void => {
    const number = recorded.number ?? numbers.get(recorded.group.id);
    if (number === undefined)
      throw new Error(`Alert Group ${recorded.group.id} has no number in this commit`);
    const body = CHANNELS.webhook_events.renderEvent(recorded, number, publicUrl);
    bodies.put(recorded.eventId, body);
    pending.inserts.set(recorded.eventId, { recorded, body, progress: null });
  };

  const progressed = (pending: Pending, progress: WebhookProgress): void => {
    const insert = pending.inserts.get(progress.eventId);
    if (insert) insert.progress = progress;
    else pending.updates.set(progress.eventId, progress);
    if (isFinal(progress)) bodies.drop(progress.eventId);
  };

  return {
    types: [
      ...['webhook.recorded', 'webhook.progress', 'webhook.budgets_renewed', 'webhook.events_ended'],
      'destination.health',
    ],
    async write(tx, effects, numbers) {
      const pending: Pending = { inserts: new Map(), updates: new Map() };
      const health = new Map<string, DestinationHealthRecorded>();
      for (const effect of effects as readonly RecordedEffect[] as readonly Written[]) {
        switch (effect.type) {
          case 'webhook.recorded':
            record(pending, effect, numbers);
            break;
          case 'webhook.progress':
            progressed(pending, effect);
            break;
          case 'webhook.budgets_renewed':
            await flush(tx, pending);
            await renewBudgets(tx, effect);
            break;
          case 'webhook.events_ended':
            await flush(tx, pending);
            await endWaitingEvents(tx, effect);
            break;
          case 'destination.health':
            health.set(effect.destinationId, effect);
            break;
          default:
            effect satisfies never;
        }
      }
      // Destinations before their events, the order in which a deletion locks them.
      for (const recorded of health.values()) await writeHealth(tx, recorded);
      await flush(tx, pending);
    },
  };
}

async function flush(tx: Transaction, { inserts, updates }: Pending): Promise<void> {
  if (inserts.size > 0) await insertEvents(tx, [...inserts.values()]);
  if (updates.size > 0) await updateEvents(tx, [...updates.values()]);
  inserts.clear();
  updates.clear();
}

async function insertEvents(tx: Transaction, rows: readonly Inserted[]): Promise<void> {
  const of = <Value>(read: (row: Inserted) => Value): Value[] => rows.map(read);
  await tx`
    insert into webhook_events (
      id, destination_id, group_id, sequence, event, urgent, occurred_at, body, state, calls, attempts,
      first_failed_at, next_attempt_at, exact, error, updated_at, finished_at
    )
    select * from unnest(
      ${wordArray(of(({ recorded }) => recorded.eventId))}::text[],
      ${wordArray(of(({ recorded }) => recorded.destinationId))}::text[],
      ${wordArray(of(({ recorded }) => recorded.group.id))}::text[],
      ${numberArray(of(({ recorded }) => recorded.event.sequence))}::integer[],
      ${wordArray(of(({ recorded }) => recorded.event.name))}::text[],
      ${wordArray(of(({ recorded }) => String(recorded.group.urgent)))}::boolean[],
      ${numberArray(of(({ recorded }) => recorded.event.at))}::bigint[],
      string_to_array(${of((row) => row.body).join('\x01')}::text, chr(1)),
      ${wordArray(of(({ progress }) => progress?.state ?? 'waiting'))}::text[],
      ${numberArray(of(({ progress }) => progress?.calls ?? 0))}::integer[],
      ${numberArray(of(({ progress }) => progress?.attempts ?? 0))}::integer[],
      ${numberArray(of(({ progress }) => progress?.firstFailedAt ?? null))}::bigint[],
      ${numberArray(of(({ progress }) => progress?.nextAttemptAt ?? null))}::bigint[],
      ${wordArray(of(({ progress }) => String(progress?.exact ?? false)))}::boolean[],
      ${textArray(of(({ progress }) => progress?.error ?? null))}::text[],
      ${numberArray(of(({ recorded, progress }) => progress?.at ?? recorded.event.at))}::bigint[],
      ${numberArray(of(({ progress }) => (progress && isFinal(progress) ? progress.at : null)))}::bigint[]
    )`;
}

/** A finished event stays as it is: the deletion of its Destination may have ended it under way. */
async function updateEvents(tx: Transaction, rows: readonly WebhookProgress[]): Promise<void> {
  await tx`
    update webhook_events set
      state = now.state,
      calls = now.calls,
      attempts = now.attempts,
      first_failed_at = now.first_failed_at,
      next_attempt_at = now.next_attempt_at,
      exact = now.exact,
      error = now.error,
      updated_at = now.at,
      finished_at = case when now.state in ('delivered', 'not_delivered') then now.at end
    from unnest(
      ${wordArray(rows.map((row) => row.eventId))}::text[],
      ${wordArray(rows.map((row) => row.state))}::text[],
      ${numberArray(rows.map((row) => row.calls))}::integer[],
      ${numberArray(rows.map((row) => row.attempts))}::integer[],
      ${numberArray(rows.map((row) => row.firstFailedAt))}::bigint[],
      ${numberArray(rows.map((row) => row.nextAttemptAt))}::bigint[],
      ${wordArray(rows.map((row) => String(row.exact)))}::boolean[],
      ${textArray(rows.map((row) => row.error))}::text[],
      ${numberArray(rows.map((row) => row.at))}::bigint[]
    ) as now (id, state, calls, attempts, first_failed_at, next_attempt_at, exact, error, at)
    where webhook_events.id = now.id and webhook_events.finished_at is null`;
}

/** index: webhook_events_waiting */
async function renewBudgets(tx: Transaction, { destinationId, at }: WebhookBudgetsRenewed): Promise<void> {
  await tx`
    update webhook_events set
      attempts = 0,
      first_failed_at = null,
      next_attempt_at = case when exact or state = 'sending' then next_attempt_at end,
      updated_at = ${at}
    where destination_id = ${destinationId} and finished_at is null`;
}

/** Ends every event that still waits for a Destination as Not delivered. Index: webhook_events_waiting. */
export async function endWaitingEvents(
  tx: Transaction,
  { destinationId, error, at }: Omit<WebhookEventsEnded, 'type'>,
): Promise<void> {
  await tx`
    update webhook_events set
      state = 'not_delivered', error = ${error}, next_attempt_at = null, updated_at = ${at}, finished_at = ${at}
    where destination_id = ${destinationId} and finished_at is null`;
}

async function writeHealth(tx: Transaction, recorded: DestinationHealthRecorded): Promise<void> {
  const { health, failing, templateError } = recorded;
  const broken = health.state === 'broken' ? health : null;
  await tx`
    update destinations set
      broken_since = ${broken?.since ?? null},
      broken_reason = ${broken?.reason ?? null},
      failing_since = ${failing?.since ?? null},
      failing_error = ${failing?.error ?? null},
      template_error = ${templateError?.error ?? null},
      template_error_since = ${templateError?.since ?? null},
      template_error_request = ${templateError?.request ?? null}
    where id = ${recorded.destinationId}`;
}

function isFinal({ state }: WebhookProgress): boolean {
  return state === 'delivered' || state === 'not_delivered';
}

/** Bodies just recorded, so that the request that usually follows at once reads nothing from the database. Bounded. */
export interface WebhookBodies {
  put(eventId: string, body: string): void;
  get(eventId: string): string | undefined;
  drop(eventId: string): void;
}

/** @param mostCharacters of all bodies together; the oldest go first */
export function createWebhookBodies(mostCharacters = 32 * 1024 * 1024): WebhookBodies {
  const held = new Map<string, string>();
  let characters = 0;
  const drop = (eventId: string): void => {
    characters -= held.get(eventId)?.length ?? 0;
    held.delete(eventId);
  };
  return {
    get: (eventId) => held.get(eventId),
    drop,
    put(eventId, body) {
      drop(eventId);
      held.set(eventId, body);
      characters += body.length;
      for (const oldest of held.keys()) {
        if (characters <= mostCharacters) return;
        drop(oldest);
      }
    },
  };
}
