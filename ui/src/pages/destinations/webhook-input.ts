/** The form of an outgoing webhook and what is sent. */
import type { Destination, HeaderTemplate, ProxyConfig, WebhookInput } from '../../api/shapes.ts';
import { fromProxyDraft, NO_PROXY, type ProxyDraft, toProxyDraft } from '../../forms/proxy-draft.ts';
import { fromMentionsDraft, type MentionsDraft, NOBODY_EVER, toMentionsDraft } from './mentions-draft.ts';
import { fromTemplateDraft, type TemplateDraft, toTemplateDraft } from './template-draft.ts';

export interface WebhookDraft {
  name: string;
  mode: WebhookInput['mode'];
  url: string;
  headers: HeaderTemplate[];
  template: TemplateDraft;
  /** The block of the mode that is not in use is kept as it is. */
  hasEvents: boolean;
  hasTemplate: boolean;
  mentions: MentionsDraft;
  limit: number;
  perSeconds: number;
  proxy: ProxyDraft;
}

export const NEW_WEBHOOK: WebhookInput = {
  type: 'webhook',
  name: '',
  mode: 'events',
  events: { url: '', headers: [] },
  mentions: NOBODY_EVER,
  limiter: { limit: 5, per_seconds: 1 },
  proxy: fromProxyDraft(NO_PROXY),
};

/** Null for a Destination that this form cannot edit: a messenger. */
export function toInput(destination: Destination): WebhookInput | null {
  const { type, mode, events, template, name, mentions, limiter, proxy } = destination;
  if (type !== 'webhook' || !mode) return null;
  return {
    type,
    name,
    mode,
    ...(events && { events: { url: events.url, headers: events.headers } }),
    ...(template && { template: fromTemplateDraft(toTemplateDraft(template)) }),
    mentions,
    limiter,
    proxy: fromProxyDraft(proxyDraft(proxy)),
  };
}

/** @param proxy as it is stored: what is sent of a proxy that is off does not tell its address */
export function toDraft(input: WebhookInput, proxy?: ProxyConfig): WebhookDraft {
  return {
    name: input.name,
    mode: input.mode,
    url: input.events?.url ?? '',
    headers: [...(input.events?.headers ?? [])],
    template: toTemplateDraft(input.template),
    hasEvents: input.events !== undefined,
    hasTemplate: input.template !== undefined,
    mentions: toMentionsDraft(input.mentions),
    limit: input.limiter.limit,
    perSeconds: input.limiter.per_seconds,
    proxy: proxyDraft(proxy),
  };
}

/** Header rows without anything in them are left out. */
export function fromDraft(draft: WebhookDraft): WebhookInput {
  return {
    type: 'webhook',
    name: draft.name,
    mode: draft.mode,
    ...((draft.mode === 'events' || (draft.hasEvents && draft.url !== '')) && { events: fromEvents(draft) }),
    ...((draft.mode === 'template' || draft.hasTemplate) && { template: fromTemplateDraft(draft.template) }),
    mentions: fromMentionsDraft(draft.mentions),
    limiter: { limit: draft.limit, per_seconds: draft.perSeconds },
    proxy: fromProxyDraft(draft.proxy),
  };
}

function fromEvents({ url, headers }: WebhookDraft) {
  return { url, headers: headers.filter(({ name, value }) => name !== '' || value !== '') };
}

function proxyDraft(proxy: ProxyConfig | undefined): ProxyDraft {
  return proxy ? toProxyDraft(proxy) : { ...NO_PROXY };
}

const HIDDEN = '••••••••';

/** The same for comparing and showing: whether a password was typed, never which. */
export function withoutSecrets(input: WebhookInput): WebhookInput {
  const { proxy } = input;
  return proxy.password === undefined ? input : { ...input, proxy: { ...proxy, password: HIDDEN } };
}

/** Where requests of a webhook go, as a URL template; null for what is no webhook. */
export function urlOf({ mode, events, template }: Destination): string | null {
  if (mode === 'events') return events?.url ?? null;
  return /^\s*\w+[ \t]+(\S.*)/.exec(template?.create.request ?? '')?.[1] ?? null;
}

/** The host of a URL template, for lists; null while a Secret hides it. */
export function hostOf(url: string): string | null {
  return /^https?:\/\/(?:[^/@]*@)?([^/?#{}]+)/.exec(url)?.[1] ?? null;
}
