/**
 * Format of what replicas keep where they meet. It is part of the names of the keys, so that releases with another format
 * leave each other's entries alone while a rolling update lasts. They meet in two places then: each grants every shard,
 * epochs decide, and quarrels are slowed down (`placement/quarrels.ts`). So a new number is for what cannot be added in a
 * way that the scripts of the release before pass over.
 */
const FORMAT = 'v1';

export interface MeetingKeys {
  readonly replicas: string;
  readonly leader: string;
  readonly assignment: string;
  readonly grants: string;
}

/** Where the installation with this prefix keeps its leases, assignment and grants. */
export function meetingKeys(prefix: string): MeetingKeys {
  const key = (name: keyof MeetingKeys) => `${prefix}${FORMAT}.${name}`;
  return {
    replicas: key('replicas'),
    leader: key('leader'),
    assignment: key('assignment'),
    grants: key('grants'),
  };
}
