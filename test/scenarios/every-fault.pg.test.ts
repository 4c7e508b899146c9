/** A body that means something impossible is told all of it at once, at whatever operation (api §1.8). */
import { beforeAll, expect, test } from 'vitest';
import { pointersOf, valueAt, withValue } from '../json-pointers.ts';
import { CONNECTION, DESTINATION, type Json, type JsonObject, ROUTE, VALID_BODIES } from '../valid-bodies.ts';
import { useWorld } from './world.ts';

const world = useWorld();

/** What is saved by each operation, and where. */
const CREATED = {
  createConnection: '/connections',
  createDestination: '/destinations',
  createIntegration: '/integrations',
  createLinkRule: '/link-rules',
  createLookupTable: '/lookup-tables',
  createRoute: '/routes',
  createSavedView: '/saved-views',
  createServiceAccount: '/service-accounts',
  createUser: '/users',
} as const;
type Creation = keyof typeof CREATED;

/** It decides which of the other fields are judged. */
const TYPE = '/type';

/** Ids of what exists, by the operation that made it. */
const made = {} as Record<Creation, string>;

/** The valid body, with references to what exists. */
function bodyOf(operation: string): JsonObject {
  const text = JSON.stringify(VALID_BODIES[operation])
    .replaceAll(DESTINATION, made.createDestination)
    .replaceAll(CONNECTION, made.createConnection)
    .replaceAll(ROUTE, made.createRoute);
  return JSON.parse(text) as JsonObject;
}

beforeAll(async () => {
  for (const operation of ['createConnection', 'createDestination'] as const) {
    const body = VALID_BODIES[operation];
    const answer = await world().admin.post(CREATED[operation], body);
    made[operation] = answer.id ?? answer.destination.id;
  }
  made.createRoute = ROUTE;
  for (const [operation, path] of Object.entries(CREATED) as [Creation, string][]) {
    if (operation in made && operation !== 'createRoute') continue;
    const answer = await world().admin.post(path, bodyOf(operation));
    made[operation] = answer.id ?? answer.user.id;
  }
});

/** Every operation that saves a body and can refuse what it means. Sign-in and Commands say one thing only. */
function saves(): readonly (readonly [operation: string, method: string, path: string])[] {
  const creations = Object.entries(CREATED) as [Creation, string][];
  return [
    ...creations.map(([operation, path]) => [operation, 'POST', path] as const),
    ...creations.map(
      ([operation, path]) =>
        [operation.replace('create', 'update'), 'PUT', `${path}/${made[operation]}`] as const,
    ),
    ['createPersonalAccessToken', 'POST', '/me/personal-access-tokens'],
    ['createServiceAccountToken', 'POST', `/service-accounts/${made.createServiceAccount}/tokens`],
    ['updateOrganization', 'PUT', '/organization'],
    ['updateOutboundPolicy', 'PUT', '/organization/outbound-policy'],
    ['updateOidcSettings', 'PUT', '/oidc-settings'],
    ['updateMe', 'PUT', '/me'],
    ['previewGroupKey', 'POST', '/group-key-previews'],
  ];
}

/** Values of the right type that fields refuse, the most common ones first. */
function candidates(value: Json): readonly Json[] {
  if (typeof value === 'string') {
    const unknownId = /^[A-Z]{2}[0-9A-Z]{12}$/.test(value) ? [`${value.slice(0, 2)}ZZZZZZZZZZZZ`] : [];
    return [...unknownId, ' ', 'x y', '{{', 'chat_server', '1999-01-01T00:00:00Z', '', 'x'.repeat(30_000)];
  }
  if (typeof value === 'number') return [0, -1, 1e9];
  // The last of three stays a duplicate of the second when the first is changed. More would exceed what an answer names.
  if (Array.isArray(value) && value.length > 0) return [[...value, value[0], value[0]], []];
  return [];
}

async function refusal(method: string, path: string, body: JsonObject): Promise<readonly string[]> {
  const { status, body: problem } = await world().admin.call(method, path, body, { 'if-match': '*' });
  return status === 422 ? problem.errors.map(({ pointer }: { pointer: string }) => pointer) : [];
}

test('every fault of meaning is in the first answer, whatever else is wrong', async () => {
  const missing: Record<string, readonly string[]> = {};
  const found: Record<string, number> = {};
  for (const [operation, method, path] of saves()) {
    const valid = bodyOf(operation);
    let broken = valid;
    const expected: string[] = [];
    for (const pointer of pointersOf(valid).filter((each) => each !== TYPE)) {
      for (const candidate of candidates(valueAt(valid, pointer) ?? null)) {
        const faults = await refusal(method, path, withValue(valid, pointer, candidate));
        const fault = faults.findLast((each) => each === pointer || each.startsWith(`${pointer}/`));
        if (fault === undefined || expected.includes(fault)) continue;
        expected.push(fault);
        broken = withValue(broken, pointer, candidate);
        break;
      }
    }
    const told = await refusal(method, path, broken);
    const hidden = expected.filter((pointer) => !told.includes(pointer));
    if (hidden.length > 0) missing[operation] = hidden;
    found[operation] = expected.length;
  }
  expect(missing).toEqual({});
  expect(Object.entries(found).filter(([, count]) => count === 0)).toEqual([]);
});
