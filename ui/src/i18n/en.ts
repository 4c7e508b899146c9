/** Every text of the UI in English. The Russian catalogue must have the same keys, or it does not compile. */
import { accountLinks } from './en/account-links.ts';
import { alertGroups } from './en/alert-groups.ts';
import { auditLog } from './en/audit-log.ts';
import { configuration } from './en/configuration.ts';
import { connections } from './en/connections.ts';
import { destinations } from './en/destinations.ts';
import { integrations } from './en/integrations.ts';
import { links } from './en/links.ts';
import { machines } from './en/machines.ts';
import { oidc } from './en/oidc.ts';
import { people } from './en/people.ts';
import { requestLog } from './en/request-log.ts';
import { routes } from './en/routes.ts';
import { settings } from './en/settings.ts';
import { shell } from './en/shell.ts';
import { statistics } from './en/statistics.ts';
import { system } from './en/system.ts';
import { timeline } from './en/timeline.ts';
import { webhooks } from './en/webhooks.ts';
import type { Plural } from './message.ts';

export const en = {
  ...shell,
  ...alertGroups,
  ...timeline,
  ...configuration,
  ...system,
  ...statistics,
  ...machines,
  ...integrations,
  ...routes,
  ...requestLog,
  ...links,
  ...connections,
  ...destinations,
  ...auditLog,
  ...people,
  ...oidc,
  ...accountLinks,
  ...settings,
  ...webhooks,
};

export type Catalogue = {
  readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural;
};
