/** What requests of a webhook would be: Secrets hidden, examples of what answers would have given (webhooks §6). */
import type { PublicId } from '../../../runtime/public-id.ts';
import { resolveMentions } from '../../alert-group/announcements.ts';
import type { InteractiveTokens } from '../../connection/tokens.ts';
import type {
  StoredDestination,
  TemplateSettings,
  WebhookFields,
  WebhookSettings,
} from '../../destination/ports.ts';
import { targetsOf } from '../../destination/sending/people.ts';
import type { GroupScene } from '../../destination/sending/scene.ts';
import {
  type EventsConfig,
  parseSecretTemplate,
  REQUEST_ROLES,
  type RequestRole,
  type RequestTemplate,
  renderSecretTemplate,
} from '../../destination/webhook-config.ts';
import type { Directory } from '../../directory.ts';
import { plainReply } from '../../messages/index.ts';
import type { LifecycleEvent, SymbolicMention } from '../../model.ts';
import type { RequestPreviewer } from '../../previews/render.ts';
import type { WebhookMention } from '../../templates/data.ts';
import type { Effort } from '../../templates/index.ts';
import type { AskedPreview, PreviewItem, TrialViews } from '../interactive.ts';
import { renderWebhookBody } from '../webhook-events/request.ts';
import { mentionsOf } from './channel.ts';
import { exampleTelling, shownPart, shownRequest, type Telling, UPDATE } from './request-data.ts';
import { placedText, requestText } from './request-template.ts';
import { looksLikeRequest } from './request-text.ts';
import type { RequestDeps } from './send-request.ts';

const HIDDEN = '[redacted]';

type PreviewDeps = Pick<WebhookTrialDeps, 'views' | 'directory' | 'publicUrl' | 'clock'>;

export async function previewWebhook(
  deps: PreviewDeps,
  { destination, scene }: AskedPreview,
): Promise<readonly PreviewItem[]> {
  const fields = webhookFields(destination);
  if (fields.mode === 'events' && fields.events) return [await eventItem(deps, fields, fields.events, scene)];
  const { template } = fields;
  if (!template) return [];
  return REQUEST_ROLES.flatMap((role) => {
    const request = template[role];
    return request ? [roleItem(deps, fields, { role, request }, scene)] : [];
  });
}

async function eventItem(
  deps: PreviewDeps,
  fields: WebhookFields,
  events: EventsConfig,
  scene: GroupScene,
): Promise<PreviewItem> {
  const event: LifecycleEvent = {
    name: 'created',
    loudness: 'loud',
    mentions: ['new_alert_group'],
    sequence: 1,
    at: scene.group.startedAt,
    actor: { kind: 'system', reason: 'alert' },
    ownerBefore: null,
  };
  const mentions = resolveMentions(event, fields, deps.directory.current());
  const group = await deps.views(scene);
  const body = renderWebhookBody({ event, group, mentions }, scene.data.number, deps.publicUrl);
  const effort = { steps: 0 };
  const url = withoutSecrets(deps, events.url, '/events/url', effort);
  const headers = events.headers.map(({ name, value }, index) => ({
    name,
    value: withoutSecrets(deps, value, `/events/headers/${index}/value`, effort),
  }));
  const failure = [url, ...headers.map(({ value }) => value)].find(({ ok }) => !ok);
  if (failure) return { name: 'event', format: 'json', text: failure.text, request: null };
  const sent = [...headers.map(({ name, value }) => [name, value.text] as const), JSON_CONTENT];
  return {
    name: 'event',
    format: 'json',
    text: body,
    request: { method: 'POST', url: url.text, headers: sent, body },
  };
}

const JSON_CONTENT = ['Content-Type', 'application/json'] as const;

function withoutSecrets({ clock }: PreviewDeps, source: string, place: string, effort: Effort) {
  const parsed = parseSecretTemplate(source);
  const hidden = Object.fromEntries(
    (parsed.ok ? [...parsed.reads.keys()] : []).map((name) => [name, HIDDEN]),
  );
  const rendered = parsed.ok ? renderSecretTemplate(parsed.template, hidden, clock.now(), effort) : parsed;
  if (rendered.ok) return { ok: true, text: rendered.text };
  const { line, column, message } = rendered.error;
  return { ok: false, text: `${place}, line ${line}, column ${column}: ${message}` };
}

function roleItem(
  deps: PreviewDeps,
  fields: WebhookFields,
  { role, request }: { readonly role: RequestRole; readonly request: RequestTemplate },
  scene: GroupScene,
): PreviewItem {
  const telling = tellingOf(deps, fields, role, scene);
  const shown = shownRequest(request, { kind: 'group', group: scene.data }, telling, scene.settings);
  if (!shown.ok) return { name: role, format: 'plain', text: placedText(shown.error, role), request: null };
  const { method, url, headers, body } = shown.rendered;
  const format = isJson(body) ? 'json' : 'plain';
  const sent = { method, url, headers, body: body === '' ? null : body };
  return { name: role, format, text: sent.body, request: sent };
}

/** As Loud as each role can be. */
function tellingOf(deps: PreviewDeps, fields: WebhookFields, role: RequestRole, scene: GroupScene): Telling {
  switch (role) {
    case 'create':
      return { ...UPDATE, notify: true, mentions: calledBy(deps, fields, 'new_alert_group') };
    case 'update':
      return UPDATE;
    case 'open_thread':
    case 'reply_in_thread': {
      const firing = scene.group.alerts.filter(({ state }) => state === 'firing');
      const event = { event: 'alerts_added', alerts: firing } as const;
      const { text } = plainReply(event, scene.group, scene.settings);
      const mentions = calledBy(deps, fields, 'new_alerts');
      return { ...UPDATE, event: event.event, text, notify: true, mentions };
    }
  }
}

function calledBy(
  { directory }: PreviewDeps,
  fields: WebhookFields,
  mention: SymbolicMention,
): readonly WebhookMention[] {
  const { usersById } = directory.current();
  return mentionsOf(targetsOf([mention], null, fields, usersById), { usersById });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function webhookFields({ fields, id }: StoredDestination): WebhookFields {
  if (fields.type !== 'webhook') throw new Error(`Destination ${id} is no webhook`);
  return fields;
}

export interface WebhookTrialDeps extends RequestDeps {
  readonly tokens: Pick<InteractiveTokens, 'take' | 'ended'>;
  readonly views: TrialViews;
  readonly directory: { current(): Pick<Directory, 'usersById'> };
  readonly publicUrl: string;
  /** The settings of this moment, by mode. */
  readonly settings: {
    events(id: PublicId): Promise<WebhookSettings | null>;
    template(id: PublicId): Promise<TemplateSettings | null>;
  };
}

/** The template kind `webhook_request` (templates §10). */
export const previewRequest: RequestPreviewer = (template, group, settings) => {
  const subject = { kind: 'group', group } as const;
  const telling = exampleTelling('create');
  if (!looksLikeRequest(template)) return shownPart(template, subject, telling, settings);
  const shown = shownRequest({ request: template, extract: [] }, subject, telling, settings);
  return shown.ok ? { ok: true, text: requestText(shown.rendered) } : shown;
};
