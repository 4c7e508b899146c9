/** Tocsin behind Debian's Prometheus and Alertmanager, configured with the snippet that Tocsin itself gives. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { Api, type Json } from '../harness/api.ts';
import { type Peer, startAlertmanager, startPrometheus } from '../harness/peers.ts';
import { freePorts } from '../harness/ports.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let ready: Ready;
let api: Api;
const peers: Peer[] = [];
const exporters: Server[] = [];

beforeAll(async () => {
  tocsin = new Installation();
  ready = await tocsin.start();
  api = await Api.signIn(ready);
});

afterAll(async () => {
  for (const peer of peers) await peer.stop();
  for (const exporter of exporters) exporter.close();
  await tocsin.remove();
});

/** The sender's configuration as a person would paste it, with intervals short enough for a test. */
async function pastedConfig(): Promise<string> {
  const created = await api.post(`/integrations/${ready.integration_id}/tokens`, { name: 'peer' });
  const snippet = parse(created.alertmanager_snippet) as Json;
  const receiver = snippet.receivers[0].name;
  return stringify({
    route: {
      receiver,
      group_by: ['alertname'],
      group_wait: '100ms',
      group_interval: '1s',
      routes: snippet.route.routes,
    },
    receivers: snippet.receivers,
  });
}

/** A metric that the test can raise and lower. */
async function startExporter(): Promise<{ target: string; set(name: string, value: number): void }> {
  const values = new Map<string, number>();
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end([...values].map(([name, value]) => `${name} ${value}\n`).join(''));
  });
  exporters.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    target: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (name, value) => values.set(name, value),
  };
}

async function prometheusWith(
  target: string,
  alertmanagers: readonly string[],
  alertname: string,
): Promise<Peer> {
  const config = stringify({
    global: { scrape_interval: '500ms', evaluation_interval: '500ms' },
    rule_files: ['rules.yml'],
    alerting: {
      alertmanagers: [
        { static_configs: [{ targets: alertmanagers.map((url) => url.replace('http://', '')) }] },
      ],
    },
    scrape_configs: [{ job_name: 'test', static_configs: [{ targets: [target] }] }],
  });
  const rules = stringify({
    groups: [
      {
        name: 'test',
        rules: [
          {
            alert: alertname,
            expr: 'disk_full == 1',
            labels: { severity: 'critical' },
            annotations: { summary: 'The disk of {{ $labels.instance }} is full' },
          },
        ],
      },
    ],
  });
  const prometheus = await startPrometheus({ config, files: { 'rules.yml': rules } });
  peers.push(prometheus);
  return prometheus;
}

async function groupTitled(title: string, status: string): Promise<Json | null> {
  const page = await api.get(`/alert-groups?status=${status}&q=${title}`);
  return page.items.find((group: Json) => group.title === title) ?? null;
}

test('a rule fires and its Alert Group appears; it ends and the group resolves by the system', async () => {
  const exporter = await startExporter();
  exporter.set('disk_full', 0);
  const alertmanager = await startAlertmanager({ config: await pastedConfig() });
  peers.push(alertmanager);
  await prometheusWith(exporter.target, [alertmanager.url], 'DiskFull');

  exporter.set('disk_full', 1);
  const firing = await until('the group to fire', () => groupTitled('DiskFull', 'firing'), 40);
  expect(firing).toMatchObject({ status: 'firing', severity_level: 'critical', firing_alert_count: 1 });
  expect(firing.summary).toMatch(/^The disk of 127\.0\.0\.1:\d+ is full$/);

  exporter.set('disk_full', 0);
  const resolved = await until('the group to resolve', () => groupTitled('DiskFull', 'resolved'), 60);
  expect(resolved).toMatchObject({ id: firing.id, firing_alert_count: 0, resolved_alert_count: 1 });
  expect(resolved.resolution).toMatchObject({ by: 'system', reason: 'resolved' });
});

test('two Alertmanagers of an HA pair make one group and repeat no event', async () => {
  const exporter = await startExporter();
  exporter.set('disk_full', 0);
  const [portA, portB] = (await freePorts(2)) as [number, number];
  const config = await pastedConfig();
  const first = await startAlertmanager({ config, clusterPort: portA });
  const second = await startAlertmanager({
    config,
    clusterPort: portB,
    clusterPeers: [`127.0.0.1:${portA}`],
  });
  peers.push(first, second);
  await prometheusWith(exporter.target, [first.url, second.url], 'PairDiskFull');

  exporter.set('disk_full', 1);
  const group = await until('the group to fire', () => groupTitled('PairDiskFull', 'firing'), 40);
  exporter.set('disk_full', 0);
  await until('the group to resolve', () => groupTitled('PairDiskFull', 'resolved'), 90);

  const all = await api.all(
    '/alert-groups?status=firing&status=acknowledged&status=snoozed&status=resolved&q=PairDiskFull',
  );
  expect(all.map((found) => found.id)).toEqual([group.id]);
  const events = (await api.all(`/alert-groups/${group.id}/timeline?order=asc`)).map((entry) => entry.event);
  expect(events).toEqual(['created', 'resolved']);
});
