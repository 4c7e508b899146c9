/** routes §12, rows 4, 5, 9 to 16, 29 and 30: what may be saved. */
import { expect } from 'vitest';
import { ROUTE_PROFILES } from '../../../actors/route/policy.ts';
import type { Answer, Json } from '../../harness/api.ts';
import { auditSince } from '../by-hand.ts';
import { casesOf } from '../case.ts';
import type { Scenario } from '../scenario.ts';

const { cases, row } = casesOf('routes');
export const EDITING = cases;

/** A body that is fine. */
function routeNamed(name: string, change: Json = {}): Json {
  const [{ urgent, group_key, policy }] = ROUTE_PROFILES as [Json];
  return { name, matchers: [], urgent, group_key, destination_ids: [], policy, ...change };
}

const matching = (op: string, value: string) => ({ matchers: [{ label: 'pod', op, value }] });

/** `422 invalid_regex /matchers/0/value`. */
function refusal({ status, body }: Answer<Json>): string {
  const [first] = body.errors ?? [];
  const type = String(body.type).split('/').at(-1);
  return [status, first?.code ?? body.code ?? type, first?.pointer].filter(Boolean).join(' ');
}

const create = (s: Scenario, body: Json) => s.admin.call('POST', '/routes', body);

async function save(s: Scenario, id: string, edit: (route: Json) => Json): Promise<Answer<Json>> {
  const read = await s.admin.call('GET', `/routes/${id}`);
  return s.admin.call('PUT', `/routes/${id}`, edit(read.body), {
    'if-match': read.headers.get('etag') ?? '',
  });
}

async function defaultRoute(s: Scenario): Promise<Json> {
  const { items } = await s.admin.get('/routes');
  return items.find(({ is_default }: Json) => is_default);
}

row(4, 'an expression that does not compile', async (s) => {
  expect(refusal(await create(s, routeNamed('Regex', matching('=~', 'api-('))))).toBe(
    '422 invalid_regex /matchers/0/value',
  );
});

row(5, 'look-around and back-references are no expressions', async (s) => {
  for (const value of ['(?=a)', '(a)\\1']) {
    expect(refusal(await create(s, routeNamed('Regex', matching('=~', value))))).toBe(
      '422 invalid_regex /matchers/0/value',
    );
  }
});

row(9, 'a change names the version it is made to', async (s) => {
  const path = `/routes/${s.route.id}`;
  const { body, headers } = await s.admin.call('GET', path);
  const { headers: ofList } = await s.admin.call('GET', '/routes');
  const order = { route_ids: [s.route.id] };
  expect((await s.admin.call('PUT', path, body)).status).toBe(428);
  expect((await s.admin.call('PUT', '/route-order', order)).status).toBe(428);
  const stale = { 'if-match': '"999999"' };
  expect((await s.admin.call('PUT', path, body, stale)).status).toBe(412);
  expect((await s.admin.call('PUT', '/route-order', order, stale)).status).toBe(412);
  expect((await s.admin.call('PUT', path, body, { 'if-match': headers.get('etag') ?? '' })).status).toBe(200);
  const current = { 'if-match': ofList.get('etag') ?? '' };
  expect((await s.admin.call('PUT', '/route-order', order, current)).status).toBe(200);
});

row(10, 'an order holds every Route once and never the Default', async (s) => {
  const second = await s.addRoute('R2');
  const { headers } = await s.admin.call('GET', '/routes');
  const match = { 'if-match': headers.get('etag') ?? '' };
  const put = (ids: string[]) => s.admin.call('PUT', '/route-order', { route_ids: ids }, match);
  const { id } = await defaultRoute(s);
  expect(refusal(await put([s.route.id, second.id, id]))).toBe('409 default-route-immutable');
  expect(refusal(await put([second.id]))).toBe('422 route_set_mismatch /route_ids');
});

row(11, 'the Default route cannot be deleted', async (s) => {
  const { id } = await defaultRoute(s);
  for (const headers of [{}, { 'if-match': '"999999"' }]) {
    const answer = await s.admin.call('DELETE', `/routes/${id}`, undefined, headers);
    expect(refusal(answer)).toBe('409 default-route-immutable');
  }
});

row(12, 'nor can it have a Matcher', async (s) => {
  const { id } = await defaultRoute(s);
  const answer = await save(s, id, (route) => ({ ...route, ...matching('=', 'a') }));
  expect(refusal(answer)).toBe('422 unsupported /matchers');
});

row(13, 'a name is taken until its Route is deleted', async (s) => {
  const { name } = await s.addRoute('R2');
  expect(refusal(await create(s, routeNamed(name)))).toBe('409 name_taken');
  const { items } = await s.admin.get('/routes');
  const taken = items.find((one: Json) => one.name === name);
  expect((await s.admin.call('DELETE', `/routes/${taken.id}`)).status).toBe(204);
  await s.addRoute('R2');
});

row(14, 'every field of the policy is required', async (s) => {
  const { reminders: _, ...policy } = ROUTE_PROFILES[0]!.policy;
  expect(refusal(await create(s, routeNamed('Policy', { policy })))).toBe('400 required /policy/reminders');
});

row(15, 'the cap of Reminders is not below their first interval', async (s) => {
  const reminders = { enabled: true, first_interval_seconds: 14_400, cap_seconds: 3_600 };
  const policy = { ...ROUTE_PROFILES[0]!.policy, reminders };
  expect(refusal(await create(s, routeNamed('Policy', { policy })))).toBe(
    '422 out_of_range /policy/reminders/cap_seconds',
  );
});

row(16, 'templates that are left out are kept, null goes back', async (s) => {
  const templates = async (given: Json) => {
    const answer = await save(s, s.route.id, (route) => ({
      ...route,
      policy: { ...route.policy, templates: given },
    }));
    expect(answer.status).toBe(200);
    return answer.body.policy.templates.root_message;
  };
  expect(await templates({ root_message: '{{ .AlertGroup.Title }}', line: null })).toBe(
    '{{ .AlertGroup.Title }}',
  );
  expect(await templates({})).toBe('{{ .AlertGroup.Title }}');
  expect(await templates({ root_message: null })).toBeNull();
});

row(29, 'saving what was read changes nothing', async (s) => {
  const read = await s.admin.call('GET', `/routes/${s.route.id}`);
  const before = await auditSince(s.world.sql, s.begin);
  const saved = await save(s, s.route.id, (route) => route);
  expect(saved.status).toBe(200);
  expect(saved.headers.get('etag')).toBe(read.headers.get('etag'));
  expect(await auditSince(s.world.sql, s.begin)).toEqual(before);
});

row(30, 'a responder reads Routes and changes none', async (s) => {
  const ann = await s.people.named('Ann');
  expect((await ann.call('POST', '/routes', routeNamed('Hers'))).status).toBe(403);
  expect((await ann.call('GET', '/routes')).status).toBe(200);
});
