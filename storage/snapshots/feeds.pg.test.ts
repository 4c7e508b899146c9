import { describe, expect, it } from 'vitest';
import type { FeedHeard, PresencesChanged } from '../../actors/feed/effects.ts';
import type { Places } from '../../actors/feed/ports.ts';
import type { Presence } from '../../actors/feed/rows.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createPlaces, feedPresences, feedRows, heardFeeds } from './feeds.ts';

const database = useDatabase();

const FEED = 'NT0000000000AB.abcdefghijklmnopqrstuvwxyz';
const NO_NUMBERS = new Map<string, number>();

const presence = (fingerprint: string, given: Partial<Presence> = {}): Presence => ({
  fingerprint,
  groupId: 'AG0000000000AB' as PublicId,
  state: 'listed',
  since: 1_000,
  listedAt: null,
  startsAt: -62_135_596_800_000_000,
  digest: 'digest',
  ...given,
});

async function change(feed: string, changes: Partial<PresencesChanged>[]): Promise<void> {
  const effects = changes.map((each) => ({
    type: 'feed.presences' as const,
    feed,
    saved: [],
    removed: [],
    ...each,
  }));
  await database.sql().begin((tx) => feedPresences.write(tx, effects, NO_NUMBERS));
}

describe('presences', () => {
  it('come back as they were written', async () => {
    const odd = presence('finger "print" \\ ü,{}', { state: 'missed', listedAt: 900, digest: '' });
    await change(FEED, [{ saved: [presence('a'), odd] }]);
    const loaded = await feedRows.load(database.sql(), [FEED]);
    expect(loaded.get(FEED)).toEqual(
      new Map([
        ['a', presence('a')],
        [odd.fingerprint, odd],
      ]),
    );
  });

  it('of one batch count in the order in which they changed', async () => {
    const feed = `${FEED}2`;
    await change(feed, [
      { saved: [presence('a'), presence('b')] },
      { saved: [presence('a', { state: 'missed' })], removed: ['b'] },
      { saved: [presence('c')] },
      { removed: ['c'] },
    ]);
    const loaded = await feedRows.load(database.sql(), [feed]);
    expect(loaded.get(feed)).toEqual(new Map([['a', presence('a', { state: 'missed' })]]));
  });
});

describe('feeds', () => {
  it('remember when they were heard last', async () => {
    const heard = (receivedAt: number, first: boolean): FeedHeard => ({
      type: 'feed.heard',
      feed: FEED,
      integrationId: 'NT0000000000AB' as PublicId,
      groupKey: '{}:{alertname="Disk \\"x\\""}',
      receivedAt,
      first,
      routePath: first ? '{}' : null,
    });
    const write = (effects: FeedHeard[]) =>
      database.sql().begin((tx) => heardFeeds.write(tx, effects, NO_NUMBERS));
    await write([heard(10, true), heard(30, false), heard(20, false)]);
    await write([heard(25, true)]);
    const rows = await database.sql()`select group_key, last_received_at from feeds`;
    expect([...rows]).toEqual([{ group_key: '{}:{alertname="Disk \\"x\\""}', last_received_at: 30 }]);
  });
});

const SENDER = newPublicId('NT');

describe('slots', () => {
  const routeId = newPublicId('RT');
  const slot = (keyHash: string) => ({ routeId, keyHash });
  /** Alerts that no group knows, each with the Slot of that name. */
  const ensure = async (places: Places, ...keys: string[]) => {
    const asked = keys.map((key, place) => ({ fingerprint: `new ${place}`, slot: slot(key) }));
    const { targets, fresh } = await places.find(SENDER, asked);
    return { ids: asked.map(({ fingerprint }) => targets.get(fingerprint)), fresh: [...fresh] };
  };

  it('name one Alert Group each, whoever asks first', async () => {
    const one = createPlaces(database.sql());
    const other = createPlaces(database.sql());
    const [left, right] = await Promise.all([ensure(one, 'a', 'b', 'a'), ensure(other, 'b', 'a')]);
    expect(left.ids[0]).toBe(left.ids[2]);
    expect(left.ids[0]).not.toBe(left.ids[1]);
    expect(right.ids).toEqual([left.ids[1], left.ids[0]]);
    // What is asked at the same moment is looked up at once; everybody gets what they asked for.
    const [first, second, none] = await Promise.all([
      ensure(one, 'c', 'a'),
      ensure(one, 'd', 'c'),
      ensure(one),
    ]);
    expect(first.ids[1]).toBe(left.ids[0]);
    expect(second.ids[1]).toBe(first.ids[0]);
    expect(none.ids).toEqual([]);
    expect(await database.sql()`select key_hash from slots order by key_hash`).toHaveLength(4);
  });

  it('say which Alert Groups they have named only now', async () => {
    const places = createPlaces(database.sql());
    const first = await ensure(places, 'e');
    expect(first.fresh).toEqual(first.ids);
    const later = await ensure(places, 'e', 'f');
    expect(later.fresh).toEqual([later.ids[1]]);
  });

  it('and homes of many Snapshots are one statement', async () => {
    const sql = database.sql();
    const places = createPlaces(sql);
    const { debug } = sql.options;
    let statements = 0;
    sql.options.debug = () => {
      statements++;
    };
    await Promise.all(['g', 'h', 'i', 'g'].map((key) => ensure(places, key)));
    sql.options.debug = debug;
    expect(statements).toBe(1);
  });

  it('of several processes at the same moment are read again, and each Slot has one group', async () => {
    const keys = Array.from({ length: 20 }, (_, n) => `many ${n}`);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ensure(createPlaces(database.sql()), ...keys)),
    );
    for (const { ids } of answers) expect(ids).toEqual(answers[0]?.ids);
    expect(answers.flatMap(({ fresh }) => fresh)).toHaveLength(20);
  });
});

