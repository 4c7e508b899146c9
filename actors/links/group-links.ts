/** The links of a stored Alert Group, for whoever reads it (messages §9.2). */
import { setImmediate } from 'node:timers/promises';
import type { Micros, Monotonic } from '../../runtime/clock.ts';
import type { StoredGroup } from '../alert-group/reading.ts';
import type { Directory } from '../directory.ts';
import type { TemplateAlerts } from '../previews/ports.ts';
import { templateGroup } from '../previews/stored-group.ts';
import type { LinkSource } from './configuration.ts';
import { evaluating, type GroupLink, linksOfAlerts, rulesFor } from './evaluate.ts';
import type { LinkFailures } from './failures.ts';

export interface GroupLinks {
  /** By Link rules as well; reads the Alerts of the group. */
  of(group: StoredGroup, at: ReadingMoment): Promise<readonly GroupLink[]>;
}

export interface ReadingMoment {
  readonly directory: Directory;
  readonly now: Micros;
}

export interface GroupLinksDeps {
  readonly links: Pick<LinkSource, 'current'>;
  readonly alerts: TemplateAlerts;
  readonly failures: LinkFailures;
  readonly publicUrl: string;
  readonly monotonic: Monotonic;
}

export function createGroupLinks(deps: GroupLinksDeps): GroupLinks {
  const { links, alerts, failures, publicUrl, monotonic } = deps;
  return {
    async of(group, { directory, now }) {
      const configuration = links.current();
      if (rulesFor(configuration, group.commonLabels).length === 0) return linksOfAlerts(group);
      const seen = templateGroup(group, await alerts.of(group.id), { directory, publicUrl });
      const zone = directory.organization.timeZone;
      const steps = evaluating(seen, group, { configuration, now, zone, monotonic });
      for (;;) {
        const step = steps.next();
        if (!step.done) {
          await setImmediate();
          continue;
        }
        failures.report(group.id, step.value.failed);
        return step.value.links;
      }
    },
  };
}
