/** Everything with an ETag, found in the API description: saves without it, with an old one, and with the present one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { Installation } from '../harness/tocsin.ts';

const tocsin = new Installation();
let admin: Api;
/** Paths of one thing each, with what is read there. */
const saved = new Map<string, { readonly read: string; readonly put: string; readonly body: Json }>();

/** One thing of every kind that a new installation has none of. */
const MADE: Readonly<Record<string, object>> = {
  '/lookup-tables': { name: 'clusters', columns: ['grafana'], entries: [] },
  '/saved-views': { name: 'Mine', query: 'owner=me', shared: false },
  '/service-accounts': { name: 'bot', role: 'viewer' },
  '/connections': {
    ...{ type: 'bridge', name: 'bridge', base_url: 'https://bridge.example.org', bot_token: 'token' },
    proxy: { enabled: false },
  },
  '/destinations': {
    ...{ type: 'webhook', name: 'relay', mode: 'events' },
    events: { url: 'https://relay.example.org/in', headers: [] },
  },
};

/** Where a thing is read that is not read where it is saved. */
const READ_ELSEWHERE: Readonly<Record<string, string>> = { '/route-order': '/routes' };

beforeAll(async () => {
  admin = await Api.signIn(await tocsin.start());
  for (const [collection, body] of Object.entries(MADE)) await admin.post(collection, body);
  const { paths, components } = await admin.get('/openapi.json');
  for (const [described, operations] of Object.entries<Json>(paths)) {
    const isGuarded = operations.put?.parameters?.some((parameter: Json) => {
      const { name, required } = components.parameters[parameter.$ref?.split('/').at(-1)] ?? parameter;
      return name === 'If-Match' && required === true;
    });
    if (!isGuarded) continue;
    const pattern = described.replace('/api/v1', '');
    const [collection = '', parameter] = pattern.split(/\/\{/);
    const put = parameter === undefined ? pattern : `${collection}/${await anyOf(collection)}`;
    const read = READ_ELSEWHERE[put] ?? put;
    saved.set(pattern, { read, put, body: await admin.get(read) });
  }
});

afterAll(() => tocsin.remove());

/** Not the built-in one, if there is another. */
async function anyOf(collection: string): Promise<string> {
  const { items } = await admin.get(collection);
  return (items.find(({ builtin }: Json) => builtin !== true) ?? items[0]).id;
}

const bodyOf = (pattern: string, body: Json): Json =>
  pattern === '/route-order'
    ? { route_ids: body.items.filter(({ is_default }: Json) => !is_default).map(({ id }: Json) => id) }
    : body;

test('there are about a dozen of them', () => {
  expect([...saved.keys()]).toEqual(
    expect.arrayContaining([
      ...['/organization', '/organization/outbound-policy', '/route-order', '/routes/{route_id}'],
      ...['/integrations/{integration_id}', '/destinations/{destination_id}', '/connections/{connection_id}'],
      ...['/link-rules/{link_rule_id}', '/lookup-tables/{lookup_table_id}'],
      ...['/service-accounts/{service_account_id}', '/saved-views/{saved_view_id}'],
    ]),
  );
});

test('without If-Match a save is 428, with an old one 412, and nothing is changed', async () => {
  for (const [pattern, { read, put, body }] of saved) {
    const sent = bodyOf(pattern, body);
    const without = await admin.call('PUT', put, sent);
    expect([pattern, without.status]).toEqual([pattern, 428]);
    for (const ifMatch of ['"999999"', 'W/"999999"', 'nonsense']) {
      const stale = await admin.call('PUT', put, sent, { 'if-match': ifMatch });
      expect([pattern, ifMatch, stale.status]).toEqual([pattern, ifMatch, 412]);
    }
    expect((await admin.call('GET', read)).body).toEqual(body);
  }
});

test('what was read is saved back under its ETag, which stays', async () => {
  for (const [pattern, { read, put, body }] of saved) {
    // Before its first save it cannot be saved as it is: nothing names the provider.
    if (pattern === '/oidc-settings') continue;
    const etag = (await admin.call('GET', read)).headers.get('etag') ?? '';
    const answer = await admin.call('PUT', put, bodyOf(pattern, body), { 'if-match': etag });
    expect([pattern, answer.status, answer.headers.get('etag')]).toEqual([pattern, 200, etag]);
  }
});

test('a delete with an old If-Match is 412', async () => {
  for (const [pattern, { put }] of saved) {
    if (!pattern.includes('{') || pattern.startsWith('/users')) continue;
    const { status } = await admin.call('DELETE', put, undefined, { 'if-match': '"999999"' });
    // What can never be deleted says that first.
    const expected = pattern.startsWith('/routes') || pattern.startsWith('/link-rules') ? [409, 412] : [412];
    expect([pattern, expected.includes(status)]).toEqual([pattern, true]);
  }
});
