/** Cases whose feature is not built: left out of runs, and rows that have no case. The coverage test keeps it honest. */

export interface NotYet {
  /** Name of a case, or `<table> <row>` of a row without one. */
  readonly name: string;
  readonly why: string;
}

export const NOT_YET: readonly NotYet[] = [
  { name: 'ingestion 34', why: 'told by test/crash/postgres.test.ts: the database has to be stopped' },
  {
    name: 'internal-alerts 9',
    why: 'message templates of Routes and Destinations are not built, so none fails',
  },
  { name: 'internal-alerts 10', why: 'sign-in through an identity provider is not built' },
  { name: 'internal-alerts 13', why: 'the outgoing heartbeat is not built' },
  { name: 'internal-alerts 14', why: 'the outgoing heartbeat is not built' },
];
