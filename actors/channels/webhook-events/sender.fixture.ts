/** The sender of a Destination with the events channel alone, for tests. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { systemClock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import type { Keyring } from '../../../runtime/secrets/keyring.ts';
import { newEventId } from '../../destination/messages.ts';
import { createDeliveryMetrics } from '../../destination/metrics.ts';
import type { WebhookSettings } from '../../destination/ports.ts';
import type { ContentReader } from '../../destination/sending/content.ts';
import { createMessageSender, type MessageSender } from '../../destination/sending/sender.ts';
import { EMPTY_DIRECTORY } from '../../directory.fixture.ts';
import type { MessageSend, SendFinished } from '../calls.ts';
import { createEventsChannel } from './channel.ts';

export interface EventSenderDeps {
  readonly caller: OutboundCaller;
  readonly keyring: Keyring;
  readonly settings: () => Promise<WebhookSettings | null>;
  readonly body: () => Promise<string | null>;
  readonly told: (finished: SendFinished) => void;
  readonly log?: Log;
  /** The process stood still before the call. */
  readonly hasPaused?: boolean;
}

export function createEventSender(deps: EventSenderDeps): MessageSender {
  const { caller, keyring, settings, log = () => undefined, hasPaused = false } = deps;
  return createMessageSender({
    system: { stillOwns: async () => true, tell: (_to, message) => deps.told(message as SendFinished) },
    channels: { webhook_events: createEventsChannel({ caller, keyring, settings, clock: systemClock, log }) },
    contents: { read: () => readBody(deps) },
    directory: { current: () => EMPTY_DIRECTORY },
    typeOf: async () => 'webhook',
    reports: { rendered: () => undefined },
    isUnavailable: (error) => (error as Error).message === 'connection terminated',
    pauses: { begin: () => ({ hasPaused: () => hasPaused, end: () => undefined }) },
    clock: systemClock,
    log,
    deliveryMetrics: createDeliveryMetrics(new Registry()),
  });
}

async function readBody({ body }: EventSenderDeps): ReturnType<ContentReader['read']> {
  const text = await body();
  return text === null ? { is: 'dropped' } : { is: 'content', content: { kind: 'event', body: text } };
}

/** A committed call about a new event. */
export function eventSend(destinationId: PublicId, call: number): MessageSend {
  return {
    ...{ type: 'message.send', destinationId, call, target: 1, connectionId: null },
    subject: { kind: 'group', groupId: newPublicId('AG') },
    operation: { kind: 'event', event: 'created', call },
    notes: { late: false, deletedAt: null, continued: false },
    ...{ key: newEventId(randomBytes), attempt: 1, unsureSince: null, urgent: false, values: {} },
    ...{ dueAt: systemClock.now(), isProbe: false },
  };
}
