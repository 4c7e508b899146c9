/** English: the texts of the first load, those around every page and of Alert Groups. */
import { alertGroups } from './alert-groups.ts';
import { shell } from './shell.ts';

export const first = { ...shell, ...alertGroups };
