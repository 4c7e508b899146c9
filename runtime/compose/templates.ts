/** Link rules, Lookup tables and previews of templates: what their operations work with. */
import type { Registry } from 'prom-client';
import { createLinkTemplateCheck, type LinkTemplateCheck } from '../../actors/links/check-template.ts';
import type { LinkSource } from '../../actors/links/configuration.ts';
import { createLinkFailures, type LinkFailures } from '../../actors/links/failures.ts';
import { createGroupLinks, type GroupLinks } from '../../actors/links/group-links.ts';
import {
  createRouteTemplateCheck,
  type RouteTemplateCheck,
} from '../../actors/previews/check-route-templates.ts';
import { createTemplatePreviewer, type TemplatePreviewer } from '../../actors/previews/preview.ts';
import { createSampleReader, type SampleReader } from '../../actors/previews/samples.ts';
import { createTemplateMetrics, type TemplateMetrics } from '../../actors/templates/metrics.ts';
import { createGroupReader, createTemplateAlerts } from '../../storage/alert-groups.ts';
import type { Sql } from '../../storage/records.ts';
import { createSampleSnapshots } from '../../storage/sample-snapshots.ts';
import { createStoredSnapshotReader } from '../../storage/stored-snapshots.ts';
import { systemMonotonic } from '../clock.ts';
import type { Log } from '../log.ts';

export interface TemplateWork {
  readonly samples: SampleReader;
  readonly metrics: TemplateMetrics;
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
  const alerts = createTemplateAlerts(sql);
  const monotonic = systemMonotonic;
  const samples = createSampleReader({
    snapshots: createSampleSnapshots(sql),
    stored: createStoredSnapshotReader(sql),
    publicUrl,
  });
  const lookingUp = { links, monotonic };
  return {
    samples,
    metrics,
    failures,
    groupLinks: createGroupLinks({ ...lookingUp, alerts, failures, publicUrl }),
    checkLink: createLinkTemplateCheck({ ...lookingUp, samples }),
    checkRoute: createRouteTemplateCheck({ ...lookingUp, samples }),
    preview: createTemplatePreviewer({
      ...lookingUp,
      ...rest,
      samples,
      alerts,
      groups: createGroupReader(sql),
    }),
  };
}
