/** Older shapes of a persisted Alert Group. */
import * as v from 'valibot';
import { NEVER_REMINDED } from './timers.ts';

const Context = v.looseObject({
  owner: v.nullable(v.unknown()),
  firstPublishedAt: v.nullable(v.number()),
  prior: v.nullable(v.looseObject({ status: v.string() })),
});

const Persisted = v.variant('stage', [
  v.looseObject({ stage: v.literal('unstarted') }),
  v.looseObject({
    stage: v.literal('started'),
    snapshot: v.looseObject({ value: v.unknown(), context: Context }),
  }),
]);

/**
 * Schema 1 knew neither holds nor notices. As with a timer that is switched on, nothing starts for a group that has been
 * firing or acknowledged before: its next status, or its first Publication, does (routes §8).
 * @throws for a schema that no version stored
 */
export function migrateState(persisted: unknown, from: number): unknown {
  if (from !== 1) throw new Error(`no Alert Group was ever stored with schema ${from}`);
  const state = v.parse(Persisted, persisted);
  if (state.stage === 'unstarted') return state;
  const { value, context } = state.snapshot;
  const { owner, prior, firstPublishedAt } = context;
  const snapshot = {
    ...state.snapshot,
    value: isTimed(value) ? { [value]: firstPublishedAt === null ? 'waiting' : 'silent' } : value,
    context: {
      ...context,
      prior: prior?.status === 'acknowledged' ? { ...prior, reminders: NEVER_REMINDED } : prior,
      held: false,
      acceptedWhileHeld: false,
      noticeAt: null,
      noticesSent: 0,
      reminders: owner === null ? null : NEVER_REMINDED,
    },
  };
  return { ...state, snapshot };
}

function isTimed(value: unknown): value is 'firing' | 'acknowledged' {
  return value === 'firing' || value === 'acknowledged';
}
