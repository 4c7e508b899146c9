import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runbookUrl } from '../actors/internal-alerts/conditions.ts';
import {
  INTERNAL_ALERT_NAMES,
  INTERNAL_ALERTS,
  type InternalAlertName,
} from '../actors/internal-alerts/registry.ts';
import { everyMetric } from '../runtime/compose/every-metric.fixture.ts';
import { variableNames } from '../runtime/config-settings.ts';
import { LOG_EVENTS } from '../runtime/log.ts';
import { startHttp } from '../test/http-server.ts';
import { type Selected, selectedBy } from './promql.fixture.ts';

const read = (...names: string[]) => readFileSync(path.join(import.meta.dirname, ...names), 'utf8');

const RULE = v.strictObject({
  alert: v.string(),
  expr: v.string(),
  for: v.string(),
  labels: v.strictObject({ severity: v.picklist(['critical', 'warning']) }),
  annotations: v.strictObject({ summary: v.string(), description: v.string(), runbook_url: v.string() }),
});
const RULES = v.strictObject({
  groups: v.tuple([v.strictObject({ name: v.literal('tocsin'), rules: v.array(RULE) })]),
});
const file = v.parse(RULES, parse(read('prometheus', 'rules.yaml')));
const [{ rules }] = file.groups;

/**
 * Names, severities and waiting times of internal-alerts §4, as far as this build has the metrics; then those of
 * replicas.
 */
const PUBLISHED = {
  SvcDown: ['critical', '2m'],
  SvcNoLeader: ['critical', '2m'],
  SvcDeliveryFailing: ['critical', '5m'],
  SvcDestinationBroken: ['critical', '5m'],
  SvcHeartbeatLost: ['critical', '1m'],
  SvcDeliverySlow: ['warning', '15m'],
  SvcDeliveryQueueGrowing: ['warning', '15m'],
  SvcIngestBacklog: ['warning', '5m'],
  SvcIngestRejected: ['warning', '0m'],
  SvcClockSkew: ['warning', '5m'],
  SvcTemplateError: ['warning', '0m'],
  SvcLoginFailures: ['warning', '0m'],
  SvcShardsWithoutOwner: ['critical', '2m'],
  SvcRedisDown: ['warning', '2m'],
  SvcShardsUneven: ['warning', '10m'],
  SvcLeaseFenced: ['warning', '0m'],
  SvcEventLoopLag: ['warning', '5m'],
};

const registry = everyMetric();
/** Labels that scraping and histograms add. */
const ADDED = ['job', 'instance', 'namespace', 'le'];

/** What a query may not say: series that nobody exports, and labels that they do not have. */
function complaints({ metric, labels }: Selected): string[] {
  if (metric === 'up') return [];
  const base = metric.replace(/_(bucket|sum|count)$/, '');
  const known = registry.get(metric) ?? registry.get(base);
  if (!known || (metric !== known.name && known.type !== 'histogram')) return [`${metric} is not exported`];
  return labels
    .filter((label) => !known.labelNames.includes(label) && !ADDED.includes(label))
    .map((label) => `${metric} has no label ${label}`);
}

describe('alert rules', () => {
  test('are the published ones', () => {
    expect(Object.fromEntries(rules.map((rule) => [rule.alert, [rule.labels.severity, rule.for]]))).toEqual(
      PUBLISHED,
    );
  });

  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s asks for what is exported, of the job tocsin only',
    (_, { expr }) => {
      const { selections, grouping } = selectedBy(expr);
      expect(selections.length).toBeGreaterThan(0);
      expect(selections.flatMap(complaints)).toEqual([]);
      for (const { metric, text } of selections) expect(text, metric).toContain('job="tocsin"');
      const labels = selections.flatMap(({ metric }) => registry.get(metric)?.labelNames ?? []);
      const histograms = selections.flatMap(
        ({ metric }) => registry.get(metric.replace(/_bucket$/, ''))?.labelNames ?? [],
      );
      const allowed = [...labels, ...histograms, ...ADDED];
      expect(grouping.filter((label) => !allowed.includes(label))).toEqual([]);
    },
  );

  test('every link of a rule and of an Internal alert leads to its runbook, which Tocsin serves', async () => {
    const { send } = await startHttp({
      runbooksFolder: path.join(import.meta.dirname, '..', 'docs', 'runbooks'),
    });
    const own = { base: 'http://localhost:8080', version: null };
    const links = [
      ...rules.map(({ alert, annotations }) => [alert, annotations.runbook_url] as const),
      ...INTERNAL_ALERT_NAMES.map((name) => [name, runbookUrl(own, name) ?? ''] as const),
    ];
    expect(links.length).toBe(rules.length + INTERNAL_ALERT_NAMES.length);
    for (const [name, link] of links) {
      const { origin, pathname } = new URL(link);
      expect(origin, name).toBe('http://localhost:8080');
      const page = await send('GET', pathname);
      expect([name, page.status, page.headers['content-type']]).toEqual([
        name,
        200,
        'text/html; charset=utf-8',
      ]);
      expect(page.text).toContain(`<h1>${name}</h1>`);
      expect(page.text).toContain('<h2>Fix</h2>');
      for (const [, href = ''] of page.text.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (href === '/' || href === '/favicon.svg') continue;
        expect([href, (await send('GET', href)).status]).toEqual([href, 200]);
      }
    }
    expect((await send('GET', '/runbooks/SvcUnheardOf')).status).toBe(404);
    expect((await send('GET', '/runbooks/..%2fkeys.md')).status).toBe(404);
  });

  test('each has a case in which it fires and one in which it stays silent', () => {
    const cases = v.parse(
      v.looseObject({
        tests: v.array(
          v.looseObject({
            name: v.string(),
            promql_expr_test: v.array(v.looseObject({ exp_samples: v.array(v.unknown()) })),
          }),
        ),
      }),
      parse(read('prometheus', 'rules.test.yaml')),
    ).tests;
    const outcomes = (alert: string) =>
      cases
        .filter(({ name }) => name.startsWith(`${alert}: `))
        .map(({ promql_expr_test }) => promql_expr_test.some(({ exp_samples }) => exp_samples.length > 0));
    for (const { alert } of rules) expect(new Set(outcomes(alert)), alert).toEqual(new Set([true, false]));
  });
});

