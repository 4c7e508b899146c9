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

test('no name ends its text, whatever YAML takes for the end of a line', () => {
  const name = 'x\u2028global:\u2028  y\u0085\ufeff\u007f';
  const file = senderFiles({ ...of, name }, 'https://tocsin.example')['alertmanager.yml'];
  expect(file).not.toMatch(/[\u007f-\u009f\u2028\u2029\ufeff]/);
  expect(parse(file).receivers.at(-1).name).toBe(`tocsin-${name}`);
});

test('what the rules as delivered say to whoever takes them by hand is left out', () => {
  const rules = senderFiles(of, 'https://tocsin.example/$&')['tocsin-rules.yml'];
  expect(rules).toMatch(/^groups:/);
  expect(rules).toContain('https://tocsin.example/$&/runbooks/SvcDown');
});
