/** Russian: the texts of all pages but the list, which come after its rows. */
import { alertGroup } from './alert-group.ts';
import { configuration } from './configuration.ts';
import { messengers } from './messengers.ts';
import { onDemand } from './on-demand.ts';
import { people } from './people.ts';
import { records } from './records.ts';
import { settings } from './settings.ts';
import { sources } from './sources.ts';
import { system } from './system.ts';

export const rest = {
  ...alertGroup,
  ...onDemand,
  ...configuration,
  ...sources,
  ...messengers,
  ...people,
  ...records,
  ...settings,
  ...system,
};
