/** How templates of Routes fare when messages are made with them (templates §9). */
import type { Log } from '../../../runtime/log.ts';
import type { TemplateMetrics } from '../../templates/metrics.ts';
import type { MessageSend } from '../messages/calls.ts';
import { type AdapterResult, groupOf, type MessageContent } from './adapter.ts';
import type { GroupScene } from './scene.ts';

export interface RenderReports {
  rendered(asked: MessageSend, content: MessageContent, result: AdapterResult): void;
}

export interface RenderReportDeps {
  readonly metrics: Pick<TemplateMetrics, 'failed'>;
  readonly log: Log;
}

export function createRenderReports({ metrics, log }: RenderReportDeps): RenderReports {
  return {
    rendered(asked, content, { failure }) {
      const scene = sceneOf(content);
      if (!scene || !failure) return;
      const { template, error } = failure;
      metrics.failed(template, { route: scene.routeId });
      const { destinationId: destination } = asked;
      const text = `line ${error.line}, column ${error.column}: ${error.message}`;
      const where = { destination, group: groupOf(asked), route: scene.routeId };
      log('fallback_template_used', { ...where, template, error: text });
    },
  };
}

function sceneOf(content: MessageContent): GroupScene | null {
  if (content.kind === 'reply') return content.scene;
  return content.shown.kind === 'group' ? content.shown.scene : null;
}
