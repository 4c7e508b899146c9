/** What people change of themselves. Implemented in storage/own-profile.ts. */
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { User } from './user.ts';

export interface ProfileFields {
  readonly name: string;
  readonly timeZone: string | null;
  readonly language: User['language'];
}

export interface Profiles {
  /** `fieldsOf` makes the fields from what is there, under a lock; what is stored already changes nothing. */
  update(id: PublicId, fieldsOf: (current: User) => ProfileFields, author: Authorship): Promise<User>;
}
