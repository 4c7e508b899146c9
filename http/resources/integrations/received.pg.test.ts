import { beforeEach, describe, expect, test } from 'vitest';
import type { AlertGroupMessage } from '../../../actors/alert-group/messages.ts';
import type { AlertsViewQuery } from '../../../actors/alert-group/reading/readers.ts';
import { DAY, formatInstant, HOUR, MINUTE, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createAlertsView } from '../../../storage/alert-groups/alert-groups.ts';
import {
  createGroupEngine,
  firingPart,
  resolvingPart,
  slotOf,
} from '../../../storage/alert-groups/engine.fixture.ts';
import { ensurePartitions } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import { firstStart, NOW, readDirectory, stoppedClock } from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { integrationAlertOperations } from './received.ts';

const database = useDatabase();
const SENDER = 'NT000000000001' as PublicId;
/** Setting retention.alert_details_days of a new installation. */
const KEPT = 90 * DAY;

let api: OperationClient;
let engine: ReturnType<typeof createGroupEngine>;
let routeId: PublicId;
let now: number;
let groups = 0;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'timeline_entries', 'notes', 'slots', 'feeds');
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
  await insertIntegration('prod', null);
  const directory = await readDirectory(sql);
  routeId = directory.current().routes.at(-1)?.id as PublicId;
  now = NOW;
  engine = createGroupEngine({ sql, directory, now: () => now });
  const operations = integrationAlertOperations({ alerts: createAlertsView(sql) });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

async function insertIntegration(name: string, deletedAt: number | null): Promise<void> {
  await database.sql()`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at, deleted_at
    ) values (${SENDER}, 1, false, ${name}, '', '{}', 45, false, 300, ${NOW}, ${deletedAt})`;
}

type Fired = { readonly group: PublicId; readonly part: ReturnType<typeof firingPart> };

/** Fires Alerts in an Alert Group of their own. */
async function fired(at: number, ...alerts: Parameters<typeof firingPart>[3]): Promise<Fired> {
  const group = `AG${String(++groups).padStart(12, '0')}` as PublicId;
  const part = firingPart(at, slotOf(routeId, { group }), SENDER, alerts);
  now = at;
  await engine.deliver(group, part);
  return { group, part };
}

async function resolved(at: number, { group, part }: Fired): Promise<void> {
  const fingerprints = part.firing.map(({ report }) => report.fingerprint);
  now = at;
  await engine.deliver(group, resolvingPart(at, part, fingerprints) as AlertGroupMessage);
}

/** The sender's group was heard, without saying anything new. */
async function heard(at: number, { part }: Fired): Promise<void> {
  await database.sql()`
    insert into feeds (key, integration_id, group_key, last_received_at)
    values (${part.feed}, ${SENDER}, ${part.groupKey}, ${at})
    on conflict (key) do update set last_received_at = excluded.last_received_at`;
}

const list = (query = '') => api.get(`/integrations/${SENDER}/alerts${query}`);
const fingerprints = ({ body }: Answered) =>
  body.items.map(({ fingerprint }: { fingerprint: string }) => fingerprint);