describe('homes', () => {
  const integrationId = newPublicId('NT');

  async function storeGroup(id: string, number: number, given: Record<string, unknown> = {}): Promise<void> {
    const group = {
      id,
      number,
      title: 't',
      status: 'firing',
      route_id: 'RT',
      original_route_id: 'RT',
      key_hash: `k${number}`,
      group_labels: {},
      common_labels: {},
      common_annotations: {},
      integration_ids: [],
      severity_level: 'info',
      started_at: 1,
      last_changed_at: 1,
      reopen_count: 0,
      firing_alert_count: 1,
      resolved_alert_count: 0,
      unclaimed: false,
      reminder_pending: false,
      delivery_problem: false,
      in_grace: false,
      details_removed: false,
      ...given,
    };
    const sql = database.sql();
    const columns = sql(Object.keys(group));
    await sql`
      insert into alert_groups (${columns})
      select ${columns} from jsonb_populate_record(null::alert_groups, ${JSON.stringify(group)}::text::jsonb)`;
  }

  async function storeAlert(
    group: string,
    fingerprint: string,
    given: Record<string, unknown>,
  ): Promise<void> {
    const alert = {
      group_id: group,
      integration_id: integrationId,
      fingerprint,
      position: 0,
      state: 'firing',
      route_id: 'RT',
      labels: {},
      annotations: {},
      severity_level: 'info',
      label_conflicts: [],
      starts_at: 5,
      last_seen_at: 6,
      feeds: {},
      sender_groups: [],
      ...given,
    };
    const sql = database.sql();
    const columns = sql(Object.keys(alert));
    await sql`
      insert into group_alerts (${columns})
      select ${columns} from jsonb_populate_record(null::group_alerts, ${JSON.stringify(alert)}::text::jsonb)`;
  }

  const resolved = (at: number) => ({
    state: 'resolved',
    resolved_at: at,
    resolved_by: 'own_entry',
    ended_start: 5,
  });

  it('are where Alerts fire, else where they were resolved last', async () => {
    const gone = { status: 'resolved', resolved_at: 20, resolved_by: 'system', firing_alert_count: 0 };
    await storeGroup('AG-open', 1);
    await storeGroup('AG-closed', 2, gone);
    await storeGroup('AG-older', 3, gone);
    await storeGroup('AG-moved', 4, { moved_from_route_id: 'RT' });
    await storeAlert('AG-open', 'fires', {});
    await storeAlert('AG-closed', 'fires', resolved(19));
    await storeAlert('AG-open', 'resolved in an open group', resolved(10));
    await storeAlert('AG-closed', 'resolved', resolved(20));
    await storeAlert('AG-older', 'resolved', resolved(12));
    await storeAlert('AG-moved', 'resolved in a moved group', resolved(11));
    await storeAlert('AG-closed', 'tail', {});
    const asked = [
      'fires',
      'resolved in an open group',
      'resolved',
      'resolved in a moved group',
      'tail',
      'never heard of',
    ].map((fingerprint) => ({ fingerprint, slot: { routeId: newPublicId('RT'), keyHash: fingerprint } }));
    const { homes, targets } = await createPlaces(database.sql()).find(integrationId, asked);
    expect([...targets.keys()]).toEqual(['resolved', 'resolved in a moved group', 'never heard of']);
    const seen = [...homes].map(([fingerprint, { groupId, live }]) => [fingerprint, [groupId, live]]);
    expect(Object.fromEntries(seen)).toEqual({
      fires: ['AG-open', true],
      tail: ['AG-closed', true],
      resolved: ['AG-closed', false],
      'resolved in an open group': ['AG-open', true],
      'resolved in a moved group': ['AG-moved', false],
    });
    expect(homes.get('resolved')?.history).toEqual({
      state: 'resolved',
      startsAt: 5,
      endedStart: 5,
      resolvedAt: 20,
      resolvedBy: 'own_entry',
    });
  });

  it('of several Integrations are found at once, each its own', async () => {
    const other = newPublicId('NT');
    await storeGroup('AG-one', 11);
    await storeGroup('AG-other', 12);
    await storeAlert('AG-one', 'same', {});
    await storeAlert('AG-other', 'same', { integration_id: other, starts_at: 7 });
    const places = createPlaces(database.sql());
    const asked = (...names: string[]) => names.map((fingerprint) => ({ fingerprint, slot: null }));
    const [here, there, nobody] = await Promise.all([
      places.find(integrationId, asked('same', 'a"b,c')),
      places.find(other, asked('same')),
      places.find(newPublicId('NT'), asked('same')),
    ]);
    const found = [here, there, nobody].map(({ homes }) =>
      [...homes].map(([fingerprint, { groupId, history }]) => [fingerprint, groupId, history.startsAt]),
    );
    expect(found).toEqual([[['same', 'AG-one', 5]], [['same', 'AG-other', 7]], []]);
  });
});
