/** Figures over time (api §12, delivery §7.6), asked by pages that are loaded when they are opened. */
import type { Answer, ApiClient, Query } from './client.ts';
import type { DeliveryHours, Schemas } from './shapes.ts';

export type DeliveriesApi = ReturnType<typeof createDeliveriesApi>;

export function createDeliveriesApi(client: ApiClient) {
  return {
    hours: (): Promise<Answer<DeliveryHours>> => client.get('/delivery-hours'),
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
