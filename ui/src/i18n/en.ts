/** Every text of the UI in English. The Russian catalogue must have the same keys, or it does not compile. */

import { alertGroups, timeline } from './en/alert-groups.ts';
import { configuration } from './en/configuration.ts';
import { accountLinks, connections, destinations, webhooks } from './en/messengers.ts';
import { people } from './en/people.ts';
import { auditLog, requestLog } from './en/records.ts';
import { oidc, settings } from './en/settings.ts';
import { shell } from './en/shell.ts';
import { integrations, links, routes } from './en/sources.ts';
import { machines, statistics, system } from './en/system.ts';
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
