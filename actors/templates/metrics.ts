/** What failing templates are counted by (internal-alerts §3). */
import { Counter, Histogram, type Registry } from 'prom-client';
import { type Micros, type Monotonic, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { RenderTimer, TemplateKind } from './types.ts';

export type TemplateMetrics = ReturnType<typeof createTemplateMetrics>;

export function createTemplateMetrics(registry: Registry) {
  const errors = new Counter({
    name: 'svc_template_errors_total',
    help: 'Renders of a stored template that failed.',
    labelNames: ['route', 'destination', 'template'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'svc_template_render_duration_seconds',
    help: 'Renders of templates, those that failed and previews included.',
    labelNames: ['template'],
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2],
    registers: [registry],
  });
  // What has no owner is known from the start: an alert rule would miss the first failure of a series that begins with it.
  errors.inc({ route: '', destination: '', template: 'link_rule' }, 0);
  return {
    /** Times the renders of everything that goes by this clock. */
    timer: (monotonic: Monotonic): RenderTimer =>
      Object.assign(() => monotonic(), {
        rendered: (template: TemplateKind, took: Micros) => durations.observe({ template }, took / SECOND),
      }),
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
