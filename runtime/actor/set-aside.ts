import type { Micros } from '../clock.ts';
import type { Address } from './address.ts';
import type { ActorMessage, RecordedEffect } from './definition.ts';
import type { Receipt } from './store.ts';

/**
 * Says what is recorded, in the commit that uses up the receipt, about a message that no actor could apply: its
 * `receive` threw twice, or its commit was refused three times on its own for another reason than a write conflict.
 */
export type SetAside = (
  to: Address,
  message: ActorMessage,
  receipt: Receipt,
  error: Error,
) => readonly RecordedEffect[];

/** What is recorded of an inbox message that was set aside. */
export interface DeadLetterRecorded extends RecordedEffect {
  readonly type: 'dead_letter.recorded';
  readonly at: Micros;
  readonly to: Address;
  readonly from: Address | null;
  readonly message: ActorMessage;
  readonly error: string;
}
