/** The alert rules and the dashboard's queries as Prometheus itself reads them, on the metrics of real replicas. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { selectedBy } from '../../deploy/promql.fixture.ts';
import type { Json } from '../harness/api.ts';
import { Cluster } from '../harness/cluster.ts';
import { type Peer, startPrometheus } from '../harness/peers.ts';
import { Sender } from '../harness/sender.ts';
import { until } from '../harness/until.ts';

const DEPLOY = path.resolve(import.meta.dirname, '..', '..', 'deploy');
const RULES = readFileSync(path.join(DEPLOY, 'prometheus', 'rules.yaml'), 'utf8');
const rules: Json[] = parse(RULES).groups[0].rules;
const panels: Json[] = JSON.parse(readFileSync(path.join(DEPLOY, 'grafana', 'tocsin.json'), 'utf8')).panels;

test.each([
  ['takes the rules', ['check', 'rules', 'rules.yaml']],
  [
    'sees every rule fire when it should, and stay silent when it should',
    ['test', 'rules', 'rules.test.yaml'],
  ],
])('promtool %s', (_, words) => {
  const { status, stdout, stderr } = spawnSync('/usr/bin/promtool', words, {
    cwd: path.join(DEPLOY, 'prometheus'),
    encoding: 'utf8',
  });
  expect(status, stdout + stderr).toBe(0);
});

describe('with two replicas', () => {
  let cluster: Cluster;
  let prometheus: Peer;

  beforeAll(async () => {
    cluster = await Cluster.start({ replicas: 2, destinations: 1, logLevel: 'warn' });
    const sender = new Sender(`${cluster.replicas[0]!.url}/api/v1/ingest`, cluster.rows.token);
    expect(await sender.post({ alerts: [{ labels: { alertname: 'Test' } }] })).toBe(202);
    prometheus = await startPrometheus({
      config: stringify({
        global: { scrape_interval: '500ms', evaluation_interval: '500ms' },
        rule_files: ['rules.yml'],
        scrape_configs: [
          {
            job_name: 'tocsin',
            static_configs: [{ targets: cluster.replicas.map(({ port }) => `127.0.0.1:${port}`) }],
          },
        ],
      }),
      // Nobody waits for minutes here; for how long each waits is promtool's to test.
      files: { 'rules.yml': RULES.replace(/for: \d+m/g, 'for: 2s') },
    });
  });

  afterAll(async () => {
    await prometheus?.stop();
    await cluster?.remove();
  });

  async function ask(endpoint: string): Promise<Json> {
    const answer = await fetch(`${prometheus.url}/api/v1/${endpoint}`);
    const body: Json = await answer.json();
    if (body.status !== 'success') throw new Error(`${endpoint}: ${body.error}`);
    return body.data;
  }

  const query = (text: string) => ask(`query?query=${encodeURIComponent(text)}`);

  async function alerts(): Promise<string[]> {
    const { alerts: known } = await ask('alerts');
    return known.map(({ labels, state }: Json) =>
      `${labels.alertname} ${state} ${labels.instance ?? ''}`.trim(),
    );
  }

  test('what the rules ask for is there', async () => {
    const metrics = new Set(
      rules.flatMap(({ expr }) => selectedBy(expr).selections.map(({ metric }) => metric)),
    );
    for (const metric of metrics) {
      await until(
        `a series of ${metric}`,
        async () => (await query(`count(${metric}{job="tocsin"})`)).result.length,
        40,
      );
    }
  });

  test('every rule is evaluated without an error, and none fires while all is well', async () => {
    await until('all rules to be well', async () => {
      const { groups } = await ask('rules');
      const states: string[] = groups[0].rules.map(({ name, health }: Json) => `${name} ${health}`);
      expect(states).toEqual(rules.map(({ alert }) => `${alert} ok`));
      expect(await alerts()).toEqual([]);
      return true;
    });
  });

  test('every panel has a query that Prometheus takes', async () => {
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }: Json): string => expr));
    expect(queries.length).toBeGreaterThan(40);
    for (const text of queries) {
      await query(text.replaceAll('$__rate_interval', '30s').replaceAll(/\$\w+/g, '.*'));
    }
  });

  test('a killed replica is down, and nothing else is wrong', async () => {
    const victim = cluster.replicas[1]!;
    await victim.kill();
    await until('nothing but SvcDown', async () => {
      expect(await alerts()).toEqual([`SvcDown firing 127.0.0.1:${victim.port}`]);
      return true;
    });
  });
});
