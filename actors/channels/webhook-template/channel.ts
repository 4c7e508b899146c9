/** Messages of template-mode webhooks: publishing is create, editing is update, answering is reply_in_thread (webhooks §4.5). */
import type { PublicId } from '../../../runtime/public-id.ts';
import type { TemplateSettings } from '../../destination/ports.ts';
import type { Target } from '../../destination/sending/people.ts';
import type { RequestRole } from '../../destination/webhook-config.ts';
import type { Directory } from '../../directory.ts';
import {
  groupPage,
  type MessageSettings,
  plainFinalNotice,
  plainReply,
  routePage,
} from '../../messages/index.ts';
import type { WebhookMention } from '../../templates/data.ts';
import {
  ACCEPTED,
  groupOf,
  type MessageContent,
  type MessageSend,
  type SendAccepted,
  type SendOutcome,
  type Shown,
} from '../calls.ts';
import type { Channel, ChannelCall, SendResult } from '../channel.ts';
import { type Telling, type ToldSubject, UPDATE, updateHash } from './request-data.ts';
import {
  type RequestDeps,
  type RequestOptions,
  type RequestOutcome,
  sendRequest,
  TIMEOUT,
  type WantedRequest,
} from './send-request.ts';

export interface TemplateChannelDeps extends RequestDeps {
  readonly directory: { current(): Pick<Directory, 'usersById'> };
  /** The settings of this moment; null for a Destination that is gone, or never had a template. */
  settings(id: PublicId): Promise<TemplateSettings | null>;
}

type Content<Kind extends MessageContent['kind']> = Extract<MessageContent, { readonly kind: Kind }>;
type Operation<Kind extends MessageSend['operation']['kind']> = Extract<
  MessageSend['operation'],
  { readonly kind: Kind }
>;

/** What `threadRef` says once open_thread succeeded. */
const OPEN = 'open';
/** There is nothing to ask again for: its settings went with it, or with its mode. */
const NO_SETTINGS: SendOutcome = { class: 'unknown', error: 'the webhook has no requests any more' };

export function createTemplateChannel(deps: TemplateChannelDeps): Channel {
  return {
    async capabilities(destinationId) {
      const settings = await deps.settings(destinationId);
      // What a request says is the Admin's; only they know what the receiver takes.
      const replies = settings?.template.reply_in_thread !== null;
      return settings && { text: null, edits: 'always', replies, mentions: true, buttons: null };
    },

    async send(call, content) {
      const settings = await deps.settings(call.asked.destinationId);
      if (!settings) return only(NO_SETTINGS);
      const { operation } = call.asked;
      const requests = new Requests(deps, settings, call);
      if (content.kind === 'publish') return only(await publish(deps, requests, content));
      if (content.kind === 'edit' && operation.kind === 'edit') {
        return only(await edit(requests, content, operation));
      }
      if (content.kind === 'reply' && operation.kind === 'reply') {
        return reply(deps, requests, content, operation);
      }
      throw new Error(`a call to ${operation.kind} with the content to ${content.kind}`);
    },
    probe: null,
  };
}

/** The requests of one call. */
class Requests {
  readonly settings: TemplateSettings;
  readonly #deps: TemplateChannelDeps;
  readonly #call: ChannelCall<MessageSend>;

  constructor(deps: TemplateChannelDeps, settings: TemplateSettings, call: ChannelCall<MessageSend>) {
    this.settings = settings;
    this.#deps = deps;
    this.#call = call;
  }

  get values(): Readonly<Record<string, string>> {
    return this.#call.asked.values;
  }

  send(role: RequestRole, wanted: Omit<WantedRequest, 'role' | 'template'>): Promise<RequestOutcome> {
    const template = this.settings.template[role];
    if (!template) throw new Error(`there is no request for ${role}`);
    return sendRequest(this.#deps, this.settings, { ...wanted, role, template }, this.#options());
  }

  #options(): RequestOptions {
    const { asked, mayBegin } = this.#call;
    return {
      class: 'delivery',
      timeout: TIMEOUT,
      mayBegin,
      about: {
        attempt: asked.attempt,
        destinationId: asked.destinationId,
        alertGroupId: groupOf(asked),
        check: asked.isProbe ? 'probe' : null,
        checkRun: null,
      },
    };
  }
}

async function publish(
  { directory }: TemplateChannelDeps,
  requests: Requests,
  { shown, isLoud, targets }: Content<'publish'>,
): Promise<SendOutcome> {
  const { template } = requests.settings;
  const subject = toldSubject(shown);
  const settings = settingsOf(shown);
  const mentions = mentionsOf(targets, directory.current());
  const telling = { ...UPDATE, notify: isLoud, mentions };
  const sent = await requests.send('create', { subject, telling, values: {}, settings });
  if (sent.class !== 'ok') return failed('create', sent);
  const { values } = sent.extraction;
  const [first] = template.create.extract;
  return accepted({
    messageId: (first && values[first.name]) ?? null,
    hash: updateHash(template.update, subject, UPDATE, settings),
    values,
    missing: sent.extraction.missing,
  });
}

