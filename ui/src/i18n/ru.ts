/** Every text of the UI in Russian. */
import type { Catalogue } from './en.ts';
import { alertGroups, timeline } from './ru/alert-groups.ts';
import { configuration } from './ru/configuration.ts';
import { accountLinks, connections, destinations, webhooks } from './ru/messengers.ts';
import { people } from './ru/people.ts';
import { auditLog, requestLog } from './ru/records.ts';
import { oidc, settings } from './ru/settings.ts';
import { shell } from './ru/shell.ts';
import { integrations, links, routes } from './ru/sources.ts';
import { machines, statistics, system } from './ru/system.ts';

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
