import { beforeEach, expect, test } from 'vitest';
import { createSavedViewStore } from '../../../storage/alert-groups/saved-views.ts';
import { firstStart, readDirectory, recordedAudit, stoppedClock } from '../../../test/configuration.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { savedViewOperations } from './saved-views.ts';

const database = useDatabase();
let admin: OperationClient;
let bea: OperationClient;
let viewer: OperationClient;
let audit: ReturnType<typeof recordedAudit>;

const ADMIN = 'SRADM0N0000000';
const BEA = 'SRRESP0NDER000';
const VIEWER = 'SRV0EWER000000';

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  for (const [id, name, role] of [
    [ADMIN, 'Ada', 'admin'],
    [BEA, 'Bea', 'responder'],
    [VIEWER, 'Vic', 'viewer'],
  ] as const) {
    await sql`
      insert into users (id, version, login, login_folded, name, role, source, status, created_at)
      values (${id}, 1, ${name}, ${name.toLowerCase()}, ${name}, ${role}, 'local', 'active', 1)`;
  }
  audit = recordedAudit();
  const operations = savedViewOperations(createSavedViewStore(sql, audit.appendAudit));
  admin = operationClient({ operations, directory: await readDirectory(sql), clock: stoppedClock });
  [bea, viewer] = [admin.as('responder'), admin.as('viewer')];
});

const MINE = { name: 'Mine', query: 'owner=me&sort=started_at', shared: false };
const SHARED = { name: 'Critical', query: 'severity=critical', shared: true };

