/** The address of every page of the UI, each with an object that is there. */
import { PAGES } from '../../ui/src/app/pages.ts';
import type { ReferenceBridge } from '../fakes/reference-bridge.ts';
import { VALID_BODIES } from '../valid-bodies.ts';
import type { Api } from './api.ts';
import { attachChannel, rootsOf } from './bridge-channel.ts';
import { Sender } from './sender.ts';
import type { Ready } from './tocsin.ts';
import { until } from './until.ts';

/**
 * Makes an object of each kind and fills them into the table of pages.
 * @throws for a page whose kind of object is not made here
 */
export async function everyPath(api: Api, bridge: ReferenceBridge, ready: Ready): Promise<readonly string[]> {
  const objects = await makeObjects(api, bridge, ready);
  return PAGES.map(({ pattern }) => filled(pattern, objects));
}

/** One object for each page of one. @returns their ids by the pattern up to the parameter that takes them */
async function makeObjects(
  api: Api,
  bridge: ReferenceBridge,
  ready: Ready,
): Promise<Readonly<Record<string, string>>> {
  const { connectionId, destinationId } = await attachChannel(api, bridge);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alerts = [{ labels: { alertname: 'DiskFull', severity: 'critical' } }];
  const status = await sender.post({ groupKey: 'every page', alerts });
  if (status !== 202) throw new Error(`a Snapshot was answered ${status}`);
  await until('the message of the Alert Group', async () => rootsOf(bridge, 'DiskFull')[0]);
  const first = (list: string) => until(list, async () => (await api.get(list)).items[0]?.id as string);
  const check = { type: 'bridge', base_url: bridge.url, bot_token: bridge.token, proxy: { enabled: false } };
  const { request_log_run: run } = await api.post('/connections/checks', check);
  const [linkRule, table, account] = await Promise.all([
    api.post('/link-rules', { ...VALID_BODIES.createLinkRule, name: 'every page' }),
    api.post('/lookup-tables', { ...VALID_BODIES.createLookupTable, name: 'every_page' }),
    api.post('/service-accounts', VALID_BODIES.createServiceAccount),
  ]);
  return {
    '/alert-groups/:id': await first('/alert-groups'),
    '/integrations/:id': ready.integration_id ?? '',
    '/integrations/:id/snapshots/:snapshot': await first(
      `/stored-snapshots?integration=${ready.integration_id}`,
    ),
    '/routes/:id': await first('/routes'),
    '/connections/:id': connectionId,
    '/connections/:id/request-log/:record': await first(`/request-records?connection=${connectionId}`),
    '/connections/checks/:run': run,
    '/connections/checks/:run/:record': await first(`/request-records?run=${run}`),
    '/destinations/:id': destinationId,
    '/destinations/:id/request-log/:record': await first(`/request-records?destination=${destinationId}`),
    '/admin/link-rules/:id': linkRule.id,
    '/admin/lookup-tables/:id': table.id,
    '/admin/users/:id': await first('/users'),
    '/admin/service-accounts/:id': account.id,
    '/admin/organization/:id': 'general',
    '/machines/:kind': 'destination',
    '/machines/:kind/:key': destinationId,
  };
}

/** The address of a page of these objects. @throws when it is of a kind that has none here */
function filled(pattern: string, objects: Readonly<Record<string, string>>): string {
  const parts = pattern.split('/');
  return parts
    .map((part, index) => {
      if (!part.startsWith(':')) return part;
      const upToIt = parts.slice(0, index + 1).join('/');
      const id = objects[upToIt];
      if (!id) throw new Error(`${pattern}: an object for ${upToIt} is missing`);
      return id;
    })
    .join('/');
}
