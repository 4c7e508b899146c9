/** What people's names, logins and addresses must be like (access §7). Pure. */
import { codePoints } from '../text.ts';

const LONGEST_LOGIN = 200;
const LONGEST_EMAIL = 254;
/** Deleted users are called so; nobody else is. */
const OF_DELETED = 'deleted-user-';

/** What is wrong with the login of a new user; null when it will do. Nothing is trimmed. */
export function loginFault(login: string): 'too_long' | 'invalid_format' | null {
  if (codePoints(login) > LONGEST_LOGIN) return 'too_long';
  if (/[\s\p{Cc}]/u.test(login) || login.toLowerCase().startsWith(OF_DELETED)) return 'invalid_format';
  return null;
}

/** Whether a text has the form local@domain. Whether anybody reads what is sent there is not asked. */
export function isEmail(text: string): boolean {
  return codePoints(text) <= LONGEST_EMAIL && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text);
}

/** Name and login of a user who was deleted. */
export function nameOfDeleted(id: string): string {
  return `${OF_DELETED}${id}`;
}
