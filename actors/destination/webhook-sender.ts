/** Makes the requests that committed turns of Destinations asked for, and reports the outcomes to the Destinations. */
import type { ActorSystem } from '../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { OutboundCaller } from '../../runtime/outbound/caller.ts';
import type { Watch } from '../../runtime/pause-watch.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Keyring } from '../../runtime/secrets/keyring.ts';
import { createMask } from '../../runtime/secrets/masking.ts';
import {
  buildWebhookRequest,
  sentOutcome,
  WEBHOOK_MAPPING,
  type WebhookSettings,
} from '../channels/webhook-events/request.ts';
import type { WebhookSend } from './effects.ts';
import {
  type AttemptFinished,
  type AttemptOutcome,
  destinationAddress,
  type SentOutcome,
} from './messages.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { createLanes } from './pacing.ts';

const TIMEOUT: Micros = 10 * SECOND;
const ANSWER_LIMIT = 64 * 1024;
/** Requests of a Destination in flight at a time. */
const AT_ONCE = 10;

export interface WebhookSenderDeps {
  readonly caller: OutboundCaller;
  readonly system: Pick<ActorSystem, 'tell' | 'stillOwns'>;
  readonly keyring: Keyring;
  /** Detects that the process was paused between the ownership check and the call. */
  readonly pauses: { begin(): Watch };
  readonly clock: Clock;
  readonly log: Log;
  readonly deliveryMetrics: DeliveryMetrics;
  /** The present settings; null for a deleted Destination. */
  settings(id: PublicId): Promise<WebhookSettings | null>;
  /** The body as it was recorded; null when the event ended meanwhile. */
  body(eventId: string): Promise<string | null>;
}

interface Attempt {
  readonly outcome: SentOutcome;
  readonly status: number | null;
}

/** What a request is made from, as stored. */
interface Material {
  readonly settings: WebhookSettings;
  readonly text: string;
}

export interface WebhookSender {
  /** Performs `webhook.send`. Never throws. */
  send(effect: WebhookSend): void;
  /** Destinations with a call in flight. */
  calling(): Iterable<PublicId>;
  /** Begins no further call; resolves when outcomes of those in flight are reported. The next start sends the others. */
  finish(): Promise<void>;
}

/**
 * The performer of `webhook.send`. It never throws: when the database cannot be read, nothing is sent and the Destination
 * gets `not_sent`. Only a call that ends in a bug reports nothing; it counts as lost after a while.
 */
export function createWebhookSender(deps: WebhookSenderDeps): WebhookSender {
  const { system, clock, log } = deps;
  const underWay = new Map<Promise<void>, PublicId>();
  let isFinishing = false;

  const tell = (effect: WebhookSend, outcome: AttemptOutcome, at: Micros): void => {
    const message: AttemptFinished = {
      type: 'attempt_finished',
      eventId: effect.eventId,
      call: effect.call,
      outcome,
      at,
    };
    system.tell(destinationAddress(effect.destinationId), message);
  };

  const run = async (effect: WebhookSend): Promise<void> => {
    const began = clock.now();
    const material = await read(effect);
    if (!material) return;
    const watch = deps.pauses.begin();
    try {
      if (await mayCall(effect)) await call(effect, material, began, () => !watch.hasPaused());
    } finally {
      watch.end();
    }
  };

  const call = async (
    effect: WebhookSend,
    material: Material,
    began: Micros,
    mayBegin: () => boolean,
  ): Promise<void> => {
    const attempt = await attemptOnce(deps, effect, material, mayBegin);
    if (attempt === null) return;
    if (attempt === 'withheld') {
      // The process was paused after the ownership check; requeue, if the Destination is still owned here.
      tell(effect, { class: 'not_sent', because: 'unreadable' }, clock.now());
      return;
    }
    const at = clock.now();
    tell(effect, attempt.outcome, at);
    report(deps, effect, attempt, began, at);
    // The Destination is about to be Broken: requeue the calls that have not begun.
    if (attempt.outcome.class !== 'fatal') return;
    const { destinationId } = effect;
    for (const waiting of lanes.takeOut((other) => other.destinationId === destinationId)) {
      tell(waiting, { class: 'not_sent', because: 'just_refused' }, at);
    }
  };

  const failed = (effect: WebhookSend, error: unknown): void => {
    log('webhook_send_failed', {
      destination: effect.destinationId,
      group: effect.groupId,
      error: error instanceof Error ? error.message : String(error),
    });
  };

  /** Null when nothing is to be sent any more, or nothing could be read. */
  const read = async (effect: WebhookSend): Promise<Material | null> => {
    try {
      const settings = await deps.settings(effect.destinationId);
      const text = await deps.body(effect.eventId);
      return settings && text !== null ? { settings, text } : null;
    } catch (error) {
      failed(effect, error);
      tell(effect, { class: 'not_sent', because: 'unreadable' }, clock.now());
      return null;
    }
  };

  /** A process that was paused may have lost the Destination: then its new owner makes the call. */
  const mayCall = async (effect: WebhookSend): Promise<boolean> => {
    try {
      return await system.stillOwns(destinationAddress(effect.destinationId));
    } catch (error) {
      failed(effect, error);
      tell(effect, { class: 'not_sent', because: 'unreadable' }, clock.now());
      return false;
    }
  };

  const lanes = createLanes<WebhookSend>(AT_ONCE, async (effect) => {
    if (isFinishing) return;
    const call = run(effect).catch((error: unknown) => failed(effect, error));
    underWay.set(call, effect.destinationId);
    await call;
    underWay.delete(call);
  });

  return {
    send: lanes.add,
    calling: () => underWay.values(),
    async finish() {
      isFinishing = true;
      await Promise.all(underWay.keys());
    },
  };
}