function errorsOf({ status, body }: Answered) {
  const errors: readonly { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

describe('an item', () => {
  test('tells everything of a firing Alert, and when its feed was heard last', async () => {
    const one = await fired(NOW - HOUR, ['a', { alertname: 'Disk', host: 'db-1' }, 'critical']);
    await heard(NOW - MINUTE, one);
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body).toEqual({
      items: [
        {
          fingerprint: 'a',
          labels: { alertname: 'Disk', host: 'db-1' },
          annotations: { summary: 'about a', runbook_url: 'https://wiki.example/rb' },
          state: 'firing',
          resolve_reason: null,
          resolve_reason_text: null,
          starts_at: formatInstant(NOW - HOUR),
          resolved_at: null,
          last_seen_at: formatInstant(NOW - MINUTE),
          alertmanager_groups: ['{}:{alertname="X"}'],
          static_label_warnings: [],
          route: { id: routeId, name: 'Default' },
          severity_level: 'critical',
          severity_raw: null,
          alert_group: { id: one.group, number: 1 },
        },
      ],
      next_cursor: null,
    });
  });

  test('of a resolved Alert keeps why it ended and when it was listed last', async () => {
    const one = await fired(NOW - HOUR, ['a', { alertname: 'Disk' }]);
    await heard(NOW - 5 * MINUTE, one);
    await resolved(NOW - MINUTE, one);
    await heard(NOW, one);
    expect((await list()).body.items).toMatchObject([
      {
        state: 'resolved',
        resolve_reason: 'resolved',
        resolve_reason_text: null,
        resolved_at: formatInstant(NOW - MINUTE),
        last_seen_at: formatInstant(NOW - 5 * MINUTE),
      },
    ]);
  });

  test('names labels that Static labels met, and a severity that is not mapped', async () => {
    await fired(NOW - HOUR, ['a', { alertname: 'Disk' }]);
    await database.sql()`update group_alerts set label_conflicts = '{cluster}', severity_raw = 'page'`;
    expect((await list()).body.items).toMatchObject([
      { static_label_warnings: ['cluster'], severity_raw: 'page' },
    ]);
  });

  test('is the last firing of an Alert that fired in several groups', async () => {
    const first = await fired(NOW - 3 * HOUR, ['a', { alertname: 'Disk' }]);
    await resolved(NOW - 2 * HOUR, first);
    const second = await fired(NOW - HOUR, ['a', { alertname: 'Disk' }]);
    const viewed = async () =>
      (await list()).body.items.map((item: { alert_group: { id: string }; state: string }) => [
        item.alert_group.id,
        item.state,
      ]);
    expect(await viewed()).toEqual([[second.group, 'firing']]);
    await resolved(NOW - MINUTE, second);
    expect(await viewed()).toEqual([[second.group, 'resolved']]);
  });
});

describe('filters', () => {
  beforeEach(async () => {
    await fired(NOW - 4 * HOUR, ['a', { alertname: 'Disk', team: 'web' }]);
    await fired(NOW - 3 * HOUR, ['b', { alertname: 'Disk', team: 'Database' }]);
    await resolved(NOW - HOUR, await fired(NOW - 2 * HOUR, ['c', { alertname: 'Down' }]));
  });

  const by = (matcher: string) => `?label=${encodeURIComponent(matcher)}`;

  test.each([
    ['nothing', '', ['c', 'b', 'a']],
    ['firing', '?state=firing', ['b', 'a']],
    ['resolved', '?state=resolved', ['c']],
    ['a label', by('team="web"'), ['a']],
    ['a label that is not there', by('team=""'), ['c']],
    ['an expression over the whole value', by('team=~"w.*|Data"'), ['a']],
    ['several together', `${by('alertname="Disk"')}&label=${encodeURIComponent('team!="web"')}`, ['b']],
    ['text of a value in any case', '?q=dATA', ['b']],
    ['the name of a label is no text of it', '?q=team', []],
    ['text of nothing', '?q=%20', ['c', 'b', 'a']],
    ['oldest seen first', '?sort=last_seen_at', ['a', 'b', 'c']],
    ['newest start first', '?sort=-starts_at', ['c', 'b', 'a']],
    ['oldest start first', '?sort=starts_at', ['a', 'b', 'c']],
  ])('%s', async (_, query, expected) => {
    expect(fingerprints(await list(query))).toEqual(expected);
  });

  test.each([
    ['?state=gone', [400, 'invalid_format /query/state']],
    [`${by('team="a"')}&label=team`, [400, 'invalid_format /query/label/1']],
    [by('team=~"("'), [400, 'invalid_regex /query/label/0']],
    ['?sort=name', [400, 'invalid_format /query/sort']],
    [`?q=${'x'.repeat(201)}`, [400, 'too_long /query/q']],
    ['?limit=501', [400, 'out_of_range /query/limit']],
    ['?cursor=abc', [400, 'invalid_cursor /query/cursor']],
  ])('refuses %s', async (query, expected) => {
    expect(errorsOf(await list(query))).toEqual(expected);
  });
});

describe('pages', () => {
  const everything = async (query: string, meanwhile: () => Promise<unknown> = async () => undefined) => {
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Answered = await list(`${query}&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      found.push(...fingerprints(page));
      cursor = page.body.next_cursor;
      await meanwhile();
    } while (cursor !== null);
    return found;
  };

  test.each(['last_seen_at', '-last_seen_at', 'starts_at', '-starts_at'])(
    'sorted by %s hold each Alert once, firing and resolved among each other',
    async (sort) => {
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      for (const [index, name] of names.entries()) {
        // Two of each time, of which one ended.
        const one = await fired(NOW - (10 - Math.floor(index / 2)) * HOUR, [name, { alertname: 'X', name }]);
        if (index % 2 === 1) await resolved(NOW - HOUR, one);
      }
      const inOrder = await everything(`?sort=${sort}`);
      expect(inOrder).toEqual(sort.startsWith('-') ? [...names].reverse() : names);
    },
  );

  test('are not shifted by Alerts that come meanwhile', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await fired(NOW - HOUR, [name, { name }]);
    let next = 0;
    const seen = await everything('?sort=-starts_at', () => fired(NOW, [`z${next++}`, { name: 'z' }]));
    expect(seen).toEqual(['e', 'd', 'c', 'b', 'a']);
  });

  const insertMany = async (count: number, state: 'firing' | 'resolved') => {
    const { group } = await fired(NOW - HOUR, ['a', { alertname: 'X' }]);
    const [resolvedAt, by] = state === 'resolved' ? [NOW, 'gone'] : [null, null];
    await database.sql()`
      insert into group_alerts (
        group_id, integration_id, fingerprint, position, state, route_id, labels, annotations, severity_level,
        label_conflicts, starts_at, last_seen_at, resolved_at, resolved_by, feeds, sender_groups
      )
      select
        ${group}, ${SENDER}, 'f' || lpad(n::text, 6, '0'), n, ${state}, ${routeId},
        jsonb_build_object('n', (n % 6000)::text), '{}', 'info', '{}', ${NOW - HOUR}, ${NOW - HOUR}, ${resolvedAt}::bigint,
        ${by}, '{}', '{}'
      from generate_series(1, ${count}::int) as n`;
  };

  test('look for what fires once, however much a filter drops', async () => {
    await insertMany(3_000, 'firing');
    const { options } = database.sql();
    const { debug } = options;
    let looks = 0;
    options.debug = (_, text) => {
      if (text.includes('last_received_at')) looks += 1;
    };
    const found = await list(`?label=${encodeURIComponent('n="7"')}`);
    options.debug = debug;
    expect(fingerprints(found)).toEqual(['f000007']);
    expect(looks).toBe(1);
  });

  test('end short when a filter takes long, and the next one goes on behind', async () => {
    await insertMany(40, 'resolved');
    let now = 0;
    const slow = createAlertsView(database.sql(), () => (now += SECOND / 10));
    const query = {
      integrationId: SENDER,
      state: null,
      matchers: [{ label: 'n', op: '=~' as const, value: '[0-9]x' }],
      text: null,
      sort: 'starts_at' as const,
      descending: false,
      limit: 50,
    };
    const first = await slow.list({ ...query, after: null }, NOW);
    expect(first.items).toEqual([]);
    expect(first.next).not.toBeNull();
    const second = await slow.list({ ...query, after: first.next as AlertsViewQuery['after'] }, NOW);
    expect(second.next?.[1]).not.toBe(first.next?.[1]);
  });

  test('are found however few of very many Alerts match', async () => {
    await insertMany(12_000, 'resolved');
    const rare = `?label=${encodeURIComponent('n="3"')}`;
    const empty = await list(rare);
    expect([fingerprints(empty).length, empty.body.next_cursor !== null]).toEqual([0, true]);
    expect(await everything(rare)).toEqual(['f006003', 'f000003']);
  });

  test('a cursor belongs to its Integration, sort and filters', async () => {
    for (const name of ['a', 'b']) await fired(NOW - HOUR, [name, { name }]);
    const { body } = await list('?limit=1');
    for (const other of ['sort=starts_at', 'state=firing', 'q=a']) {
      expect(errorsOf(await list(`?${other}&limit=1&cursor=${body.next_cursor}`))).toEqual([
        400,
        'invalid_cursor /query/cursor',
      ]);
    }
  });
});

describe('what is there', () => {
  test('Alerts that resolved longer ago than their details are kept are not', async () => {
    for (const name of ['kept', 'past', 'fires on']) {
      const one = await fired(NOW - HOUR, [name, { name }]);
      if (name !== 'fires on') await resolved(NOW - MINUTE, one);
    }
    const sql = database.sql();
    await sql`update group_alerts set starts_at = ${NOW - 2 * KEPT}, last_seen_at = ${NOW - KEPT - HOUR}`;
    await sql`update group_alerts set resolved_at = ${NOW - KEPT} where fingerprint = 'kept'`;
    await sql`update group_alerts set resolved_at = ${NOW - KEPT - 1} where fingerprint = 'past'`;
    expect(fingerprints(await list())).toEqual(['kept', 'fires on']);
  });

  test('Alerts of a deleted Integration stay readable by its id', async () => {
    await fired(NOW - HOUR, ['a', { alertname: 'X' }]);
    await database.sql()`update integrations set deleted_at = ${NOW}, name = 'gone' where id = ${SENDER}`;
    const directory = await readDirectory(database.sql());
    const operations = integrationAlertOperations({ alerts: createAlertsView(database.sql()) });
    const client = operationClient({ operations, directory, clock: stoppedClock });
    expect(fingerprints(await client.get(`/integrations/${SENDER}/alerts`))).toEqual(['a']);
  });

  test('an unknown Integration is 404, one of nobody else has none', async () => {
    expect((await api.get('/integrations/NT00000000ZZZZ/alerts')).status).toBe(404);
    expect((await list()).body).toEqual({ items: [], next_cursor: null });
    expect((await api.as('viewer').get(`/integrations/${SENDER}/alerts`)).status).toBe(200);
  });
});
