/** Every text of the UI in Russian. */
import type { Catalogue } from './en.ts';
import { alertGroups } from './ru/alert-groups.ts';
import { configuration } from './ru/configuration.ts';
import { messengers } from './ru/messengers.ts';
import { people } from './ru/people.ts';
import { records } from './ru/records.ts';
import { settings } from './ru/settings.ts';
import { shell } from './ru/shell.ts';
import { sources } from './ru/sources.ts';
import { system } from './ru/system.ts';

export const ru: Catalogue = {
  ...shell,
  ...alertGroups,
  ...configuration,
  ...sources,
  ...messengers,
  ...people,
  ...records,
  ...settings,
  ...system,
};