/** Null when the service is stopping; `withheld` when nothing was sent because ownership has to be checked again. */
async function attemptOnce(
  deps: WebhookSenderDeps,
  effect: WebhookSend,
  { settings, text }: Material,
  mayBegin: () => boolean,
): Promise<Attempt | 'withheld' | null> {
  const body = Buffer.from(text, 'utf8');
  const { keyring } = deps;
  const now = deps.clock.now();
  const built = buildWebhookRequest({ settings, keyring, eventId: effect.eventId, body, now });
  if (built.outcome === 'template_error') {
    return {
      outcome: { class: 'template_error', error: createMask(built.secrets)(built.error) },
      status: null,
    };
  }
  if (built.outcome === 'secret_unreadable') {
    deps.log('secret_unreadable', { field: built.field, owner: built.owner, key_id: built.keyId });
    return { outcome: { class: 'fatal', error: 'secret_unreadable' }, status: null };
  }
  const called = await deps.caller.call({
    request: {
      owner: `destination/${effect.destinationId}`,
      class: 'delivery',
      proxy: built.proxy,
      credentials: settings.version,
      method: 'POST',
      url: built.url,
      headers: built.headers,
      body,
      timeout: TIMEOUT,
      answerLimit: ANSWER_LIMIT,
      mayBegin,
    },
    secrets: built.secrets,
    secretHeaders: built.secretHeaders,
    mapping: WEBHOOK_MAPPING,
    about: {
      operation: 'event',
      attempt: effect.call,
      connectionId: null,
      destinationId: effect.destinationId,
      alertGroupId: effect.groupId,
      check: effect.isProbe ? 'probe' : null,
      checkRun: null,
    },
  });
  const { result } = called;
  if (result.kind === 'failed' && result.code === 'withheld') return 'withheld';
  if (result.kind === 'failed' && result.code === 'cancelled') return null;
  return { outcome: sentOutcome(called), status: result.kind === 'answer' ? result.status : null };
}

function report(
  { log, deliveryMetrics }: WebhookSenderDeps,
  effect: WebhookSend,
  { outcome, status }: Attempt,
  began: Micros,
  ended: Micros,
): void {
  const { destinationId: destination, groupId: group, event, attempt } = effect;
  deliveryMetrics.webhookAttempt(destination, outcome.class);
  if (attempt === 1) deliveryMetrics.latency(destination, began - effect.occurredAt);
  log('delivery_attempt', {
    destination,
    group,
    kind: 'webhook_event',
    outcome: outcome.class === 'ok' ? 'delivered' : outcome.class,
    attempt,
    duration_ms: Math.round((ended - began) / 1000),
    ...(outcome.class === 'retry_after'
      ? { retry_after_ms: Math.max(0, Math.round((outcome.until - ended) / 1000)) }
      : {}),
  });
  if (outcome.class === 'unknown' || outcome.class === 'template_error') {
    log('webhook_event_not_delivered', { destination, group, webhook_event: event, status });
  }
}