async function saved(by: OperationClient, change: object = {}) {
  const answer = await by.post('/saved-views', { ...MINE, ...change });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
const namesOf = async (of: OperationClient) =>
  (await of.get('/saved-views')).body.items.map(({ name }: { name: string }) => name);

test('a view of one person is theirs alone, and in no Audit log', async () => {
  const view = await saved(bea, { name: ' Mine ' });
  const owner = { id: BEA, name: 'Bea', login: 'Bea', deactivated: false };
  expect(view).toMatchObject({ ...MINE, owner, is_default: false, etag: '"1"' });
  expect((await bea.get(`/saved-views/${view.id}`)).body).toEqual(view);
  expect(await namesOf(bea)).toEqual(['Mine']);
  for (const other of [admin, viewer]) {
    expect(await namesOf(other)).toEqual([]);
    expect((await other.get(`/saved-views/${view.id}`)).status).toBe(404);
    expect((await other.put(`/saved-views/${view.id}`, MINE, '*')).status).toBe(404);
    expect((await other.delete(`/saved-views/${view.id}`)).status).toBe(404);
  }
  expect((await bea.delete(`/saved-views/${view.id}`)).status).toBe(204);
  expect(audit.entries).toEqual([]);
});

test('a shared one is seen by everybody, and changed by its owner and an Admin', async () => {
  const { id } = await saved(bea, SHARED);
  expect(await namesOf(viewer)).toEqual(['Critical']);
  expect((await viewer.put(`/saved-views/${id}`, SHARED, '*')).status).toBe(403);
  expect((await viewer.delete(`/saved-views/${id}`)).status).toBe(403);
  expect((await bea.put(`/saved-views/${id}`, { ...SHARED, query: '' }, '"1"')).body.etag).toBe('"2"');
  const renamed = await admin.put(`/saved-views/${id}`, { ...SHARED, name: 'Worst' }, '"2"');
  expect(renamed.body).toMatchObject({ name: 'Worst', owner: { id: BEA }, etag: '"3"' });
  expect((await admin.delete(`/saved-views/${id}`, '"2"')).status).toBe(412);
  expect((await admin.delete(`/saved-views/${id}`, '"3"')).status).toBe(204);
  expect(audit.entries.map(({ action, resourceName, diff }) => [action, resourceName, diff.length])).toEqual([
    ...[
      ['saved_view.created', 'Critical', 3],
      ['saved_view.updated', 'Critical', 1],
      ['saved_view.updated', 'Worst', 2],
      ['saved_view.deleted', 'Worst', 0],
    ],
  ]);
});

test('whoever only looks shares nothing, and may end what they shared', async () => {
  expect((await viewer.post('/saved-views', SHARED)).status).toBe(403);
  const own = await saved(viewer);
  expect((await viewer.put(`/saved-views/${own.id}`, { ...MINE, shared: true }, '*')).status).toBe(403);
  await database.sql()`update saved_views set shared = true`;
  // Once they could share: what everybody sees is no longer theirs to change.
  const changed = { ...MINE, query: 'severity=info', shared: true };
  expect((await viewer.put(`/saved-views/${own.id}`, changed, '*')).status).toBe(403);
  expect((await viewer.put(`/saved-views/${own.id}`, MINE, '*')).body.shared).toBe(false);
});

test('one of a deleted person goes when an Admin ends its sharing', async () => {
  const { id } = await saved(bea, SHARED);
  await database.sql()`update users set status = 'deleted' where id = ${BEA}`;
  const ended = await admin.put(`/saved-views/${id}`, { ...SHARED, shared: false }, '*');
  expect(ended).toMatchObject({ status: 200, body: { shared: false } });
  expect(await database.sql()`select id from saved_views`).toEqual([]);
});

test('If-Match, and a save of what is there already', async () => {
  const { id } = await saved(bea);
  expect((await bea.put(`/saved-views/${id}`, MINE)).status).toBe(428);
  expect((await bea.put(`/saved-views/${id}`, MINE, '"9"')).status).toBe(412);
  expect((await bea.put(`/saved-views/${id}`, MINE, '"1"')).headers.etag).toBe('"1"');
});

test('a name is unique among those of one person', async () => {
  await saved(bea, SHARED);
  const { id } = await saved(bea);
  await saved(admin, SHARED);
  expect((await bea.post('/saved-views', SHARED)).body).toMatchObject({ status: 409, code: 'name_taken' });
  const taken = await bea.put(`/saved-views/${id}`, { ...MINE, name: 'Critical' }, '*');
  expect(taken.body).toMatchObject({ status: 409, code: 'name_taken' });
});

test.each([
  [{ name: ' ' }, 422, 'required', '/name'],
  [{ name: 'x'.repeat(201) }, 422, 'too_long', '/name'],
  [{ query: 'x'.repeat(4_097) }, 400, 'too_long', '/query'],
  [{ shared: undefined }, 400, 'required', '/shared'],
])('what is refused %#', async (change, status, code, pointer) => {
  const { body } = await bea.post('/saved-views', { ...MINE, ...change });
  expect(body).toMatchObject({ status, errors: [{ pointer, code }] });
});

test('nobody has more than 50, and there are not more than 100 shared ones', async () => {
  const fill = (owner: string, from: number, to: number, shared: boolean) => database.sql()`
    insert into saved_views (id, version, owner_id, name, query, shared, created_at)
    select 'VW' || lpad(n::text, 12, '0'), 1, ${owner}, 'V' || n, '', ${shared}, n
    from generate_series(${from}::integer, ${to}::integer) n`;
  await fill(BEA, 1, 49, false);
  const last = await saved(bea);
  const more = await bea.post('/saved-views', { ...MINE, name: 'More' });
  expect(more.body).toMatchObject({ status: 422, errors: [{ pointer: '', code: 'too_long' }] });
  expect((await bea.put(`/saved-views/${last.id}`, { ...MINE, query: '' }, '*')).status).toBe(200);
  await fill(VIEWER, 101, 200, true);
  const shared = { status: 422, errors: [{ pointer: '/shared', code: 'too_long' }] };
  expect((await admin.post('/saved-views', SHARED)).body).toMatchObject(shared);
  expect((await bea.put(`/saved-views/${last.id}`, { ...MINE, shared: true }, '*')).body).toMatchObject(
    shared,
  );
  const pages = await bea.get('/saved-views?limit=100');
  const rest = await bea.get(`/saved-views?limit=100&cursor=${pages.body.next_cursor}`);
  expect([pages.body.items.length, rest.body.items.length, rest.body.next_cursor]).toEqual([100, 50, null]);
});

test('a person begins with one view, which may be a shared one, until it is shared no longer', async () => {
  const choose = (by: OperationClient, view_id: string | null) => by.put('/me/default-view', { view_id });
  const defaultsOf = async (of: OperationClient) =>
    (await of.get('/saved-views')).body.items
      .filter(({ is_default }: { is_default: boolean }) => is_default)
      .map(({ name }: { name: string }) => name);
  const own = await saved(viewer);
  const shared = await saved(bea, SHARED);
  expect((await choose(viewer, own.id)).status).toBe(204);
  expect((await choose(viewer, shared.id)).status).toBe(204);
  expect((await choose(bea, shared.id)).status).toBe(204);
  expect(await defaultsOf(viewer)).toEqual(['Critical']);
  const unknown = { status: 422, errors: [{ pointer: '/view_id', code: 'unknown_id' }] };
  expect((await choose(bea, own.id)).body).toMatchObject(unknown);
  await bea.put(`/saved-views/${shared.id}`, { ...SHARED, shared: false }, '*');
  await bea.put(`/saved-views/${shared.id}`, SHARED, '*');
  expect([await defaultsOf(viewer), await defaultsOf(bea)]).toEqual([[], ['Critical']]);
  await choose(viewer, shared.id);
  await choose(bea, null);
  expect([await defaultsOf(viewer), await defaultsOf(bea)]).toEqual([['Critical'], []]);
  await bea.delete(`/saved-views/${shared.id}`);
  expect(await defaultsOf(viewer)).toEqual([]);
});
