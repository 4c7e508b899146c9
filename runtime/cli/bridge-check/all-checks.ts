/** Every check, in the order in which they are made. */

import { EDITING_CHECKS, REPLY_CHECKS } from './checks/editing.ts';
import { ALL_EVENTS_CHECK, POLLING_CHECKS, PUSHING_CHECKS } from './checks/events.ts';
import { CHANNEL_CHECKS, ERRORS_CHECK, GENERAL_CHECKS, INFO_CHECKS } from './checks/general.ts';
import { PEOPLE_CHECKS } from './checks/people.ts';
import { PEOPLE_ACTING_CHECKS } from './checks/people-acting.ts';
import { OLD_KEY_CHECK, POSTING_CHECKS } from './checks/posting.ts';
import type { Check } from './run.ts';

export const ALL_CHECKS: readonly Check[] = [
  ...GENERAL_CHECKS,
  ...INFO_CHECKS,
  ...CHANNEL_CHECKS,
  ...POSTING_CHECKS,
  ...EDITING_CHECKS,
  ...REPLY_CHECKS,
  ...PEOPLE_CHECKS,
  ...POLLING_CHECKS,
  ...PEOPLE_ACTING_CHECKS,
  ...PUSHING_CHECKS,
  OLD_KEY_CHECK,
  ALL_EVENTS_CHECK,
  ERRORS_CHECK,
];
