import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { settableLeadership } from '../../test/fakes/leadership.ts';
import type { Directory } from '../directory.ts';
import { createSystemMetrics } from './metrics.ts';
import type { GaugeReadings } from './ports.ts';

const named = (id: string, more: object = {}) => ({ id, name: `Name of ${id}`, deleted: false, ...more });
const directory = {
  routes: [named('RT1'), named('RT2')],
  integrationsById: new Map([
    ['NT1', named('NT1')],
    ['NT2', named('NT2', { deleted: true })],
  ]),
  destinationsById: new Map([['DS1', named('DS1')]]),
  connectionsById: new Map([['CN1', named('CN1')]]),
} as unknown as Directory;

const readings: GaugeReadings = {
  snapshotsWaiting: 7,
  isOutgoingHeartbeatLost: true,
  integrations: [
    { id: 'NT1', isLost: true },
    { id: 'NT2', isLost: false },
  ],
  groups: [
    { route: 'RT1', status: 'firing', count: 3 },
    { route: 'RTgone', status: 'snoozed', count: 1 },
  ],
  destinations: [
    { id: 'DS1', queued: 5, isBroken: true },
    { id: 'DS2', queued: 0, isBroken: false },
  ],
  storms: ['RT2', 'RTgone'],
};

function setting(isLeader: boolean) {
  const registry = new Registry();
  const leadership = settableLeadership(isLeader);
  const metrics = createSystemMetrics(registry);
  metrics.watch({ leadership, directory: { current: () => directory } });
  const series = async () =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { leadership, metrics, series };
}

const EVERYWHERE = [
  'svc_integration_info{integration="NT1",name="Name of NT1"} 1',
  'svc_route_info{route="RT1",name="Name of RT1"} 1',
  'svc_route_info{route="RT2",name="Name of RT2"} 1',
  'svc_destination_info{destination="DS1",name="Name of DS1"} 1',
  'svc_connection_info{connection="CN1",name="Name of CN1"} 1',
];

test('the Leader exports what it read, with zeros for Routes without open groups', async () => {
  const { metrics, series } = setting(true);
  expect(await series()).toEqual(['svc_leader 1', ...EVERYWHERE]);
  metrics.show(readings);
  expect(await series()).toEqual([
    'svc_leader 1',
    'svc_ingest_backlog 7',
    'svc_heartbeat_lost{integration="NT1"} 1',
    'svc_heartbeat_lost{integration="NT2"} 0',
    'svc_outgoing_heartbeat_lost 1',
    'svc_alert_groups{route="RT1",status="firing"} 3',
    'svc_alert_groups{route="RT1",status="acknowledged"} 0',
    'svc_alert_groups{route="RT1",status="snoozed"} 0',
    'svc_alert_groups{route="RT2",status="firing"} 0',
    'svc_alert_groups{route="RT2",status="acknowledged"} 0',
    'svc_alert_groups{route="RT2",status="snoozed"} 0',
    'svc_alert_groups{route="RTgone",status="snoozed"} 1',
    'svc_delivery_queue{destination="DS1"} 5',
    'svc_delivery_queue{destination="DS2"} 0',
    'svc_destination_broken{destination="DS1"} 1',
    'svc_destination_broken{destination="DS2"} 0',
    'svc_storm_active{route="RT1"} 0',
    'svc_storm_active{route="RT2"} 1',
    ...EVERYWHERE,
  ]);
});

test('with the lead the series go, and what is read afterwards is dropped', async () => {
  const { metrics, leadership, series } = setting(true);
  metrics.show(readings);
  leadership.set(false);
  metrics.show(readings);
  expect(await series()).toEqual(['svc_leader 0', ...EVERYWHERE]);
  leadership.set(true);
  expect(await series()).toEqual(['svc_leader 1', ...EVERYWHERE]);
});
