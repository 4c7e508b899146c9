import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { cellOf } from '../../../actors/links/configuration.ts';
import { createLinkSource, type StoredLinks } from '../../../storage/configuration/link-source.ts';
import { createLookupTableStore } from '../../../storage/configuration/lookup-tables.ts';
import { firstStart, recordedAudit, stoppedClock } from '../../../test/configuration.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { lookupTableOperations } from './lookup-tables.ts';

const database = useDatabase();
let api: OperationClient;
let audit: ReturnType<typeof recordedAudit>;
let links: StoredLinks;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  audit = recordedAudit();
  links = createLinkSource(sql, stoppedClock);
  await links.reload();
  const store = createLookupTableStore(sql, audit.appendAudit);
  const directory = { current: () => undefined as never, reload: async () => undefined };
  api = operationClient({
    operations: lookupTableOperations({ store, links }),
    directory,
    clock: stoppedClock,
  });
});

const TEAMS = {
  name: 'teams',
  columns: ['chat', 'phone'],
  entries: [
    { key: 'web', values: { chat: '#web', phone: '' } },
    { key: 'core', values: { phone: '112', chat: '#core' } },
  ],
};

async function created(changes: object = {}): Promise<Answered> {
  const answer = await api.post('/lookup-tables', { ...TEAMS, ...changes });
  expect(answer.status).toBe(201);
  return answer;
}

const saved = (id: string, change: object, ifMatch = '*') =>
  api.put(`/lookup-tables/${id}`, { ...TEAMS, ...change }, ifMatch);

