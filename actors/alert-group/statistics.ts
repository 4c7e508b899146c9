/** How many Alert Groups started in a period and how fast people were. Implemented by storage (Alert Group chapter §10). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';

export const STATISTICS_SUBJECTS = ['route', 'integration'] as const;
export type StatisticsSubject = (typeof STATISTICS_SUBJECTS)[number];

export interface StatisticsQuery {
  readonly groupBy: StatisticsSubject;
  /** Of the kind grouped by; empty: all. */
  readonly subjectIds: readonly PublicId[];
  /** Started within [from, to). */
  readonly from: Micros;
  readonly to: Micros;
  /** A name of the IANA database: whose dates days are. */
  readonly timeZone: string;
}

/** A percentile of durations, exact by linear interpolation, µs; null when none was counted. */
export interface Durations {
  readonly count: number;
  readonly median: number | null;
  readonly p95: number | null;
}

export interface Figures {
  readonly groupCount: number;
  /** From the start to the first Acknowledge, of those ever acknowledged. */
  readonly timeToAcknowledge: Durations;
  /** From the start to the end, of those that are resolved now. */
  readonly timeToResolve: Durations;
}

export interface SubjectFigures extends Figures {
  readonly subjectId: PublicId;
  /** Dates of start that have any, `YYYY-MM-DD`, ascending. */
  readonly days: readonly (Figures & { readonly date: string })[];
}

export interface StatisticsReader {
  /** Subjects that have Alert Groups in the period, in no particular order. */
  read(query: StatisticsQuery): Promise<readonly SubjectFigures[]>;
}
