/** What a template makes of a sample, before it is saved anywhere (templates §10). */
import { setImmediate } from 'node:timers/promises';
import { templateLinks } from '../alert-group/reading/alert-summary.ts';
import type { GroupReader, StoredGroup } from '../alert-group/reading/readers.ts';
import type { RouteConfig } from '../directory.ts';
import type { LinkSource } from '../links/configuration.ts';
import { evaluateLinks } from '../links/evaluate.ts';
import type { GroupMessage } from '../messages/index.ts';
import type { TemplateGroup } from '../templates/data.ts';
import type { RenderTimer } from '../templates/index.ts';
import { sampleMessage } from './messages.ts';
import {
  type AskedPreview,
  type PreviewError,
  type PreviewedSample,
  type PreviewSettings,
  previewSource,
  type Rendered,
  type RequestPreviewer,
} from './render.ts';
import {
  defaultRoute,
  type SampleMoment,
  type SampleReader,
  type TemplateAlerts,
  templateGroup,
} from './samples.ts';

export interface TemplatePreview {
  readonly output: string | null;
  readonly truncated: boolean;
  readonly format: AskedPreview['format'] | null;
  /** The built-in template, when that was asked for. */
  readonly source: string | null;
  readonly sample: 'alert_group' | 'stored_snapshot' | 'example' | null;
  readonly error: PreviewError | null;
}

/** `unknown`: there is no such Route or Alert Group. */
export type TemplatePreviewer = (
  asked: AskedPreview,
  at: SampleMoment,
) => Promise<TemplatePreview | 'unknown' | 'unknown_snapshot'>;

export interface PreviewDeps {
  readonly samples: SampleReader;
  readonly groups: Pick<GroupReader, 'read'>;
  readonly alerts: TemplateAlerts;
  readonly links: Pick<LinkSource, 'current'>;
  readonly publicUrl: string;
  readonly version: string;
  readonly monotonic: RenderTimer;
  readonly webhookRequest: RequestPreviewer;
}

/** What a template is tried on. */
interface ChosenSamples {
  readonly of: NonNullable<TemplatePreview['sample']>;
  readonly route: RouteConfig;
  readonly groups: readonly TemplateGroup[];
  /** When the sample is an Alert Group. */
  readonly stored: StoredGroup | null;
}

export function createTemplatePreviewer(deps: PreviewDeps): TemplatePreviewer {
  return async (asked, at) => {
    const chosen = await chooseSamples(deps, asked, at);
    if (chosen === 'unknown' || chosen === 'unknown_snapshot') return chosen;
    const settings = settingsOf(deps, asked, chosen.route, at);
    let first: Rendered | null = null;
    for (const group of chosen.groups) {
      // Between samples everybody else gets a turn.
      await setImmediate();
      const rendered = previewSource(asked, sampleOf(deps, group, chosen, at), settings);
      first ??= rendered;
      if (rendered.error) return answer(asked, chosen, rendered);
    }
    if (first === null) throw new Error('a preview has no sample');
    return answer(asked, chosen, first);
  };
}

function answer(asked: AskedPreview, { of }: ChosenSamples, rendered: Rendered): TemplatePreview {
  const { output, truncated, source, error } = rendered;
  const hasFormat = asked.kind !== 'link_rule' && asked.kind !== 'webhook_request';
  return { output, truncated, format: hasFormat ? asked.format : null, source, sample: of, error };
}

async function chooseSamples(
  { samples, groups, alerts, publicUrl }: PreviewDeps,
  { routeId, sample }: AskedPreview,
  at: SampleMoment,
): Promise<ChosenSamples | 'unknown' | 'unknown_snapshot'> {
  const { directory } = at;
  const named = routeId === null ? null : directory.routesById.get(routeId);
  if (named === undefined || named?.deleted) return 'unknown';
  const route = named ?? defaultRoute(at);
  if (sample.alertGroupId !== null) {
    const stored = await groups.read(sample.alertGroupId);
    if (!stored) return 'unknown';
    const group = templateGroup(stored, await alerts.of(stored.id), { directory, publicUrl });
    const own = directory.routesById.get(stored.routeId);
    return { of: 'alert_group', route: named ?? own ?? route, groups: [group], stored };
  }
  if (sample.storedSnapshotId !== null) {
    const group = await samples.ofSnapshot(sample.storedSnapshotId, route, at);
    return group ? { of: 'stored_snapshot', route, groups: [group], stored: null } : 'unknown_snapshot';
  }
  const received = named ? await samples.ofRoute(named.id, at) : [];
  if (received.length > 0) return { of: 'stored_snapshot', route, groups: received, stored: null };
  return { of: 'example', route, groups: [samples.example(route, at)], stored: null };
}

function settingsOf(
  { links, publicUrl, version, monotonic, webhookRequest }: PreviewDeps,
  asked: AskedPreview,
  { policy }: RouteConfig,
  { directory: { organization }, now }: SampleMoment,
): PreviewSettings {
  const { tables } = links.current();
  return {
    publicUrl,
    version,
    language: asked.language ?? policy.language,
    zone: organization.timeZone,
    severityLabel: organization.severityLabel,
    severityEmoji: organization.severityEmoji,
    snoozeDurationsSeconds: policy.snooze_durations_seconds,
    templates: { rootMessage: null, line: null, ackTimeoutNotice: null },
    now,
    monotonic,
    webhookRequest,
    lookup: (table, key, column) => tables.get(table)?.(key, column) ?? '',
  };
}

/** The links of a sample are those that the Link rules of now give. */
function sampleOf(
  { links, monotonic }: PreviewDeps,
  group: TemplateGroup,
  { stored }: ChosenSamples,
  { directory, now }: SampleMoment,
): PreviewedSample {
  const settings = { configuration: links.current(), now, zone: directory.organization.timeZone, monotonic };
  const message = (): GroupMessage =>
    sampleMessage(
      group,
      stored,
      evaluateLinks(group, stored ?? templateLinks(group.alerts), settings).links,
      directory,
    );
  return { group, message };
}
