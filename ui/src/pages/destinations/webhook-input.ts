/** The form of an events-mode webhook and what is sent; Mentions and the proxy keep what is stored. */
import type { Destination, HeaderTemplate, WebhookInput } from '../../api/shapes.ts';

export interface WebhookDraft {
  name: string;
  url: string;
  headers: HeaderTemplate[];
  limit: number;
  perSeconds: number;
}

export const NEW_WEBHOOK: WebhookInput = {
  type: 'webhook',
  name: '',
  mode: 'events',
  events: { url: '', headers: [] },
  limiter: { limit: 5, per_seconds: 1 },
};

/** Null for a Destination that this form cannot edit: a messenger, or a webhook in template mode. */
export function toInput(destination: Destination): WebhookInput | null {
  const { type, mode, events, name, limiter } = destination;
  if (type !== 'webhook' || mode !== 'events' || !events) return null;
  return { type, name, mode, events: { url: events.url, headers: events.headers }, limiter };
}

export function toDraft(input: WebhookInput): WebhookDraft {
  return {
    name: input.name,
    url: input.events.url,
    headers: [...input.events.headers],
    limit: input.limiter.limit,
    perSeconds: input.limiter.per_seconds,
  };
}

/** Header rows without anything in them are left out. */
export function fromDraft(draft: WebhookDraft): WebhookInput {
  return {
    type: 'webhook',
    name: draft.name,
    mode: 'events',
    events: {
      url: draft.url,
      headers: draft.headers.filter(({ name, value }) => name !== '' || value !== ''),
    },
    limiter: { limit: draft.limit, per_seconds: draft.perSeconds },
  };
}

/** The host of a URL template, for lists; null while a Secret hides it. */
export function hostOf(url: string): string | null {
  return /^https?:\/\/(?:[^/@]*@)?([^/?#{}]+)/.exec(url)?.[1] ?? null;
}
