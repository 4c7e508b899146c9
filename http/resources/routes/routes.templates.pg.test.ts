import { beforeEach, describe, expect, test } from 'vitest';
import { ON_CALL_POLICY, ROUTE_PROFILES } from '../../../actors/route/policy.ts';
import type { Answered } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { type TemplateWorld, templateWorld } from '../../../test/template-world.ts';

const database = useDatabase();
let world: TemplateWorld;

beforeEach(async () => {
  world = await templateWorld(database.sql());
});

const BUILTIN = { root_message: null, line: null, ack_timeout_notice: null };

function routeWith(templates: object, change: object = {}) {
  const { urgent, group_key } = ROUTE_PROFILES[0] ?? {};
  const policy = { ...ON_CALL_POLICY, templates };
  return { name: 'R', matchers: [], urgent, group_key, destination_ids: [], policy, ...change };
}

async function created(templates: object) {
  const answer = await world.api.post('/routes', routeWith(templates));
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  await world.directory.reload();
  return answer.body;
}

const saved = (route: { id: string }, templates: object) =>
  world.api.put(`/routes/${route.id}`, routeWith(templates), '*');

function errorsOf({ status, body }: Answered) {
  const errors: { pointer: string; code: string; line?: number; column?: number }[] = body.errors ?? [];
  const place = ({ line, column }: { line?: number; column?: number }) => (line ? ` ${line}:${column}` : '');
  return [status, ...errors.map((error) => `${error.code} ${error.pointer}${place(error)}`)];
}

const AT = '/policy/templates';

describe('templates of a Route', () => {
  test('are kept when left out, built in again when null or empty (routes §12 row 16)', async () => {
    const own = { root_message: 'r {{ .AlertGroup.Title }}', line: 'l', ack_timeout_notice: 'n' };
    const route = await created(own);
    expect(route.policy.templates).toEqual(own);
    expect((await saved(route, {})).body.policy.templates).toEqual(own);
    expect((await saved(route, { root_message: null, line: '' })).body.policy.templates).toEqual({
      root_message: null,
      line: null,
      ack_timeout_notice: 'n',
    });
  });

  test('are built in when a new Route leaves them out', async () => {
    expect((await created({})).policy.templates).toEqual(BUILTIN);
  });

  test.each<[what: string, templates: object, errors: readonly string[]]>([
    [
      'mistakes in all of them',
      { root_message: '{{', line: '\n {{ nope }}', ack_timeout_notice: '{{ .AlertGroup.Nope }}' },
      [
        `template_syntax ${AT}/root_message 1:1`,
        `unknown_function ${AT}/line 2:5`,
        `template_syntax ${AT}/ack_timeout_notice 1:15`,
      ],
    ],
    ['too long a text', { line: 'я'.repeat(20_001) }, [`too_long ${AT}/line`]],
    ['a field of a group in a line', { line: '{{ .Alerts }}' }, [`template_syntax ${AT}/line 1:4`]],
  ])('are refused for %s', async (_what, templates, errors) => {
    expect(errorsOf(await world.api.post('/routes', routeWith(templates)))).toEqual([422, ...errors]);
    const route = await created({});
    expect(errorsOf(await saved(route, templates))).toEqual([422, ...errors]);
    expect((await world.api.get(`/routes/${route.id}`)).body.etag).toBe(route.etag);
  });

  test('are refused together with everything else', async () => {
    const body = routeWith({ line: '{{' }, { name: ' ', group_key: ['a', 'a'] });
    expect(errorsOf(await world.api.post('/routes', body))).toEqual([
      422,
      'required /name',
      'duplicate /group_key/1',
      `template_syntax ${AT}/line 1:1`,
    ]);
  });

  test('may be 20,000 characters, and mention people', async () => {
    const long = `${'я'.repeat(19_976)}{{ mention "owner" }}xyz`;
    expect([...long]).toHaveLength(20_000);
    await created({ root_message: long, line: '{{ mention "group" "sre" }}' });
  });
});

describe('a dry run', () => {
  const NEEDS_TWO = { root_message: '{{ (index .Alerts 1).Labels.pod }}' };
  const REFUSED = [422, `template_syntax ${AT}/root_message 1:5`];

  test('of a new Route is on the example: it took nothing', async () => {
    await world.received({ alertname: 'A' });
    await created(NEEDS_TWO);
  });

  test('is on every Alert Group that the last Snapshots of the Route make', async () => {
    const route = await created({});
    await world.received({ alertname: 'A' }, { alertname: 'B' });
    expect((await saved(route, NEEDS_TWO)).status).toBe(200);
    await saved(route, { root_message: null });
    await world.received({ alertname: 'A' });
    expect(errorsOf(await saved(route, NEEDS_TWO))).toEqual(REFUSED);
  });

  test('leaves out Alerts that another Route took', async () => {
    const route = await created({});
    const first = routeWith({}, { name: 'First', matchers: [{ label: 'alertname', op: '=', value: 'A' }] });
    const { body } = await world.api.post('/routes', first);
    const order = await world.api.get('/routes');
    await world.api.put('/route-order', { route_ids: [body.id, route.id] }, order.headers.etag);
    await world.directory.reload();
    await world.received({ alertname: 'A' });
    expect((await saved(route, NEEDS_TWO)).status).toBe(200);
    await saved(route, { root_message: null });
    await world.received({ alertname: 'A' }, { alertname: 'B' });
    expect(errorsOf(await saved(route, NEEDS_TWO))).toEqual(REFUSED);
  });

  test('is only of what was changed', async () => {
    const route = await created(NEEDS_TWO);
    await world.received({ alertname: 'A' });
    expect((await saved(route, { ...NEEDS_TWO, line: 'l' })).status).toBe(200);
    expect(errorsOf(await saved(route, { root_message: `${NEEDS_TWO.root_message} ` }))).toEqual(REFUSED);
  });

  test('comes after the version is judged', async () => {
    const route = await created({});
    const stale = await world.api.put(`/routes/${route.id}`, routeWith({ line: '{{' }), '"7"');
    expect(stale.status).toBe(412);
  });
});
