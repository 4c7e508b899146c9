/** Runs Alert Groups against a real database, one message and its consequences a transaction. For tests. */
import { createAlertGroup } from '../../actors/alert-group/actor.ts';
import {
  type AlertGroupMessage,
  alertGroupAddress,
  type SnapshotPart,
} from '../../actors/alert-group/messages.ts';
import { createContestedAlerts } from '../../actors/alert-group/ports.ts';
import type { DirectorySource } from '../../actors/directory.ts';
import type { AlertReport, Labels, SeverityLevel, Slot } from '../../actors/model.ts';
import { keyHash } from '../../actors/route/evaluate.ts';
import type { RecordedEffect } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Sql } from '../postgres/records.ts';
import { alertGroupWriters, alertRows, createRelatedGroups } from './alert-groups.ts';

export function createGroupEngine(options: {
  readonly sql: Sql;
  readonly directory: DirectorySource;
  readonly now: () => Micros;
}) {
  const { sql, directory, now } = options;
  const contested = createContestedAlerts();
  const definition = createAlertGroup({ directory, contested, related: createRelatedGroups(sql) });
  const writers = alertGroupWriters(contested);
  const states = new Map<string, unknown>();
  let drawn = 0;

  /** Writes records as a commit does: each writer its own types, in its order. */
  const write = (records: readonly RecordedEffect[], numbers: ReadonlyMap<string, number> = new Map()) =>
    sql.begin(async (tx) => {
      for (const writer of writers) {
        const own = records.filter(({ type }) => writer.types.includes(type));
        if (own.length > 0) await writer.write(tx, own, numbers);
      }
    });

  /** Applies a message and all that follow; nothing is kept when the write fails. Answers the reply. */
  async function deliver(groupId: PublicId, first: AlertGroupMessage): Promise<unknown> {
    const fresh = new Map<string, unknown>();
    const rows = new Map<string, ReturnType<typeof definition.emptyRows>>();
    const records: RecordedEffect[] = [];
    const numbers = new Map<string, number>();
    const waiting = [{ key: groupId as string, message: first }];
    let reply: unknown;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { key, message } = next;
      const persisted = fresh.get(key) ?? states.get(key);
      const state = persisted === undefined ? definition.start(key) : definition.restore(persisted);
      const owned = rows.get(key) ?? (await loadRows(key));
      rows.set(key, owned);
      const actor = { self: alertGroupAddress(key as PublicId), state, rows: owned };
      const prepared = await definition.prepare?.(actor, message);
      const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
      const turn = definition.receive(actor, message, { now: now(), from: null, prepared, random });
      let after = turn.state;
      if (turn.claim) {
        numbers.set(key, ++drawn);
        after = definition.numbered?.(after, drawn) ?? after;
      }
      fresh.set(key, JSON.parse(JSON.stringify(definition.persist(after))));
      records.push(...turn.records);
      for (const { to, message: sent } of turn.sends) {
        if (to.kind === definition.kind) waiting.push({ key: to.key, message: sent as AlertGroupMessage });
      }
      if (message === first) reply = turn.reply;
    }
    await write(records, numbers);
    for (const [key, persisted] of fresh) states.set(key, persisted);
    return reply;
  }

  async function loadRows(key: string) {
    const loaded = await alertRows.load(sql, [key]);
    return (
      (loaded.get(key) as ReturnType<typeof definition.emptyRows> | undefined) ?? definition.emptyRows(key)
    );
  }

  return { deliver, write, contested, loadRows };
}

export function slotOf(routeId: PublicId, groupLabels: Labels): Slot {
  return { routeId, keyHash: keyHash(groupLabels), groupLabels };
}

/** A Snapshot's part about one new group: every Alert `[fingerprint, labels]` fires since `at`. */
export function firingPart(
  at: Micros,
  slot: Slot,
  integrationId: PublicId,
  alerts: readonly (readonly [fingerprint: string, labels: Labels, level?: SeverityLevel])[],
): SnapshotPart {
  return {
    type: 'part',
    snapshotId: newPublicId('SS'),
    receivedAt: at,
    late: false,
    integrationId,
    feed: `${integrationId}.feed`,
    groupKey: '{}:{alertname="X"}',
    duplicateWindow: 45 * SECOND,
    firing: alerts.map(([fingerprint, labels, level]) => ({
      report: reportOf(fingerprint, labels, level ?? 'warning', at),
      slot,
      history: null,
    })),
    resolved: [],
    groupWideResolved: [],
    presences: [],
    hops: 0,
  };
}

export function reportOf(
  fingerprint: string,
  labels: Labels,
  severityLevel: SeverityLevel,
  startsAt: Micros,
): AlertReport {
  return {
    fingerprint,
    labels,
    annotations: { summary: `about ${fingerprint}`, runbook_url: 'https://wiki.example/rb' },
    startsAt,
    generatorUrl: 'https://prom.example/g',
    severityLevel,
    severityRaw: null,
    labelConflicts: [],
  };
}

export function resolvingPart(at: Micros, part: SnapshotPart, fingerprints: readonly string[]): SnapshotPart {
  const resolved = part.firing
    .filter(({ report }) => fingerprints.includes(report.fingerprint))
    .map(({ report }) => ({ fingerprint: report.fingerprint, startsAt: report.startsAt }));
  return { ...part, snapshotId: newPublicId('SS'), receivedAt: at, firing: [], resolved };
}
