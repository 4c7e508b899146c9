/** Every text of the UI in Russian. */
import type { Catalogue } from './en.ts';
import { first } from './ru/first.ts';
import { group } from './ru/group.ts';
import { rest } from './ru/rest.ts';

export const ru: Catalogue = { ...first, ...group, ...rest };
