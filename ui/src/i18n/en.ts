/** Every text of the UI in English. The Russian catalogue must have the same keys, or it does not compile. */

import { alertGroups } from './en/alert-groups.ts';
import { configuration } from './en/configuration.ts';
import { messengers } from './en/messengers.ts';
import { people } from './en/people.ts';
import { records } from './en/records.ts';
import { settings } from './en/settings.ts';
import { shell } from './en/shell.ts';
import { sources } from './en/sources.ts';
import { system } from './en/system.ts';
import type { Plural } from './message.ts';

export const en = {
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

export type Catalogue = {
  readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural;
};
