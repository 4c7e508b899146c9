/** Faults that tests ask for by `PUT /_sim/faults`. */
import * as v from 'valibot';
import type { OperationName } from './operations.ts';
import { OPERATION_NAMES } from './routing.ts';
import { CLASSES, Refusal } from './wire.ts';

export const FAULTS = v.array(
  v.strictObject({
    operation: v.picklist(OPERATION_NAMES),
    /** How many requests it meets. */
    times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
    /** Answers this instead of doing anything; without it the operation is done. */
    status: v.optional(v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599))),
    class: v.optional(v.picklist(CLASSES)),
    reason: v.optional(v.string()),
    scope: v.optional(v.picklist(['bot', 'channel'])),
    /** Seconds. */
    retry_after: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
    delay_ms: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
    /** Does the work and ends the connection without an answer. */
    drop_answer: v.optional(v.boolean(), false),
  }),
);
export type Fault = v.InferOutput<typeof FAULTS>[number];

export interface Faults {
  set(faults: readonly Fault[]): void;
  /** The fault that meets this request. */
  take(operation: OperationName): Fault | null;
}

export function createFaults(): Faults {
  let left: { readonly fault: Fault; times: number }[] = [];
  return {
    set: (faults) => {
      left = faults.map((fault) => ({ fault, times: fault.times }));
    },
    take(operation) {
      const found = left.find(({ fault, times }) => fault.operation === operation && times > 0);
      if (!found) return null;
      found.times--;
      return found.fault;
    },
  };
}

/** What a fault with a status answers. */
export function refusalOf({ status, class: named, reason, scope, retry_after }: Fault): Refusal | null {
  if (status === undefined) return null;
  return new Refusal(status, 'asked for by /_sim/faults', { class: named, reason, scope, retry_after });
}
