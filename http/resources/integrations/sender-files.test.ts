import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { senderFiles } from './sender-files.ts';

const of = { name: 'prod: "eu" #1', ingestUrl: 'https://ingest.example.org', token: 'svc_int_x' };

test('the Heartbeat is the first route, and every alert is sent whole and with its resolution', () => {
  const config = parse(senderFiles(of, 'https://tocsin.example')['alertmanager.yml']);
  expect(config.route.routes.map(({ receiver }: { receiver: string }) => receiver)).toEqual([
    `tocsin-heartbeat-${of.name}`,
    `tocsin-${of.name}`,
  ]);
  expect(config.receivers.at(-1).webhook_configs[0]).toMatchObject({ send_resolved: true, max_alerts: 0 });
});
