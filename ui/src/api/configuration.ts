/** Operations on Integrations, Routes, Destinations and the Organization (api §9–§11, §15). */
import type { PageRequest } from './alert-groups.ts';
import type { Answer, ApiClient, Query } from './client.ts';
import type {
  GroupKeyPreview,
  GroupKeyPreviewInput,
  IntegrationAlert,
  RouteSuggestion,
  SenderRoute,
  StoredSnapshot,
  StoredSnapshotBody,
} from './configuration-shapes.ts';
import { createConnectionsApi } from './connections.ts';
import { createDestinationsApi } from './destinations.ts';
import type {
  CreatedIntegrationToken,
  Integration,
  IntegrationInput,
  IntegrationToken,
  Items,
  Organization,
  Page,
  Route,
  RouteInput,
  RouteProfile,
} from './shapes.ts';

export type ConfigurationApi = ReturnType<typeof createConfigurationApi>;

export function createConfigurationApi(client: ApiClient) {
  return {
    organization: (): Promise<Answer<Organization>> => client.get('/organization'),
    integrations: integrations(client),
    routes: routes(client),
    destinations: createDestinationsApi(client),
    connections: createConnectionsApi(client),
  };
}

function integrations(client: ApiClient) {
  const of = (id: string) => `/integrations/${id}`;
  return {
    list: (page: PageRequest): Promise<Answer<Page<Integration>>> =>
      client.get('/integrations', { query: { ...page } }),
    create: (body: IntegrationInput): Promise<Answer<Integration>> => client.post('/integrations', { body }),
    read: (id: string): Promise<Answer<Integration>> => client.get(of(id)),
    update: (id: string, body: IntegrationInput, ifMatch: string): Promise<Answer<Integration>> =>
      client.put(of(id), { body, ifMatch }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
    tokens: (id: string): Promise<Answer<Items<IntegrationToken>>> => client.get(`${of(id)}/tokens`),
    createToken: (id: string, name: string): Promise<Answer<CreatedIntegrationToken>> =>
      client.post(`${of(id)}/tokens`, { body: name === '' ? {} : { name } }),
    revokeToken: (id: string, token: string): Promise<Answer<null>> =>
      client.delete(`${of(id)}/tokens/${token}`),
    senderRoutes: (id: string): Promise<Answer<Items<SenderRoute>>> =>
      client.get(`${of(id)}/alertmanager-routes`),
    alerts: (id: string, query: Query, page: PageRequest): Promise<Answer<Page<IntegrationAlert>>> =>
      client.get(`${of(id)}/alerts`, { query: { ...query, ...page } }),
    storedSnapshots: (id: string, query: Query, page: PageRequest): Promise<Answer<Page<StoredSnapshot>>> =>
      client.get('/stored-snapshots', { query: { integration: id, ...query, ...page } }),
    storedSnapshot: (id: string): Promise<Answer<StoredSnapshotBody>> =>
      client.get(`/stored-snapshots/${id}`),
  };
}

function routes(client: ApiClient) {
  const of = (id: string) => `/routes/${id}`;
  return {
    list: (): Promise<Answer<Items<Route>>> => client.get('/routes'),
    profiles: (): Promise<Answer<Items<RouteProfile>>> => client.get('/route-profiles'),
    create: (body: RouteInput): Promise<Answer<Route>> => client.post('/routes', { body }),
    read: (id: string): Promise<Answer<Route>> => client.get(of(id)),
    update: (id: string, body: RouteInput, ifMatch: string): Promise<Answer<Route>> =>
      client.put(of(id), { body, ifMatch }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
    reorder: (ids: readonly string[], ifMatch: string | null): Promise<Answer<Items<Route>>> =>
      client.put('/route-order', { body: { route_ids: ids }, ifMatch }),
    moveOpenAlertGroups: (id: string): Promise<Answer<{ moved: number }>> =>
      client.post(`${of(id)}/move-open-alert-groups`),
    previewGroupKey: (body: GroupKeyPreviewInput): Promise<Answer<GroupKeyPreview>> =>
      client.post('/group-key-previews', { body }),
    suggestions: (): Promise<Answer<Items<RouteSuggestion>>> => client.get('/route-suggestions'),
    acceptSuggestion: (id: string, destinationIds: readonly string[]): Promise<Answer<Route>> =>
      client.post(`/route-suggestions/${id}/accept`, { body: { destination_ids: destinationIds } }),
    dismissSuggestion: (id: string): Promise<Answer<null>> => client.post(`/route-suggestions/${id}/dismiss`),
  };
}
