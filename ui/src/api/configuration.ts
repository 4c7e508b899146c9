/** Operations on Integrations, Routes, Destinations and the Organization (api §9 to §11, §15). */

import type { Answer, ApiClient, Query } from './client.ts';
import { createConnectionsApi } from './connections.ts';
import type {
  ChannelInput,
  CreatedDestination,
  CreatedIntegrationToken,
  Destination,
  GroupKeyPreview,
  GroupKeyPreviewInput,
  Integration,
  IntegrationAlert,
  IntegrationToken,
  Items,
  NamedSecret,
  Organization,
  Page,
  PageRequest,
  Route,
  RouteProfile,
  RouteSuggestion,
  SavedView,
  Schemas,
  SenderRoute,
  StoredSnapshot,
  StoredSnapshotBody,
} from './shapes.ts';

export type ConfigurationApi = ReturnType<typeof createConfigurationApi>;

export function createConfigurationApi(client: ApiClient) {
  return {
    organization: (): Promise<Answer<Organization>> => client.get('/organization'),
    integrations: integrations(client),
    routes: routes(client),
    destinations: createDestinationsApi(client),
    connections: createConnectionsApi(client),
    savedViews: savedViews(client),
  };
}

export type SavedViewsApi = ReturnType<typeof savedViews>;

function savedViews(client: ApiClient) {
  const { list, ...changes } = resource<SavedView, Schemas['SavedViewInput']>(client, '/saved-views');
  return {
    /** All that the person sees: there are at most 150. */
    list: () => list({ cursor: null, limit: 200 }),
    ...changes,
    /** The view with which the list begins; null for none. */
    choose: (id: string | null): Promise<Answer<null>> =>
      client.put('/me/default-view', { body: { view_id: id } satisfies Schemas['DefaultViewInput'] }),
  };
}