function errorsOf({ status, body }: Answered) {
  const errors: { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

async function readers(): Promise<{ id: string; name: string }[]> {
  return database.sql()<{ id: string; name: string }[]>`
    update link_rules set reads_tables = '{teams}' returning id, name`;
}

describe('creating', () => {
  test('answers the table with its rows by key', async () => {
    const { body, headers } = await created({ description: 'Who to call' });
    expect(body).toMatchObject({
      name: 'teams',
      description: 'Who to call',
      columns: ['chat', 'phone'],
      entries: [TEAMS.entries[1], TEAMS.entries[0]],
      etag: '"1"',
    });
    expect(headers).toMatchObject({ etag: '"1"', location: `/api/v1/lookup-tables/${body.id}` });
    expect((await api.get(`/lookup-tables/${body.id}`)).body).toEqual(body);
  });

  test('counts for the next render', async () => {
    await created();
    expect(cellOf(links.current(), 'teams', 'core', 'phone')).toBe('112');
  });

  test('is in the Audit log with its rows', async () => {
    await created();
    expect(audit.entries).toMatchObject([
      {
        action: 'lookup_table.created',
        resourceName: 'teams',
        diff: [
          { pointer: '/columns', after: ['chat', 'phone'] },
          { pointer: '/description' },
          { pointer: '/entries', after: [TEAMS.entries[1], TEAMS.entries[0]] },
          { pointer: '/name', after: 'teams' },
        ],
        details: { changed_entries: 2 },
      },
    ]);
  });

  test('takes columns and keys of any name', async () => {
    const values = JSON.parse('{"__proto__": "a", "constructor": "b"}');
    const entries = [{ key: '__proto__', values }];
    const { body } = await created({ columns: ['__proto__', 'constructor'], entries });
    expect(JSON.stringify(body.entries)).toBe(JSON.stringify(entries));
    expect(cellOf(links.current(), 'teams', '__proto__', 'constructor')).toBe('b');
    expect(cellOf(links.current(), 'teams', 'toString', 'constructor')).toBe('');
  });

  test('takes 10,000 rows', async () => {
    const entries = Array.from({ length: 10_000 }, (_, n) => ({ key: `k${n}`, values: { chat: `c${n}` } }));
    const { body } = await created({ columns: ['chat'], entries });
    expect(body.entries).toHaveLength(10_000);
    expect(cellOf(links.current(), 'teams', 'k9999', 'chat')).toBe('c9999');
    expect(audit.entries[0]?.details).toEqual({ changed_entries: 10_000 });
    expect(JSON.stringify(audit.entries).length).toBeLessThan(10_000);
  });
});

const tooMany = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`);
const row = (key: string, values: object = { chat: '', phone: '' }) => ({ key, values });

describe('what is refused', () => {
  test.each<[what: string, change: object, refusal: readonly unknown[]]>([
    ['no name', { name: undefined }, [400, 'required /name']],
    ['an empty name', { name: '' }, [400, 'too_short /name']],
    ['a blank name', { name: ' ' }, [422, 'required /name']],
    ['a long name', { name: 'x'.repeat(201) }, [422, 'too_long /name']],
    ['a long description', { description: 'x'.repeat(2_001) }, [400, 'too_long /description']],
    ['no columns', { columns: [] }, [400, 'too_short /columns']],
    ['51 columns', { columns: tooMany(51), entries: [] }, [400, 'too_long /columns']],
    ['a column without a name', { columns: ['a', ''], entries: [] }, [422, 'required /columns/1']],
    ['a long name of a column', { columns: ['x'.repeat(201)], entries: [] }, [422, 'too_long /columns/0']],
    ['a column twice', { columns: ['a', 'b', 'a'], entries: [] }, [422, 'duplicate /columns/2']],
    ['no entries', { entries: undefined }, [400, 'required /entries']],
    ['10,001 rows', { entries: tooMany(10_001).map((key) => row(key)) }, [400, 'too_long /entries']],
    ['an empty key', { entries: [row('')] }, [400, 'too_short /entries/0/key']],
    ['a long key', { entries: [row('x'.repeat(4_097))] }, [400, 'too_long /entries/0/key']],
    ['a key twice', { entries: [row('a'), row('b'), row('a')] }, [422, 'duplicate /entries/2/key']],
    [
      'a long cell',
      { entries: [row('a', { chat: 'x'.repeat(4_097), phone: '' })] },
      [400, 'too_long /entries/0/values/chat'],
    ],
    [
      'a cell that is no text',
      { entries: [row('a', { chat: 1, phone: '' })] },
      [400, 'invalid_format /entries/0/values/chat'],
    ],
    ['cells that are no object', { entries: [row('a', [])] }, [400, 'invalid_format /entries/0/values']],
    [
      'a missing cell',
      { entries: [row('a'), row('b', { chat: '' })] },
      [422, 'column_mismatch /entries/1/values'],
    ],
    [
      'a cell too many',
      { entries: [row('a', { chat: '', phone: '', more: '' })] },
      [422, 'column_mismatch /entries/0/values'],
    ],
  ])('%s', async (_what, change, refusal) => {
    expect(errorsOf(await api.post('/lookup-tables', { ...TEAMS, ...change }))).toEqual(refusal);
    const { body } = await created({ name: 'other' });
    expect(errorsOf(await saved(body.id, change))).toEqual(refusal);
  });

  test('a name that another table has, compared exactly', async () => {
    await created();
    expect(await api.post('/lookup-tables', { ...TEAMS, name: ' teams ' })).toMatchObject({
      status: 409,
      body: { code: 'name_taken' },
    });
    const { body } = await created({ name: 'Teams' });
    expect(await saved(body.id, { name: 'teams' })).toMatchObject({
      status: 409,
      body: { code: 'name_taken' },
    });
  });

  test('everything about a table that does not exist', async () => {
    expect((await api.get('/lookup-tables/TB000000000000')).status).toBe(404);
    expect((await saved('TB000000000000', {})).status).toBe(404);
    expect((await api.delete('/lookup-tables/TB000000000000')).status).toBe(404);
    expect((await api.get('/lookup-tables/KR000000000000')).status).toBe(404);
  });

  test('a change without a version, or to an old one, before its meaning is judged', async () => {
    const { body } = await created();
    expect((await api.put(`/lookup-tables/${body.id}`, TEAMS)).status).toBe(428);
    expect((await saved(body.id, { name: ' ' }, '"7"')).status).toBe(412);
    expect((await api.delete(`/lookup-tables/${body.id}`, '"7"')).status).toBe(412);
  });
});

describe('updating', () => {
  test('replaces the rows and keeps a description that is left out', async () => {
    const { body } = await created({ description: 'Who to call' });
    const entries = [{ key: 'web', values: { chat: '#www' } }];
    const answer = await saved(body.id, { columns: ['chat'], entries }, body.etag);
    expect(answer).toMatchObject({
      status: 200,
      headers: { etag: '"2"' },
      body: { description: 'Who to call', columns: ['chat'], entries },
    });
    expect(cellOf(links.current(), 'teams', 'web', 'chat')).toBe('#www');
    expect(cellOf(links.current(), 'teams', 'core', 'chat')).toBe('');
  });

  test('tells the Audit log only the rows that differ', async () => {
    const { body } = await created();
    const entries = [TEAMS.entries[0], row('new', { chat: '#new', phone: '1' })];
    await saved(body.id, { entries });
    expect(audit.entries[1]).toMatchObject({
      action: 'lookup_table.updated',
      diff: [{ pointer: '/entries', before: [TEAMS.entries[1]], after: [entries[1]] }],
      details: { changed_entries: 2 },
    });
  });

  test('without a change keeps the version and writes nothing', async () => {
    const { body } = await created();
    expect((await api.put(`/lookup-tables/${body.id}`, body, body.etag)).headers.etag).toBe('"1"');
    expect(audit.actions()).toEqual(['lookup_table.created']);
  });
});

describe('a table that Link rules read by its name', () => {
  test('keeps its name, whatever else is wrong with the new one', async () => {
    const { body } = await created();
    await created({ name: 'other' });
    const rules = await readers();
    const refused = await saved(body.id, { name: 'other' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'in_use', link_rules: rules } });
    expect(refused.body.link_rules).toHaveLength(1);
    expect((await saved(body.id, { columns: ['x'], entries: [] })).status).toBe(200);
  });

  test('can be renamed once they read another', async () => {
    const { body } = await created();
    await readers();
    expect((await saved(body.id, { name: 'crews' })).status).toBe(409);
    await database.sql()`update link_rules set reads_tables = '{}'`;
    expect((await saved(body.id, { name: 'crews' })).status).toBe(200);
    expect(cellOf(links.current(), 'crews', 'web', 'chat')).toBe('#web');
    expect(cellOf(links.current(), 'teams', 'web', 'chat')).toBe('');
  });

  test('cannot be deleted, and goes when nobody reads it', async () => {
    const { body } = await created();
    const rules = await readers();
    expect(await api.delete(`/lookup-tables/${body.id}`)).toMatchObject({
      status: 409,
      body: { code: 'in_use', link_rules: rules },
    });
    await database.sql()`update link_rules set reads_tables = '{}'`;
    expect((await api.delete(`/lookup-tables/${body.id}`, body.etag)).status).toBe(204);
    expect((await api.get(`/lookup-tables/${body.id}`)).status).toBe(404);
    expect(audit.actions().at(-1)).toBe('lookup_table.deleted');
    expect(links.current().tables.size).toBe(0);
    await created();
  });
});

describe('listing', () => {
  test('goes by name, at most 50 a page whatever is asked for', async () => {
    const names = Array.from({ length: 52 }, (_, n) => `t${String(n).padStart(2, '0')}`);
    for (const name of [...names].reverse()) await created({ name, entries: [] });
    const first = await api.get('/lookup-tables?limit=500');
    const rest = await api.get(`/lookup-tables?limit=500&cursor=${first.body.next_cursor}`);
    const listed = [...first.body.items, ...rest.body.items].map(({ name }) => name);
    expect([first.body.items.length, rest.body.next_cursor, listed]).toEqual([50, null, names]);
  });

  test('ends a page that would be too large', async () => {
    const values = () => ({ chat: randomBytes(3_000).toString('base64') });
    const entries = () => Array.from({ length: 150 }, (_, n) => ({ key: `k${n}`, values: values() }));
    for (const name of ['a', 'b', 'c', 'd']) await created({ name, columns: ['chat'], entries: entries() });
    const first = await api.get('/lookup-tables');
    const rest = await api.get(`/lookup-tables?cursor=${first.body.next_cursor}`);
    const names = [first, rest].map(({ body }) => body.items.map(({ name }: { name: string }) => name));
    expect([names, rest.body.next_cursor]).toEqual([
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      null,
    ]);
  });

  test('refuses a cursor of something else', async () => {
    expect(errorsOf(await api.get('/lookup-tables?cursor=abc'))).toEqual([
      400,
      'invalid_cursor /query/cursor',
    ]);
  });
});
