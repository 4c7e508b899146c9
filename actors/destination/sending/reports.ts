/** How templates of Routes fare when messages are made with them (templates §9, routes §11). */
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import { type Clock, MINUTE, type Micros } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { groupOf, type MessageContent, type MessageSend } from '../../channels/calls.ts';
import type { EventContent, SendResult } from '../../channels/channel.ts';
import { isOvertaken, type MessageSettings, type TemplateFailure } from '../../messages/index.ts';
import { templateDigest } from '../../route/evaluate.ts';
import { routeAddress, type TemplateRendered } from '../../route/messages.ts';
import type { RouteTemplateKind } from '../../route/policy.ts';
import type { TemplateMetrics } from '../../templates/metrics.ts';
import type { GroupScene } from './scene.ts';

export interface RenderReports {
  rendered(asked: MessageSend, content: MessageContent | EventContent, result: SendResult): void;
}

export interface RenderReportDeps {
  readonly system: Pick<ActorSystem, 'tell'>;
  readonly metrics: Pick<TemplateMetrics, 'failed'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** That a template renders is told this often at most; another replica may have told otherwise. */
const TOLD_EVERY: Micros = MINUTE;

export function createRenderReports({ system, metrics, clock, log }: RenderReportDeps): RenderReports {
  /** When each template of a Route was last told to render; nothing after a failure. */
  const fine = new Map<string, Micros>();

  const tell = (scene: GroupScene, template: RouteTemplateKind, error: string | null): void => {
    const key = `${scene.routeId} ${template}`;
    const at = clock.now();
    if (error !== null) fine.delete(key);
    else if ((fine.get(key) ?? 0) > at - TOLD_EVERY) return;
    else fine.set(key, at);
    const source = sourceOf(template, scene.settings);
    const digest = source === null ? {} : { digest: templateDigest(source) };
    const message: TemplateRendered = { type: 'template_rendered', template, ...digest, error, at };
    system.tell(routeAddress(scene.routeId), message);
  };

  return {
    rendered(asked, content, { failure }) {
      if (content.kind === 'event') return;
      const scene = sceneOf(content);
      const used = scene && templateOf(content, scene.settings);
      if (!scene || !used) return;
      if (!failure) {
        tell(scene, used, null);
        return;
      }
      const { template, error } = failure;
      const text = textOf(error);
      metrics.failed(template, { route: scene.routeId });
      const where = { destination: asked.destinationId, group: groupOf(asked), route: scene.routeId };
      log('fallback_template_used', { ...where, template, error: text });
      tell(scene, template, text);
    },
  };
}

/** The error of a template with its place. */
export function textOf({ line, column, message }: TemplateFailure['error']): string {
  return `line ${line}, column ${column}: ${message}`;
}

function sceneOf(content: MessageContent): GroupScene | null {
  if (content.kind === 'reply') return content.scene;
  return content.shown.kind === 'group' ? content.shown.scene : null;
}

function sourceOf(kind: RouteTemplateKind, { templates }: MessageSettings): string | null {
  const { rootMessage, line, ackTimeoutNotice } = templates;
  const used = { root_message: rootMessage, line, ack_timeout_notice: ackTimeoutNotice }[kind];
  return used?.source ?? null;
}

/** Which of the Route's own templates the message is made with. */
function templateOf(content: MessageContent, { templates }: MessageSettings): RouteTemplateKind | null {
  if (content.kind === 'reply') {
    const { event } = content;
    const isNotice = event.event === 'ack_timeout' && !isOvertaken(event);
    return isNotice && templates.ackTimeoutNotice ? 'ack_timeout_notice' : null;
  }
  if (templates.rootMessage) return 'root_message';
  return templates.line ? 'line' : null;
}