test('a rule and an Internal alert of one name have one severity', () => {
  const shared = rules.filter(({ alert }) => Object.hasOwn(INTERNAL_ALERTS, alert));
  expect(shared.length).toBeGreaterThan(0);
  for (const { alert, labels } of shared) {
    expect(INTERNAL_ALERTS[alert as InternalAlertName].severity, alert).toBe(labels.severity);
  }
});

describe('runbooks', () => {
  const FOLDER = path.join('..', 'docs', 'runbooks');
  const pages = readdirSync(path.join(import.meta.dirname, FOLDER)).filter((name) => name !== 'README.md');
  const index = read(FOLDER, 'README.md');

  test('there is one page a rule and Internal alert, and the index names them all', () => {
    const names = new Set([...rules.map(({ alert }) => alert), ...INTERNAL_ALERT_NAMES]);
    expect(pages.sort()).toEqual([...names].map((name) => `${name}.md`).sort());
    for (const page of pages) expect(index).toContain(`](${page})`);
  });

  test.each(pages)('%s is complete', (page) => {
    const headings = [...read(FOLDER, page).matchAll(/^#+ .*/gm)].map(([heading]) => heading);
    expect(headings).toEqual([
      `# ${page.replace('.md', '')}`,
      ...['## Meaning', '## Impact', '## Diagnosis', '## Fix', '## Over when'],
    ]);
  });

  test.each(pages)('%s names metrics, log events and settings that exist', (page) => {
    const codes = [...read(FOLDER, page).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
    const words = codes.filter((code) => /^\w+_\w+$/.test(code));
    expect(words.filter((word) => !isKnownWord(word))).toEqual([]);
    const queries = codes.filter((code) => !words.includes(code));
    expect(queries.flatMap((query) => selectedBy(query).selections).flatMap(complaints)).toEqual([]);
  });
});

/** Words of others that the pages quote: of Alertmanager, of containers, and values of labels. */
const QUOTED = [
  ...['too_large', 'retry_after', 'max_alerts', 'group_by', 'repeat_interval'],
  ...['alertmanager_notifications_failed_total', 'container_cpu_cfs_throttled_periods_total'],
];

function isKnownWord(word: string): boolean {
  if (complaints({ metric: word, labels: [], text: word }).length === 0) return true;
  const fields = Object.values(LOG_EVENTS).flatMap(([, ...names]) => names as readonly string[]);
  return [...Object.keys(LOG_EVENTS), ...fields, ...variableNames(), ...QUOTED].includes(word);
}

describe('the dashboard', () => {
  const PANEL = v.looseObject({
    id: v.number(),
    type: v.picklist(['row', 'stat', 'timeseries']),
    title: v.string(),
    description: v.optional(v.string()),
    targets: v.optional(v.array(v.looseObject({ expr: v.string(), legendFormat: v.string() })), []),
  });
  const dashboard = v.parse(
    v.looseObject({
      uid: v.literal('tocsin'),
      panels: v.array(PANEL),
      templating: v.object({ list: v.array(v.looseObject({ name: v.string(), query: v.unknown() })) }),
    }),
    JSON.parse(read('grafana', 'tocsin.json')),
  );
  const { panels, templating } = dashboard;

  test('has the published rows and variables', () => {
    expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      ...['Overview', 'Ingestion', 'Delivery', 'Platform'],
    ]);
    expect(templating.list.map(({ name }) => name)).toEqual([
      ...['datasource', 'namespace', 'job', 'integration', 'route', 'destination'],
    ]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  test.each(panels.filter(({ type }) => type !== 'row').map((panel) => [panel.title, panel] as const))(
    'the panel "%s" shows what is exported and says what it is',
    (_, { description, targets }) => {
      expect(description?.length).toBeGreaterThan(3);
      expect(targets.length).toBeGreaterThan(0);
      for (const { expr, legendFormat } of targets) {
        const { selections, grouping } = selectedBy(expr);
        expect(selections.flatMap(complaints)).toEqual([]);
        for (const { text } of selections) expect(text).toContain('namespace=~"$namespace",job=~"$job"');
        const shown = [...legendFormat.matchAll(/{{(\w+)}}/g)].map(([, label = '']) => label);
        const available = [...grouping, ...ADDED];
        expect(shown.filter((label) => !available.includes(label))).toEqual([]);
      }
    },
  );
});
