/** What is done again and again while plans are recorded: by a service that runs, and on queues that it leaves alone. */
import { expect } from 'vitest';
import { HOUR, MINUTE, type Micros } from '../../runtime/clock.ts';
import { createActorStore } from '../../storage/engine/actor-store.ts';
import { createWaitingWork } from '../../storage/engine/backlog.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { createSnapshotQueue } from '../../storage/snapshots/queue.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import type { Json } from '../harness/api.ts';
import { walkApi } from '../harness/sweep.ts';
import { until } from '../harness/until.ts';
import { Scenario } from '../scenarios/scenario.ts';
import type { World } from '../scenarios/world.ts';
import type { Places } from './fill.ts';

const WIDE = { limit: 1000, per_seconds: 1 };
const COMMANDS: readonly (readonly [path: string, body?: Json])[] = [
  ['acknowledge'],
  ['notes', { body: 'seen' }],
  ['snooze', { no_end: true }],
  ['unsnooze'],
  ['resolve', {}],
];
const NEW_ALERTS = 4;
/** So many of a kind are opened. */
const OBJECTS = 3;

export class Rounds {
  readonly scenario: Scenario;
  readonly bridge: ReferenceBridge;
  readonly places: Places;
  #alerts = 0;

  private constructor(scenario: Scenario, bridge: ReferenceBridge, places: Places) {
    this.scenario = scenario;
    this.bridge = bridge;
    this.places = places;
  }

  /** A Route with a webhook and the channel of a bridge, and its first Alert Group. */
  static async begin(world: World): Promise<Rounds> {
    const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
    // It is not polled: business time makes leaps.
    const bridge = await startReferenceBridge({ push: { url: 'http://127.0.0.1:9/', secret } });
    const connection = await world.admin.post('/connections', {
      ...{ type: 'bridge', name: 'bridge', base_url: bridge.url, bot_token: bridge.token },
      ...{ event_mode: 'push', push_secret: secret, proxy: { enabled: false }, limiter: WIDE },
    });
    const { destination } = await world.admin.post('/destinations', {
      ...{ type: 'bridge', name: 'channel', connection_id: connection.id },
      ...{ channel_id: 'alerts/prod', limiter: WIDE },
    });
    const scenario = await Scenario.open(world);
    const both = [scenario.destination.id, destination.id];
    await scenario.edit((route) => ({ ...route, destination_ids: both }));
    scenario.sender().call('First', { alertname: 'First', cluster: 'a', severity: 'warning' });
    await scenario.play('t1s I/first: +First');
    const { id: model } = await scenario.group(1);
    const integration = scenario.sender().id;
    return new Rounds(scenario, bridge, {
      ...{ integration, model, connection: connection.id, destination: destination.id },
    });
  }

  /** Snapshots, Commands, every read of the API, and what runs by the hour. @param groups open ones that nobody touched yet */
  async round(groups: readonly string[]): Promise<void> {
    const { world, admin } = this.scenario;
    await this.#post();
    const { items } = await admin.get('/alert-groups?status=firing&limit=3&sort=started_at');
    const open = new Set<string>([...items.map(({ id }: Json) => id), ...groups]);
    for (const id of open) {
      for (const [path, body] of COMMANDS) {
        const { status } = await admin.call('POST', `/alert-groups/${id}/${path}`, body);
        expect(`${path} ${status}`).toMatch(/ 20[01]$/);
      }
    }
    await world.settle();
    await walkApi(admin, () => undefined, OBJECTS);
    for (const path of this.#lists())
      expect(`${path} ${(await admin.call('GET', path)).status}`).toMatch(/ 200$/);
    const finished = () => world.logged.filter(({ event }) => event === 'retention_finished').length;
    const before = finished();
    await world.passTo((Math.floor(world.clock.now() / HOUR) + 1) * HOUR + MINUTE);
    await until('the end of what runs by the hour', async () => finished() > before);
  }

  /** Lists with filters, in each order. */
  #lists(): readonly string[] {
    const { integration } = this.places;
    const groups = [
      ...['sort=-last_changed_at', 'status=resolved', 'number=100500'],
      ...[
        'route=RT000000000007',
        'integration=NT000000000003',
        'severity=critical',
        'unclaimed=true',
        'reopened=true',
      ],
      ...['delivery_problem=true', 'snoozed_no_end=true', 'resolved_by=user&status=resolved', 'q=host-97'],
      ...[
        'label=cluster%3D%22cluster-3%22',
        'label=host%3D%22host-97%22&status=resolved',
        'q=host-97&status=resolved',
      ],
    ];
    const audits = [
      '',
      'actor=SR000000000003',
      'action=alert_group.acknowledge',
      'resource_type=alert_group',
    ];
    return [
      ...groups.map((filter) => `/alert-groups?${filter}`),
      ...audits.map((filter) => `/audit-log?${filter}`),
      ...['', '&state=failed', '&state=processed'].map(
        (filter) => `/stored-snapshots?integration=${integration}${filter}`,
      ),
      ...['firing', 'resolved'].map((state) => `/integrations/NT000000000003/alerts?state=${state}`),
      '/alert-group-statistics?group_by=route&from=2026-09-20T00:00:00Z&to=2026-09-21T00:00:00Z',
    ];
  }

  async #post(): Promise<void> {
    const { world } = this.scenario;
    const sender = this.scenario.sender();
    for (let n = 0; n < NEW_ALERTS; n++) {
      const name = `New${this.#alerts++}`;
      sender.call(name, { alertname: name, cluster: 'a', severity: 'warning' });
      const changes = n % 2 === 0 ? [[`+${name}`], [`-${name}`]] : [[`+${name}`]];
      for (const change of changes)
        expect(await sender.post(sender.snapshot(`g${n}`, change, world.clock.now()))).toBe(202);
    }
    await world.settle();
  }
}

const SHARDS = Array.from({ length: 256 }, (_, shard) => shard);

/** What the engine and the intake ask of the queues. @param seq a Snapshot that may wait */
export async function readQueues(sql: Sql, now: Micros, seq: number): Promise<void> {
  const clock = { now: () => now, after: () => ({ cancel: () => undefined }) };
  const store = createActorStore({ ...{ sql, clock, writers: [], rowLoaders: [], consumers: [] } });
  await store.inbox(SHARDS, [1, 2, 3], 100, ['feed/NT2']);
  await store.inbox([7], [], 100, []);
  await store.due(SHARDS, now, 100);
  await store.nextWake(SHARDS);
  await store.takeReplies('nobody');
  const queue = createSnapshotQueue(sql);
  await queue.page(seq, 100);
  await queue.pageOf([{ shard: 7, after: 0, upTo: null }], 100);
  await queue.sort([{ seq, shard: 8 }]);
  await queue.beginAttempt(seq);
  await queue.forgetAttempt(seq);
  await queue.fail([{ seq, at: now, error: 'body: not JSON' }]);
  const waiting = createWaitingWork(sql);
  await waiting.newestSnapshot();
  await waiting.hasSnapshots(seq);
  await waiting.hasMessages(SHARDS, (await waiting.newestMessage(SHARDS)) ?? 0);
}
