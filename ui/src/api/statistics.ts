/** How many Alert Groups there were and how fast people were (api §12, alert-groups §10 item 8). */
import type { Answer, ApiClient, Query } from './client.ts';
import type { EntityRef, Instant } from './shapes.ts';

/** Percentiles of a duration; null when nothing was counted. */
export interface DurationFigures {
  readonly count: number;
  readonly median_seconds: number | null;
  readonly p95_seconds: number | null;
}

export interface Figures {
  readonly alert_group_count: number;
  readonly time_to_acknowledge: DurationFigures;
  readonly time_to_resolve: DurationFigures;
}

/** A local date of start that has any Alert Group. */
export interface DayFigures extends Figures {
  /** `YYYY-MM-DD` in the zone that was asked for. */
  readonly date: string;
}

export interface StatisticsItem extends Figures {
  readonly subject: EntityRef;
  readonly per_day: readonly DayFigures[];
}

export type GroupBy = 'route' | 'integration';

export interface Statistics {
  readonly group_by: GroupBy;
  readonly from: Instant;
  readonly to: Instant;
  readonly items: readonly StatisticsItem[];
}

export type StatisticsApi = ReturnType<typeof createStatisticsApi>;

export function createStatisticsApi(client: ApiClient) {
  return {
    read: (query: Query): Promise<Answer<Statistics>> => client.get('/alert-group-statistics', { query }),
  };
}
