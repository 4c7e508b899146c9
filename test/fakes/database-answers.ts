import type { DatabaseAnswers } from '../../runtime/placement/database-answers.ts';

/** A database that always answers. */
export const answering: DatabaseAnswers = { arrive: true, areMissing: false };
