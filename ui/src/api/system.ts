/** The state of the service itself, and what everybody should know right now (api §18). */
import type { Answer, ApiClient } from './client.ts';
import type { Items, Page, PageRequest, Schemas } from './shapes.ts';

export type SystemNotice = Schemas['SystemNotice'];

export type Queue = Schemas['QueueStatus'];

export type SystemStatus = Schemas['SystemStatus'];

/** A master key of the installation; the key itself is never sent. */
export type MasterKeyUse = Keyring['keys'][number];

/** The active key first. */
export type Keyring = Schemas['Keyring'];

/** One actor as it is now, and what it was given since it was loaded, the newest first. */
export type ActorState = Schemas['Actor'];

/** How many actors of a kind are in one state. */
export type ActorCount = Schemas['ActorCount'];

export type ListedActor = Schemas['ListedActor'];

export type SystemApi = ReturnType<typeof createSystemApi>;

export function createSystemApi(client: ApiClient) {
  return {
    notices: (): Promise<Answer<Items<SystemNotice>>> => client.get('/system-notices'),
    status: (): Promise<Answer<SystemStatus>> => client.get('/system-status'),
    keyring: (): Promise<Answer<Keyring>> => client.get('/organization/keyring'),
    actorCounts: (): Promise<Answer<Items<ActorCount>>> => client.get('/actor-counts'),
    actors: (
      kind: string,
      state: string,
      page: PageRequest,
      signal: AbortSignal,
    ): Promise<Answer<Page<ListedActor>>> =>
      client.get('/actors', { query: { kind, state, ...page }, signal }),
    actor: (kind: string, key: string): Promise<Answer<ActorState>> =>
      client.get(`/actors/${encodeURIComponent(kind)}/${encodeURIComponent(key)}`),
  };
}