async function edit(
  requests: Requests,
  { shown }: Content<'edit'>,
  { isFinal, hash: actual }: Operation<'edit'>,
): Promise<SendOutcome> {
  const subject = toldSubject(shown);
  const settings = settingsOf(shown);
  const telling = isFinal ? { ...UPDATE, final: finalNotice(shown) } : UPDATE;
  const hash = updateHash(requests.settings.template.update, subject, telling, settings);
  if (hash === actual && !isFinal) return { class: 'unchanged' };
  const sent = await requests.send('update', { subject, telling, values: requests.values, settings });
  return sent.class === 'ok' ? accepted({ hash }) : failed('update', sent);
}

/** Opens the Thread before the first reply; what that answered is kept even when the reply fails. */
async function reply(
  { directory }: TemplateChannelDeps,
  requests: Requests,
  { scene, event, isLoud, targets }: Content<'reply'>,
  { threadRef }: Operation<'reply'>,
): Promise<SendResult> {
  const { template } = requests.settings;
  if (!template.reply_in_thread) return only({ class: 'dropped' });
  const { text, failure } = plainReply(event, scene.group, scene.settings);
  const mentions = mentionsOf(targets, directory.current());
  const telling: Telling = { event: event.event, text, notify: isLoud, mentions, final: '' };
  const { settings } = scene;
  const wanted = { subject: { kind: 'group', group: scene.data }, telling, settings } as const;
  if (!template.open_thread || threadRef === OPEN) {
    const sent = await requests.send('reply_in_thread', { ...wanted, values: requests.values });
    return { outcome: sent.class === 'ok' ? accepted({}) : failed('reply_in_thread', sent), failure };
  }
  const opened = await requests.send('open_thread', { ...wanted, values: requests.values });
  if (opened.class !== 'ok') return { outcome: failed('open_thread', opened), failure };
  const { values: found, missing } = opened.extraction;
  const thread = { values: found, threadRef: OPEN };
  const sent = await requests.send('reply_in_thread', {
    ...wanted,
    values: { ...requests.values, ...found },
  });
  if (sent.class === 'ok') return { outcome: accepted({ ...thread, missing }), failure };
  return { outcome: { ...failed('reply_in_thread', sent), ...thread }, failure };
}

function only(outcome: SendOutcome): SendResult {
  return { outcome, failure: null };
}

function accepted(known: Partial<SendAccepted>): SendAccepted {
  return { ...ACCEPTED, missing: [], ...known };
}

/** A `Retry-After` holds the whole Destination here. */
function failed(
  request: RequestRole,
  sent: Exclude<RequestOutcome, { readonly class: 'ok' }>,
): Exclude<SendOutcome, SendAccepted> {
  switch (sent.class) {
    case 'not_sent':
      return { class: 'not_sent', because: 'unreadable' };
    case 'retry_after':
      return { class: 'retry_after', until: sent.until, scope: 'destination', error: sent.error };
    case 'transient':
      return { class: 'transient', error: sent.error, unsure: sent.unsure };
    case 'template_error':
      return { class: 'template_error', error: sent.error, request };
    case 'fatal':
    case 'unknown':
      return { class: sent.class, error: sent.error };
  }
}

function settingsOf(shown: Shown): MessageSettings {
  return shown.kind === 'group' ? shown.scene.settings : shown.settings;
}

function toldSubject(shown: Shown): ToldSubject {
  if (shown.kind === 'group') return { kind: 'group', group: shown.scene.data };
  const { routeId, routeName, newGroups, urgentGroups, stillOpen } = shown.storm;
  return {
    kind: 'storm',
    storm: {
      route: routeName,
      alertGroupCount: newGroups,
      urgentCount: urgentGroups,
      final: stillOpen !== null,
      url: routePage(shown.settings, routeId),
    },
  };
}

function finalNotice(shown: Shown): string {
  if (shown.kind === 'storm')
    return plainFinalNotice(routePage(shown.settings, shown.storm.routeId), shown.settings);
  const { group, settings } = shown.scene;
  return plainFinalNotice(groupPage(settings, group.id), settings);
}

export function mentionsOf(
  targets: readonly Target[],
  { usersById }: Pick<Directory, 'usersById'>,
): readonly WebhookMention[] {
  return targets.flatMap((target): WebhookMention[] => {
    if (target.type === 'everyone') return [{ type: 'everyone', everyone: target.as }];
    if (target.type === 'group') return [{ type: 'group', name: target.name }];
    const user = usersById.get(target.id);
    return user ? [{ type: 'user', id: user.id, name: user.name, login: user.login }] : [];
  });
}
