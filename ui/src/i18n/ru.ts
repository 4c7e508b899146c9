/** Every text of the UI in Russian. */
import type { Catalogue } from './en.ts';
import { accountLinks } from './ru/account-links.ts';
import { alertGroups } from './ru/alert-groups.ts';
import { auditLog } from './ru/audit-log.ts';
import { configuration } from './ru/configuration.ts';
import { connections } from './ru/connections.ts';
import { destinations } from './ru/destinations.ts';
import { integrations } from './ru/integrations.ts';
import { links } from './ru/links.ts';
import { machines } from './ru/machines.ts';
import { oidc } from './ru/oidc.ts';
import { people } from './ru/people.ts';
import { requestLog } from './ru/request-log.ts';
import { routes } from './ru/routes.ts';
import { settings } from './ru/settings.ts';
import { shell } from './ru/shell.ts';
import { statistics } from './ru/statistics.ts';
import { system } from './ru/system.ts';
import { timeline } from './ru/timeline.ts';
import { webhooks } from './ru/webhooks.ts';

export const ru: Catalogue = {
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
