/** Everything that renders templates for the API, on a database, with senders that have sent what a test says. */
import { Registry } from 'prom-client';
import type { AlertGroupMessage } from '../actors/alert-group/messages.ts';
import type { Labels } from '../actors/model.ts';
import { alertGroupOperations } from '../http/resources/alert-groups/alert-groups.ts';
import { linkRuleOperations } from '../http/resources/links/link-rules.ts';
import { lookupTableOperations } from '../http/resources/links/lookup-tables.ts';
import { templatePreviewOperations } from '../http/resources/links/template-previews.ts';
import { routeOperations } from '../http/resources/routes/routes.ts';
import { DAY, MINUTE } from '../runtime/clock.ts';
import { createTemplateWork } from '../runtime/compose/templates.ts';
import type { Log } from '../runtime/log.ts';
import { newPublicId, type PublicId } from '../runtime/public-id.ts';
import { createGroupReader } from '../storage/alert-groups/alert-groups.ts';
import { createGroupEngine, firingPart, slotOf } from '../storage/alert-groups/engine.fixture.ts';
import type { StoredDirectory } from '../storage/configuration/directory.ts';
import { createLinkRuleStore } from '../storage/configuration/link-rules.ts';
import { createLinkSource, type StoredLinks } from '../storage/configuration/link-source.ts';
import { createLookupTableStore } from '../storage/configuration/lookup-tables.ts';
import { createRouteStore } from '../storage/configuration/routes.ts';
import { ensurePartitions } from '../storage/postgres/partitions.ts';
import type { Sql } from '../storage/postgres/records.ts';
import { PARTITIONED_TABLES } from '../storage/postgres/retention.ts';
import { newSnapshot } from '../storage/snapshots/snapshots.fixture.ts';
import {
  firstStart,
  internalAlerts,
  NOW,
  readDirectory,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from './configuration.ts';
import { empty } from './emptied.ts';
import { type OperationClient, operationClient } from './operation-client.ts';
import { makeSnapshotPartitions } from './snapshot-partitions.ts';

export interface TemplateWorld {
  readonly api: OperationClient;
  readonly audit: ReturnType<typeof recordedAudit>;
  readonly directory: StoredDirectory;
  readonly links: StoredLinks;
  readonly registry: Registry;
  /** Events with their fields. */
  readonly logged: readonly unknown[];
  /** The Default route. */
  readonly routeId: PublicId;
  /** A Stored Snapshot with firing Alerts, a minute older than the one before. */
  received(...alerts: readonly Labels[]): Promise<PublicId>;
  /** An Alert Group of firing Alerts on the Default route. */
  fired(...alerts: readonly Labels[]): Promise<PublicId>;
}

const SENDER = 'NT000000000001' as PublicId;

export async function templateWorld(sql: Sql): Promise<TemplateWorld> {
  await firstStart(sql);
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
  await makeSnapshotPartitions(sql, NOW - DAY, NOW);
  await empty(
    sql,
    'stored_snapshots',
    'snapshot_queue',
    'snapshot_bodies',
    'slots',
    'feeds',
    'timeline_entries',
  );
  await sql`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    values (${SENDER}, 1, false, 'lab', '', '{"env": "lab"}', 45, false, 300, ${NOW})`;
  // The clock stands still: what the first start made is older than what a test makes.
  await sql`update link_rules set created_at = created_at - 1`;
  const directory = await readDirectory(sql);
  const links = createLinkSource(sql, stoppedClock);
  await links.reload();
  const audit = recordedAudit();
  const registry = new Registry();
  const logged: unknown[] = [];
  const log: Log = (event, fields) => void logged.push([event, fields]);
  const publicUrl = 'https://tocsin.test';
  const work = createTemplateWork({ sql, links, registry, publicUrl, version: '1.2.3', log });
  const routeId = directory.current().routes.at(-1)?.id as PublicId;
  const engine = createGroupEngine({ sql, directory, now: () => NOW });
  const { appendAudit } = audit;
  const operations = [
    ...linkRuleOperations({
      store: createLinkRuleStore(sql, appendAudit),
      checkTemplate: work.checkLink,
      links,
    }),
    ...lookupTableOperations({ store: createLookupTableStore(sql, appendAudit), links }),
    ...templatePreviewOperations({ preview: work.preview }),
    ...routeOperations({
      store: createRouteStore({ sql, appendAudit, internalAlerts }),
      directory,
      hints: recordedHints(),
      poke: () => undefined,
      checkTemplates: work.checkRoute,
    }),
    ...alertGroupOperations({
      reader: createGroupReader(sql),
      links: work.groupLinks,
      system: { ask: (to, message) => engine.deliver(to.key as PublicId, message as AlertGroupMessage) },
      log: () => undefined,
    }),
  ];
  let sent = 0;
  return {
    api: operationClient({ operations, directory, clock: stoppedClock }),
    audit,
    directory,
    links,
    registry,
    logged,
    routeId,
    async received(...alerts) {
      const at = NOW - ++sent * MINUTE;
      const { id, body, bodyHash } = newSnapshot({ body: bodyOf(alerts, sent) });
      const hash = Buffer.from(bodyHash, 'hex');
      await sql`
        insert into snapshot_bodies (day, hash, body) values (${Math.floor(at / DAY)}, ${hash}, ${body})`;
      await sql`
        insert into stored_snapshots (
          received_at, seq, id, integration_id, body_hash, size_bytes, content_type, processed_at
        )
        values (${at}, ${1_000 - sent}, ${id}, ${SENDER}, ${hash}, ${body.length}, 'application/json', ${at})`;
      return id;
    },
    async fired(...alerts) {
      const id = newPublicId('AG');
      const slot = slotOf(routeId, { name: id });
      const firing = alerts.map((labels, index) => [`${id}-${index}`, labels] as const);
      await engine.deliver(id, firingPart(NOW, slot, SENDER, firing));
      return id;
    },
  };
}

function bodyOf(alerts: readonly Labels[], sent: number): Buffer {
  const told = alerts.map((labels, index) => ({
    status: 'firing',
    labels,
    annotations: { summary: `about ${labels.alertname}` },
    startsAt: '2026-09-21T00:00:00Z',
    fingerprint: `${sent}-${index}`,
    generatorURL: 'https://prom.example/graph?g0.expr=up',
  }));
  return Buffer.from(
    JSON.stringify({ groupKey: `G${sent}`, status: 'firing', truncatedAlerts: 0, alerts: told }),
  );
}