function integrations(client: ApiClient) {
  const of = (id: string) => `/integrations/${id}`;
  return {
    list: (page: PageRequest): Promise<Answer<Page<Integration>>> =>
      client.get('/integrations', { query: { ...page } }),
    create: (body: Schemas['IntegrationInput']): Promise<Answer<Integration>> =>
      client.post('/integrations', { body }),
    read: (id: string): Promise<Answer<Integration>> => client.get(of(id)),
    update: (id: string, body: Schemas['IntegrationInput'], ifMatch: string): Promise<Answer<Integration>> =>
      client.put(of(id), { body, ifMatch }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
    tokens: (id: string): Promise<Answer<Items<IntegrationToken>>> => client.get(`${of(id)}/tokens`),
    createToken: (
      id: string,
      body: Schemas['IntegrationTokenInput'],
    ): Promise<Answer<CreatedIntegrationToken>> => client.post(`${of(id)}/tokens`, { body }),
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
    create: (body: Schemas['RouteInput']): Promise<Answer<Route>> => client.post('/routes', { body }),
    read: (id: string): Promise<Answer<Route>> => client.get(of(id)),
    update: (id: string, body: Schemas['RouteInput'], ifMatch: string): Promise<Answer<Route>> =>
      client.put(of(id), { body, ifMatch }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
    reorder: (ids: readonly string[], ifMatch: string | null): Promise<Answer<Items<Route>>> =>
      client.put('/route-order', { body: { route_ids: ids } satisfies Schemas['RouteOrderInput'], ifMatch }),
    /** @param limit most Alert Groups that are moved; when fewer were, none is left */
    moveOpenAlertGroups: (id: string, limit: number): Promise<Answer<Schemas['MoveOpenAlertGroupsAnswer']>> =>
      client.post(`${of(id)}/move-open-alert-groups`, { query: { limit }, long: true }),
    previewGroupKey: (body: GroupKeyPreviewInput): Promise<Answer<GroupKeyPreview>> =>
      client.post('/group-key-previews', { body, harmless: true }),
    suggestions: (): Promise<Answer<Items<RouteSuggestion>>> => client.get('/route-suggestions'),
    acceptSuggestion: (id: string, destinationIds: readonly string[]): Promise<Answer<Route>> =>
      client.post(`/route-suggestions/${id}/accept`, {
        body: { destination_ids: destinationIds } satisfies Schemas['RouteSuggestionAcceptance'],
      }),
    dismissSuggestion: (id: string): Promise<Answer<null>> => client.post(`/route-suggestions/${id}/dismiss`),
  };
}

type DestinationInput = Schemas['WebhookDestinationInput'] | ChannelInput;

export type DestinationCheck = Schemas['DestinationCheck'];

/** What a test or a preview is made of. */
export type TrialSource = NonNullable<Schemas['DestinationTrialInput']['source']>;

export type TrialRequest = Schemas['TrialRequest'];

export type TestStep = Schemas['DestinationTestStep'];

export type DestinationTest = Schemas['DestinationTest'];

export type PreviewItem = Schemas['DestinationPreview'];

function createDestinationsApi(client: ApiClient) {
  const of = (id: string) => `/destinations/${id}`;
  return {
    list: (page: PageRequest): Promise<Answer<Page<Destination>>> =>
      client.get('/destinations', { query: { ...page } }),
    create: (body: DestinationInput): Promise<Answer<CreatedDestination>> =>
      client.post('/destinations', { body, long: true }),
    read: (id: string): Promise<Answer<Destination>> => client.get(of(id)),
    update: (id: string, body: DestinationInput, ifMatch: string): Promise<Answer<Destination>> =>
      client.put(of(id), { body, ifMatch, long: true }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
    check: (id: string): Promise<Answer<DestinationCheck>> => client.post(`${of(id)}/checks`, { long: true }),
    test: (id: string, source: TrialSource): Promise<Answer<DestinationTest>> =>
      client.post(`${of(id)}/tests`, {
        body: { source } satisfies Schemas['DestinationTrialInput'],
        long: true,
      }),
    preview: (id: string, source: TrialSource): Promise<Answer<Items<PreviewItem>>> =>
      client.post(`${of(id)}/previews`, {
        body: { source } satisfies Schemas['DestinationTrialInput'],
        harmless: true,
      }),
    secrets: (id: string): Promise<Answer<Items<NamedSecret>>> => client.get(`${of(id)}/secrets`),
    putSecret: (id: string, name: string, value: string): Promise<Answer<NamedSecret>> =>
      client.put(`${of(id)}/secrets/${encodeURIComponent(name)}`, {
        body: { value } satisfies Schemas['SecretInput'],
      }),
    deleteSecret: (id: string, name: string): Promise<Answer<null>> =>
      client.delete(`${of(id)}/secrets/${encodeURIComponent(name)}`),
    generateSigningSecret: (id: string): Promise<Answer<Schemas['GenerateSigningSecretAnswer']>> =>
      client.post(`${of(id)}/signing-secret`),
    retireSigningSecret: (id: string): Promise<Answer<null>> =>
      client.delete(`${of(id)}/signing-secret/previous`),
  };
}

/** Link rules, Lookup tables and previews of templates (api §16). */
export type LinkScope = LinkRule['scope'];

export type LinkRuleInput = Pick<LinkRule, 'name' | 'matchers' | 'scope' | 'url_template'>;

export type LinkRule = Schemas['LinkRule'];

export type LookupEntry = LookupTable['entries'][number];

export type LookupTableInput = Pick<LookupTable, 'name' | 'description' | 'columns' | 'entries'>;

export type LookupTable = Schemas['LookupTable'];

export type TemplateKind = Schemas['TemplateKind'];
export type TemplateFormat = NonNullable<TemplatePreview['format']>;

export type TemplatePreviewInput = Schemas['TemplatePreviewInput'];

export type TemplatePreview = Schemas['TemplatePreview'];

export type LinksApi = ReturnType<typeof createLinksApi>;

export function createLinksApi(client: ApiClient) {
  return {
    rules: resource<LinkRule, Schemas['LinkRuleInput']>(client, '/link-rules'),
    tables: resource<LookupTable, Schemas['LookupTableInput']>(client, '/lookup-tables'),
    preview: (body: TemplatePreviewInput): Promise<Answer<TemplatePreview>> =>
      client.post('/template-previews', { body, harmless: true }),
  };
}

function resource<Item, Input>(client: ApiClient, path: string) {
  const of = (id: string) => `${path}/${id}`;
  return {
    list: (page: PageRequest): Promise<Answer<Page<Item>>> => client.get(path, { query: { ...page } }),
    create: (body: Input): Promise<Answer<Item>> => client.post(path, { body }),
    read: (id: string): Promise<Answer<Item>> => client.get(of(id)),
    update: (id: string, body: Input, ifMatch: string): Promise<Answer<Item>> =>
      client.put(of(id), { body, ifMatch }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
  };
}
