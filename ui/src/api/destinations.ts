/** Destinations: what they are, and what they can be asked to do (api §15). */
import type { PageRequest } from './alert-groups.ts';
import type { Answer, ApiClient } from './client.ts';
import type {
  CreatedDestination,
  Destination,
  DestinationHealth,
  Items,
  Limiter,
  Mentions,
  NamedSecret,
  Page,
  SigningSecretStatus,
  WebhookInput,
} from './shapes.ts';

/** A channel behind a bridge. */
export interface BridgeInput {
  readonly type: 'bridge';
  readonly name: string;
  readonly connection_id: string;
  readonly channel_id: string;
  readonly mentions: Mentions;
  readonly limiter: Limiter;
}

export type DestinationInput = WebhookInput | BridgeInput;

export interface DestinationCheck {
  readonly ok: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly message: string | null;
  }[];
  readonly health: DestinationHealth;
  readonly request_log_run: string | null;
}

/** What a test or a preview is made of. */
export type TrialSource =
  | { readonly kind: 'example' }
  | { readonly kind: 'alert_group'; readonly alert_group_id: string };

export interface TrialRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string | null;
}

export interface TestStep {
  readonly name: string;
  readonly request: TrialRequest | null;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly extracted: Readonly<Record<string, string | null>> | null;
  readonly duration_ms: number;
  readonly error_class: string;
  readonly error: string | null;
}

export interface DestinationTest {
  readonly steps: readonly TestStep[];
  readonly health: DestinationHealth;
  readonly request_log_run: string | null;
}

export interface PreviewItem {
  readonly name: string;
  readonly format: string;
  readonly text: string | null;
  readonly request: TrialRequest | null;
}

export type DestinationsApi = ReturnType<typeof createDestinationsApi>;

export function createDestinationsApi(client: ApiClient) {
  const of = (id: string) => `/destinations/${id}`;
  return {
    list: (page: PageRequest): Promise<Answer<Page<Destination>>> =>
      client.get('/destinations', { query: { ...page } }),
    create: (body: DestinationInput): Promise<Answer<CreatedDestination>> =>
      client.post('/destinations', { body }),
    read: (id: string): Promise<Answer<Destination>> => client.get(of(id)),
    update: (id: string, body: DestinationInput, ifMatch: string): Promise<Answer<Destination>> =>
      client.put(of(id), { body, ifMatch }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
    check: (id: string): Promise<Answer<DestinationCheck>> => client.post(`${of(id)}/checks`),
    test: (id: string, source: TrialSource): Promise<Answer<DestinationTest>> =>
      client.post(`${of(id)}/tests`, { body: { source } }),
    preview: (id: string, source: TrialSource): Promise<Answer<Items<PreviewItem>>> =>
      client.post(`${of(id)}/previews`, { body: { source } }),
    secrets: (id: string): Promise<Answer<Items<NamedSecret>>> => client.get(`${of(id)}/secrets`),
    putSecret: (id: string, name: string, value: string): Promise<Answer<NamedSecret>> =>
      client.put(`${of(id)}/secrets/${encodeURIComponent(name)}`, { body: { value } }),
    deleteSecret: (id: string, name: string): Promise<Answer<null>> =>
      client.delete(`${of(id)}/secrets/${encodeURIComponent(name)}`),
    generateSigningSecret: (
      id: string,
    ): Promise<Answer<{ readonly secret: string; readonly status: SigningSecretStatus }>> =>
      client.post(`${of(id)}/signing-secret`),
    retireSigningSecret: (id: string): Promise<Answer<null>> =>
      client.delete(`${of(id)}/signing-secret/previous`),
  };
}
