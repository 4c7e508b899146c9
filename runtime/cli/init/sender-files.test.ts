import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { senderFiles } from './sender-files.ts';

const of = { name: 'prod: "eu" #1', ingestUrl: 'https://ingest.example.org', token: 'svc_int_x' };

test('the Heartbeat is the first route, and every alert is sent whole and with its resolution', () => {
  const config = parse(senderFiles(of, true).alertmanager);
  expect(config.route.routes.map(({ receiver }: { receiver: string }) => receiver)).toEqual([
    `tocsin-heartbeat-${of.name}`,
    `tocsin-${of.name}`,
  ]);
  expect(config.receivers.at(-1).webhook_configs[0]).toMatchObject({ send_resolved: true, max_alerts: 0 });
});

test('without a Heartbeat there is neither its rule nor its route', () => {
  const { heartbeatRule, alertmanager } = senderFiles(of, false);
  expect(heartbeatRule).toBeNull();
  expect(alertmanager).not.toContain('eartbeat-');
});
