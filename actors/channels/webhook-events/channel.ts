/** Calls of an events-mode webhook: one request for each event (webhooks §3). */
import * as v from 'valibot';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { WebhookSettings } from '../../destination/ports.ts';
import { described, named } from '../../schemas.ts';
import { ACCEPTED, groupOf, type MessageSend, type SendOutcome } from '../calls.ts';
import type { Channel, ChannelCall, ChannelType } from '../channel.ts';
import { callReady, type RequestDeps, refusal, TIMEOUT } from '../webhook-template/send-request.ts';
import { buildWebhookRequest, renderWebhookBody, sentOutcome } from './request.ts';

export interface EventsChannelDeps extends Omit<RequestDeps, 'random'> {
  /** The settings of this moment; null for a Destination that is gone. */
  settings(id: PublicId): Promise<WebhookSettings | null>;
}

const NOT_SENT: SendOutcome = { class: 'not_sent', because: 'unreadable' };

export function createEventsChannel(deps: EventsChannelDeps): Channel {
  return {
    async capabilities(id) {
      const settings = await deps.settings(id);
      return settings && { text: null, edits: 'never', replies: false, mentions: true, buttons: null };
    },
    async send(call, content) {
      if (content.kind !== 'event') throw new Error(`an events-mode webhook gets no ${content.kind}`);
      const settings = await deps.settings(call.asked.destinationId);
      const outcome = settings ? await request(deps, settings, call, content.body) : NOT_SENT;
      return { outcome, failure: null };
    },
    probe: null,
  };
}

async function request(
  deps: EventsChannelDeps,
  settings: WebhookSettings,
  { asked, mayBegin }: ChannelCall<MessageSend>,
  text: string,
): Promise<SendOutcome> {
  const { operation, key: eventId, destinationId, isProbe } = asked;
  if (operation.kind !== 'event' || eventId === null) throw new Error('a call that is about no event');
  const { clock, keyring } = deps;
  const body = Buffer.from(text, 'utf8');
  const built = buildWebhookRequest({ settings, keyring, eventId, body, now: clock.now() });
  if (built.outcome !== 'ready') {
    const { class: refused, error } = refusal(deps, built);
    if (refused === 'fatal') return { class: refused, error };
    noteEnd(deps, asked, operation.event, null);
    return { class: refused, error, request: 'events' };
  }
  const ready = { ...built, method: 'POST', body } as const;
  const { called, hasBegun } = await callReady(deps, settings, ready, 'event', {
    class: 'delivery',
    timeout: TIMEOUT,
    mayBegin,
    about: {
      attempt: operation.call,
      destinationId,
      alertGroupId: groupOf(asked),
      check: isProbe ? 'probe' : null,
      checkRun: null,
    },
  });
  const { result } = called;
  if (result.kind === 'failed' && (result.code === 'withheld' || result.code === 'cancelled'))
    return NOT_SENT;
  if (called.verdict.class === 'unknown' || called.verdict.class === 'redirect') {
    noteEnd(deps, asked, operation.event, result.kind === 'answer' ? result.status : null);
  }
  return outcomeOf(sentOutcome(called), hasBegun && result.kind === 'failed');
}

/** `Retry-After` holds the events of one Alert Group (webhooks §3.4). */
function outcomeOf(sent: ReturnType<typeof sentOutcome>, unsure: boolean): SendOutcome {
  switch (sent.class) {
    case 'ok':
      return ACCEPTED;
    case 'retry_after':
      return { ...sent, scope: 'delivery' };
    case 'transient':
      return { ...sent, unsure };
    case 'fatal':
    case 'unknown':
      return sent;
  }
}

/** The event ends as Not delivered. */
function noteEnd({ log }: EventsChannelDeps, asked: MessageSend, event: string, status: number | null): void {
  const { destinationId: destination } = asked;
  log('webhook_event_not_delivered', { destination, group: groupOf(asked), webhook_event: event, status });
}

const EventsInput = named(
  'WebhookEvents',
  v.object({
    url: described(v.string(), 'Address, http or https. A template: it may be no URI as it stands.'),
    headers: described(
      v.array(
        v.object({
          name: described(v.string(), 'Name of the header.'),
          value: described(v.string(), 'Value of the header.'),
        }),
      ),
      'Headers that are sent besides those of the service.',
    ),
  }),
  'Where a webhook in events mode sends to.',
);

export const WEBHOOK_EVENTS = {
  destination: { type: 'webhook', mode: 'events' },
  settings: { destination: EventsInput, connection: null, messenger: null },
  unknownOutcome: 'repeats_safely',
  mentions: { everyone: true, groups: true },
  renderEvent: renderWebhookBody,
  callback: null,
} as const satisfies ChannelType;
