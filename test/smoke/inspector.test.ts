/** `SVC_INSPECT=1 npm run dev`: turns of a running service in Stately Inspector, whose own server and receiver are used. */
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { createInspectorServer } from '@statelyai/inspect/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { devSettings } from '../../scripts/dev-settings.ts';
import { freePorts } from '../harness/ports.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const ADDRESS = 'http://localhost:5173';

let tocsin: Installation;
let server: ReturnType<typeof createInspectorServer>;
const received: StatelyInspectionEvent[] = [];

beforeAll(async () => {
  const [port] = await freePorts(1);
  const { service, inspectorPort } = devSettings({ SVC_INSPECT: '1' }, ADDRESS, port);
  server = createInspectorServer({ port: inspectorPort!, autoOpen: false });
  createWebSocketReceiver({ server: `ws://localhost:${port}` }).subscribe(
    (event) => void received.push(event),
  );
  tocsin = new Installation(service);
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

test.each([undefined, '0', ''])('with SVC_INSPECT=%s nothing is sent, and no server is started', (value) => {
  expect(devSettings({ SVC_INSPECT: value }, ADDRESS)).toEqual({
    service: { SVC_PUBLIC_URL: ADDRESS },
    inspectorPort: null,
  });
});
