/** The first steps of a new installation (ui §3.2): which there are, and what the service can say about each. */
import type { AlertGroupsApi } from '../../api/alert-groups.ts';
import type { Answer } from '../../api/client.ts';
import type { Integration, Route } from '../../api/shapes.ts';
import { STATUSES } from '../alert-group-list/filters.ts';

/** In the order in which they are done, each with the Permission to do it and where that is. */
const ALL = [
  { name: 'sender', permission: 'integrations:write', href: '/integrations/new' },
  { name: 'alert', permission: 'integrations:write', href: '/integrations' },
  { name: 'route', permission: 'routes:write', href: '/routes/new' },
  { name: 'destination', permission: 'destinations:write', href: '/connections/new' },
  { name: 'admin', permission: 'users:write', href: '/admin/users/new' },
  { name: 'keys', permission: 'organization:write', href: '/docs/keys' },
] as const;

export type StepName = (typeof ALL)[number]['name'];

export interface Step {
  readonly name: StepName;
  readonly href: string;
  readonly isDone: boolean;
}

/** What was read; null while it is unknown, or may not be read. */
export interface Facts {
  readonly integrations: readonly Integration[] | null;
  /** Whether there is an Alert Group, of whatever age. */
  readonly hasGroups: boolean | null;
  readonly routes: readonly Route[] | null;
  /** Active users with the Role admin. */
  readonly admins: number | null;
  /** What the person says: the service knows of no backup. */
  readonly hasKeyBackup: boolean;
}

export function mayAny(may: (permission: string) => boolean): boolean {
  return ALL.some(({ permission }) => may(permission));
}

/** Whether there is an Alert Group, of whatever age and status: the counts tell of the last 7 days alone. */
export async function hasGroups(list: AlertGroupsApi['list']): Promise<Answer<boolean>> {
  const all = { status: STATUSES, from: new Date(0).toISOString() };
  const answer = await list(all, { cursor: null, limit: 1 });
  if (!answer.ok) return answer;
  const { items, next_cursor } = answer.value;
  return { ...answer, value: items.length > 0 || next_cursor !== null };
}

/** The steps that the person may do. */
export function stepsOf(facts: Facts, may: (permission: string) => boolean): readonly Step[] {
  const senders = facts.integrations?.filter(({ builtin }) => !builtin) ?? [];
  const only = senders.length === 1 ? senders[0] : undefined;
  return ALL.filter(({ permission }) => may(permission)).map(({ name, href }) => {
    const isAtSender = name === 'sender' || name === 'alert';
    const own = isAtSender && only !== undefined ? `/integrations/${only.id}` : null;
    return { name, href: own ?? href, isDone: isDone(name, facts, senders) };
  });
}

function isDone(name: StepName, facts: Facts, senders: readonly Integration[]): boolean {
  const routes = facts.routes ?? [];
  switch (name) {
    case 'sender':
      return senders.some((each) => each.last_snapshot_at !== null || each.heartbeat.last_signal_at !== null);
    case 'alert':
      return senders.some((each) => each.last_snapshot_at !== null) && facts.hasGroups === true;
    case 'route':
      return routes.some((route) => !route.is_default || route.destination_ids.length > 0);
    case 'destination':
      return routes.some((route) => route.destination_ids.length > 0);
    case 'admin':
      return (facts.admins ?? 0) > 1;
    case 'keys':
      return facts.hasKeyBackup;
  }
}

/**
 * `unknown`: nobody looked yet whether the installation is new. `begun`: it was; the steps are shown until all are
 * done or somebody dismissed them. `over`: never again in this browser.
 */
export interface FirstRunState {
  readonly phase: 'unknown' | 'begun' | 'over';
  readonly hasKeyBackup: boolean;
}

export type FirstRunStore = Pick<Storage, 'getItem' | 'setItem'>;

const KEY = 'tocsin.first-run';
const PHASES = ['begun', 'over'] as const;

export function readFirstRun(storage: FirstRunStore): FirstRunState {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '{}');
    const { phase, hasKeyBackup } = Object(stored) as Record<string, unknown>;
    return {
      phase: PHASES.find((each) => each === phase) ?? 'unknown',
      hasKeyBackup: hasKeyBackup === true,
    };
  } catch {
    // Closed storage or foreign content: as in a browser that knows nothing.
    return { phase: 'unknown', hasKeyBackup: false };
  }
}

export function writeFirstRun(storage: FirstRunStore, state: FirstRunState): void {
  try {
    storage.setItem(KEY, JSON.stringify(state));
  } catch {
    // A full or closed storage: the choice ends with the page.
  }
}
