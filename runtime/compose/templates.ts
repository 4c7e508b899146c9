/** Link rules, Lookup tables and previews of templates: what their operations work with. */
import type { Registry } from 'prom-client';
import { previewRequest } from '../../actors/channels/webhook-template/preview.ts';
import type { LinkSource } from '../../actors/links/configuration.ts';
import {
  createGroupLinks,
  createLinkFailures,
  type GroupLinks,
  type LinkFailures,
} from '../../actors/links/evaluate.ts';
import { createTemplatePreviewer, type TemplatePreviewer } from '../../actors/previews/preview.ts';
import { createSampleReader, type SampleReader } from '../../actors/previews/samples.ts';
import {
  createLinkTemplateCheck,
  createRouteTemplateCheck,
  type LinkTemplateCheck,
  type RouteTemplateCheck,
} from '../../actors/previews/template-checks.ts';
import { createTemplateMetrics, type TemplateMetrics } from '../../actors/templates/metrics.ts';
import type { RenderTimer } from '../../actors/templates/types.ts';
import { createTemplateGroups } from '../../storage/alert-groups/alert-groups.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { createSampleSnapshots } from '../../storage/snapshots/preview-bodies.ts';
import { createStoredSnapshotReader } from '../../storage/snapshots/stored-snapshots.ts';
import { systemMonotonic } from '../clock.ts';
import type { Log } from '../log.ts';

export interface TemplateWork {
  readonly samples: SampleReader;
  readonly metrics: TemplateMetrics;
  /** The clock that renders go by. */
  readonly timer: RenderTimer;
  readonly failures: LinkFailures;
  readonly groupLinks: GroupLinks;
  readonly checkLink: LinkTemplateCheck;
  readonly checkRoute: RouteTemplateCheck;
  readonly preview: TemplatePreviewer;
}

export interface TemplateWorkDeps {
  readonly sql: Sql;
  readonly links: LinkSource;
  readonly registry: Registry;
  readonly publicUrl: string;
  readonly version: string;
  readonly log: Log;
}

export function createTemplateWork({ sql, links, registry, log, ...rest }: TemplateWorkDeps): TemplateWork {
  const { publicUrl } = rest;
  const metrics = createTemplateMetrics(registry);
  const failures = createLinkFailures({ log, count: () => metrics.failed('link_rule') });
  const groups = createTemplateGroups(sql);
  const timer = metrics.timer(systemMonotonic);
  const samples = createSampleReader({
    snapshots: createSampleSnapshots(sql),
    stored: createStoredSnapshotReader(sql),
    publicUrl,
  });
  const lookingUp = { links, monotonic: timer };
  return {
    samples,
    metrics,
    timer,
    failures,
    groupLinks: createGroupLinks({ ...lookingUp, alerts: groups, failures, publicUrl }),
    checkLink: createLinkTemplateCheck({ ...lookingUp, samples }),
    checkRoute: createRouteTemplateCheck({ ...lookingUp, samples }),
    preview: createTemplatePreviewer({
      ...lookingUp,
      ...rest,
      samples,
      alerts: groups,
      groups,
      webhookRequest: previewRequest,
    }),
  };
}
