/** What a conformance check of a bridge is: data with a question to the bridge. */
import type { Run } from './run.ts';

export type Verdict = 'PASS' | 'FAIL' | 'WARN' | 'SKIP';

/** What a check cannot do without: an option, something the bridge declares, somebody at the messenger, another check. */
export type Need =
  | 'channel'
  | 'missing-channel'
  | 'handle'
  | 'unknown-handle'
  | 'second-token'
  | 'listener'
  | 'person'
  | 'events'
  | 'buttons'
  | 'delete'
  | 'bot_can_start'
  | 'private_answers'
  | 'thread_messages'
  | 'deletion_events'
  | 'user_lookup'
  | 'poll'
  | 'short_edit_window'
  | { readonly check: string };

export interface Check {
  readonly id: string;
  readonly needs: readonly Need[];
  /** What must be is a FAIL otherwise; what should be, a WARN. */
  readonly level: 'must' | 'should';
  /** The rule, for reports and the documentation. */
  readonly text: string;
  /** @throws Unmet */
  run(run: Run): Promise<void>;
}

/** A rule that the bridge does not keep. */
export class Unmet extends Error {}

/** @throws Unmet */
export function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Unmet(otherwise);
}
