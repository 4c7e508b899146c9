/** How the connections of a replica are called in `pg_stat_activity`, so that an operator sees who is who. */

export type ConnectionPurpose = 'main' | 'commits' | 'ingestion' | 'lock' | 'start';

/** PostgreSQL cuts what is longer, bytes. */
const LONGEST = 63;

/**
 * `tocsin <purpose> <replica id>`, at most 63 bytes. Of a long id the end is kept: replicas of one installation begin
 * alike.
 * @param replicaId ASCII (operations §1.1)
 */
export function applicationName(purpose: ConnectionPurpose, replicaId: string): string {
  const start = `tocsin ${purpose} `;
  return start + replicaId.slice(-(LONGEST - start.length));
}
