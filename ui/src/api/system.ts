/** The state of the service itself, and what everybody should know right now (api §18). */
import type { Answer, ApiClient, Query } from './client.ts';
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
    actors: (kind: string, state: string, page: PageRequest): Promise<Answer<Page<ListedActor>>> =>
      client.get('/actors', { query: { kind, state, ...page } }),
    actor: (kind: string, key: string): Promise<Answer<ActorState>> =>
      client.get(`/actors/${encodeURIComponent(kind)}/${encodeURIComponent(key)}`),
  };
}

/** Percentiles of a duration; null when nothing was counted. */
export type DurationFigures = Schemas['DurationFigures'];

export type Figures = Omit<DayFigures, 'date'>;

/** A local date of start that has any Alert Group. */
export type DayFigures = NonNullable<StatisticsItem['per_day']>[number];

export type HourFigures = Statistics['per_hour'][number];

export type NoiseFigures = Omit<Statistics['noisiest'][number], 'alert_name'>;

export type StatisticsItem = Statistics['items'][number];

export type GroupBy = Statistics['group_by'];

export type Statistics = Schemas['AlertGroupStatistics'];

export type Flow = Schemas['AlertGroupFlow'];

export type FlowNode = Flow['nodes'][number];

export type StatisticsApi = ReturnType<typeof createStatisticsApi>;

export function createStatisticsApi(client: ApiClient) {
  return {
    read: (query: Query): Promise<Answer<Statistics>> => client.get('/alert-group-statistics', { query }),
    flow: (query: Query): Promise<Answer<Flow>> => client.get('/alert-group-flow', { query }),
  };
}
