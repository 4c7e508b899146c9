/** Turns of a running service in Stately Inspector, whose own server and receiver are used. */
import path from 'node:path';
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { createInspectorServer } from '@statelyai/inspect/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { freePorts } from '../harness/ports.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const SCRIPT = path.resolve(import.meta.dirname, '..', '..', 'scripts', 'inspect.ts');

let tocsin: Installation;
let server: ReturnType<typeof createInspectorServer>;
const received: StatelyInspectionEvent[] = [];

beforeAll(async () => {
  const [port] = await freePorts(1);
  server = createInspectorServer({ port: port!, autoOpen: false });
  createWebSocketReceiver({ server: `ws://localhost:${port}` }).subscribe(
    (event) => void received.push(event),
  );
  tocsin = new Installation({
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import ${SCRIPT}`,
    INSPECTOR_URL: `ws://localhost:${port}`,
  });
});

afterAll(async () => {
  server.stop();
  await tocsin.remove();
});

test('an alert is seen to move the machine of its group, and nothing that it says is shown', async () => {
  const ready = await tocsin.start();
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  const alerts = [{ labels: { alertname: 'VerySecretName' }, annotations: { summary: 'VerySecretText' } }];
  expect(await sender.post({ groupKey: '{}:{alertname="VerySecretName"}', alerts })).toBe(202);
  const ofGroup = (type: string) =>
    received.find((event) => event.type === type && event.sessionId.startsWith('alert_group'));
  const moved = await until('the state of the group', async () => ofGroup('@xstate.snapshot'));
  expect(moved).toMatchObject({ snapshot: { status: 'active', value: { firing: expect.anything() } } });
  expect(ofGroup('@xstate.event')).toMatchObject({ event: { type: expect.any(String) } });
  const { definition } = ofGroup('@xstate.actor') as { definition: string };
  expect(Object.keys(createMachine(JSON.parse(definition)).states)).toContain('acknowledged');
  expect(JSON.stringify(received)).not.toContain('VerySecret');
});
