/** Every text of the UI in English. The Russian catalogue must have the same keys, or it does not compile. */

import { first } from './en/first.ts';
import { group } from './en/group.ts';
import { rest } from './en/rest.ts';
import type { Plural } from './message.ts';

export const en = { ...first, ...group, ...rest };

export type Catalogue = {
  readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural;
};
