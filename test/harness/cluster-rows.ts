/** What people set up before alerts come: an Integration, Destinations, the Default route that leads to them. */
import type { WebhookReceiver } from '../fakes/webhook-receiver.ts';
import type { Api, Json } from './api.ts';

export interface FirstRows {
  readonly integrationId: string;
  readonly token: string;
  /** In the order of the paths that the receiver sees: `/in/0`, `/in/1` … */
  readonly destinationIds: readonly string[];
}

export async function firstRows(
  api: Api,
  receiver: WebhookReceiver,
  destinations: number,
): Promise<FirstRows> {
  const integration = await api.post('/integrations', {
    name: 'cluster',
    connection_mode: 'webhook_only',
    static_labels: {},
    duplicate_window_seconds: 45,
    heartbeat: { enabled: false },
  });
  const { value: token } = await api.post(`/integrations/${integration.id}/tokens`, {});
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const made: Json[] = [];
  for (let n = 0; n < destinations; n++) {
    made.push(
      await api.post('/destinations', {
        type: 'webhook',
        name: `receiver ${n}`,
        mode: 'events',
        events: { url: `${receiver.url}/${n}`, headers: [] },
        limiter: { limit: 1000, per_seconds: 1 },
      }),
    );
  }
  receiver.trust(...made.map(({ signing_secret }) => signing_secret));
  const destinationIds: string[] = made.map(({ destination }) => destination.id);
  const { items } = await api.get('/routes');
  const fallback = items.find((route: Json) => route.is_default);
  await api.change(`/routes/${fallback.id}`, (route) => ({ ...route, destination_ids: destinationIds }));
  return { integrationId: integration.id, token, destinationIds };
}
