/** Why a check cannot be made here. */
import type { Check, Need } from './check.ts';
import type { CheckResult, Run } from './run.ts';

/** A longer edit window is not waited for. */
const SHORT_EDIT_WINDOW_SECONDS = 120;

type NamedNeed = Exclude<Need, object>;

/** Whether what is needed is there, and what to say when it is not. */
const NEEDS: Readonly<Record<NamedNeed, { isMet(run: Run): boolean; readonly otherwise: string }>> = {
  channel: option(({ channel }) => channel, '--channel'),
  'missing-channel': option(({ missingChannel }) => missingChannel, '--missing-channel'),
  handle: option(({ handle }) => handle, '--handle'),
  'unknown-handle': option(({ unknownHandle }) => unknownHandle, '--unknown-handle'),
  'second-token': option(({ secondToken }) => secondToken, '--second-token'),
  listener: {
    isMet: ({ inbox, declared }) => inbox !== null && declared.delivery.includes('push'),
    otherwise: 'needs --push-listen and a bridge that pushes',
  },
  person: { isMet: ({ person }) => person !== null, otherwise: 'needs --interactive or --sim' },
  events: {
    isMet: ({ events }) => events !== null,
    otherwise: 'needs a bridge that is polled, or --push-listen',
  },
  buttons: capability('buttons'),
  delete: capability('delete'),
  bot_can_start: {
    isMet: ({ declared }) => declared.botCanStart,
    otherwise: 'direct_messages.bot_can_start is not declared',
  },
  private_answers: capability('private_answers'),
  thread_messages: capability('thread_messages'),
  deletion_events: capability('deletion_events'),
  user_lookup: {
    isMet: ({ declared }) => declared.userLookup !== 'none',
    otherwise: 'user_lookup is none',
  },
  poll: {
    isMet: ({ declared }) => declared.delivery.includes('poll'),
    otherwise: 'the bridge is not polled',
  },
  short_edit_window: {
    isMet: ({ declared: { editMaxAgeSeconds: age } }) => age !== null && age <= SHORT_EDIT_WINDOW_SECONDS,
    otherwise: `needs an edit window of at most ${SHORT_EDIT_WINDOW_SECONDS} s`,
  },
};

/** null: the check can be made. */
export function reasonToSkip({ needs }: Check, run: Run, before: readonly CheckResult[]): string | null {
  for (const need of needs) {
    if (typeof need === 'string' && !NEEDS[need].isMet(run)) return NEEDS[need].otherwise;
    if (typeof need === 'string') continue;
    const passed = before.some(({ id, verdict }) => id === need.check && verdict === 'PASS');
    if (!passed) return `${need.check} did not pass`;
  }
  return null;
}

function option(value: (given: Run['given']) => string | null, name: string) {
  return { isMet: ({ given }: Run) => value(given) !== null, otherwise: `needs ${name}` };
}

function capability(name: string) {
  return { isMet: ({ declared }: Run) => declared.has(name), otherwise: `${name} is not declared` };
}
