/** English: the texts of all other pages. */
import { configuration } from './configuration.ts';
import { messengers } from './messengers.ts';
import { people } from './people.ts';
import { records } from './records.ts';
import { settings } from './settings.ts';
import { sources } from './sources.ts';
import { system } from './system.ts';

export const rest = {
  ...configuration,
  ...sources,
  ...messengers,
  ...people,
  ...records,
  ...settings,
  ...system,
};
