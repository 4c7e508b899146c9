/** What failing templates are counted by (internal-alerts §4). */
import { Counter, type Registry } from 'prom-client';
import type { PublicId } from '../../runtime/public-id.ts';
import type { TemplateKind } from './types.ts';

export type TemplateMetrics = ReturnType<typeof createTemplateMetrics>;

export function createTemplateMetrics(registry: Registry) {
  const errors = new Counter({
    name: 'svc_template_errors_total',
    help: 'Renders of a stored template that failed.',
    labelNames: ['route', 'destination', 'template'],
    registers: [registry],
  });
  // What has no owner is known from the start: an alert rule would miss the first failure of a series that begins with it.
  errors.inc({ route: '', destination: '', template: 'link_rule' }, 0);
  return {
    /** A template belongs to a Route, to a Destination, or (a Link rule) to neither. */
    failed(
      template: Exclude<TemplateKind, 'webhook_request'> | 'request',
      owner: { readonly route?: PublicId; readonly destination?: PublicId } = {},
    ) {
      const { route = '', destination = '' } = owner;
      errors.inc({ route, destination, template });
    },
  };
}
