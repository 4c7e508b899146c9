/** An Alert Group as events-mode webhooks tell of it, for tests and previews (webhooks §3.3, §6). */
import type { PublicId } from '../../../runtime/public-id.ts';
import type { GroupReader, StoredAlert, StoredGroup } from '../../alert-group/reading.ts';
import { alertViews } from '../../alert-group/view.ts';
import type { DirectorySource } from '../../directory.ts';
import type { AlertView, GroupView } from '../../lifecycle.ts';
import type { GroupScene } from '../sending/scene.ts';

export type TrialViews = (scene: GroupScene) => Promise<GroupView>;

export interface TrialViewDeps {
  readonly groups: Pick<GroupReader, 'read' | 'alerts'>;
  readonly directory: Pick<DirectorySource, 'current'>;
}

/** Alerts of one read. */
const PAGE = 1_000;

export function createTrialViews({ groups, directory }: TrialViewDeps): TrialViews {
  const alertsOf = async (groupId: PublicId): Promise<readonly StoredAlert[]> => {
    const found: StoredAlert[] = [];
    let after: readonly (string | number)[] | null = null;
    do {
      const { items, next }: Awaited<ReturnType<GroupReader['alerts']>> = await groups.alerts({
        groupId,
        state: null,
        after,
        limit: PAGE,
      });
      found.push(...items);
      after = next;
    } while (after !== null);
    return found;
  };

  return async (scene) => {
    const stored = await groups.read(scene.group.id);
    const alerts = stored ? alertViews(await alertsOf(stored.id)) : exampleAlerts(scene);
    return { ...viewOf(scene), owner: ownerOf(stored, directory), alerts };
  };
}

function viewOf({ group, data, routeId, resolvedAt }: GroupScene): Omit<GroupView, 'owner' | 'alerts'> {
  return {
    id: group.id,
    title: group.title,
    summary: group.summary,
    status: group.status,
    routeId,
    routeName: data.route,
    urgent: group.urgent,
    severityLevel: group.severityLevel,
    startedAt: group.startedAt,
    resolvedAt,
    snoozeUntil: group.snooze?.until ?? null,
    reopenCount: group.reopenCount,
  };
}

function ownerOf(stored: StoredGroup | null, directory: TrialViewDeps['directory']): GroupView['owner'] {
  const owner = stored?.ownerId ? directory.current().usersById.get(stored.ownerId) : undefined;
  return owner ? { id: owner.id, name: owner.name, login: owner.login } : null;
}

/** The built-in example fires. */
function exampleAlerts({ data }: GroupScene): readonly AlertView[] {
  return data.alerts.map(({ fingerprint, status: state, labels, annotations, startsAt, generatorUrl }) => ({
    ...{ fingerprint, state, labels, annotations, startsAt, generatorUrl },
    resolvedAt: null,
    resolveReason: null,
  }));
}
