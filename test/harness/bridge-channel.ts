/** A channel behind a reference bridge that Alert Groups of the Default route are posted to. */
import type { RecordedRequest } from '../../runtime/cli/bridge-reference/sim.ts';
import type { ReferenceBridge } from '../fakes/reference-bridge.ts';
import type { Api, Json } from './api.ts';

/** Many more calls than any story makes. */
const WIDE = { limit: 1000, per_seconds: 1 };

export interface BridgeChannel {
  readonly connectionId: string;
  readonly destinationId: string;
}

/** Loopback is allowed, a Connection and a Destination are made, and the Default route posts there and nowhere else. */
export async function attachChannel(
  api: Api,
  bridge: ReferenceBridge,
  more: { readonly connection?: object; readonly destination?: object; readonly policy?: object } = {},
): Promise<BridgeChannel> {
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const connection = await api.post('/connections', {
    ...{ type: 'bridge', name: 'bridge', base_url: bridge.url, bot_token: bridge.token },
    ...{ event_mode: 'poll', proxy: { enabled: false }, limiter: WIDE },
    ...more.connection,
  });
  const { destination } = await api.post('/destinations', {
    ...{
      type: 'bridge',
      name: 'prod',
      connection_id: connection.id,
      channel_id: 'alerts/prod',
      limiter: WIDE,
    },
    ...more.destination,
  });
  await postTo(api, [destination.id], more.policy);
  return { connectionId: connection.id, destinationId: destination.id };
}

/** Where the Default route posts from now on. */
export async function postTo(
  api: Api,
  destinationIds: readonly string[],
  policy: object = {},
): Promise<void> {
  const { items } = await api.get('/routes');
  const fallback = items.find((route: Json) => route.is_default);
  await api.change(`/routes/${fallback.id}`, (route) => ({
    ...route,
    destination_ids: destinationIds,
    policy: { ...route.policy, ...policy },
  }));
}

/** Root messages of an Alert Group whose title ends so, deleted ones included, oldest first. */
export function rootsOf(bridge: ReferenceBridge, title: string) {
  return bridge.messenger.posts.filter(
    ({ kind, heading }) => kind === 'root' && heading?.title.endsWith(` ${title}`),
  );
}

/** What the bot wrote under a message, oldest first. */
export function repliesTo(bridge: ReferenceBridge, messageId: string) {
  return bridge.messenger.posts.filter(({ kind, root_id: root }) => kind === 'reply' && root === messageId);
}

export function requestsTo(
  bridge: ReferenceBridge,
  operation: NonNullable<RecordedRequest['operation']>,
): readonly RecordedRequest[] {
  return bridge.requests.filter((request) => request.operation === operation);
}
