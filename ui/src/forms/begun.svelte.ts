/** What a form on one resource began with, and what it says now. What arrives later is compared, never mixed in (ui §1.5). */
import { untrack } from 'svelte';
import type { Answer } from '../api/client.ts';
import { same } from './pointers.ts';

interface Versioned {
  readonly etag: string;
}

/**
 * Call it during component initialisation.
 * @param stored the resource as it is now
 * @param inputOf its fields that the form has, as a fresh object
 */
export function createBegun<Stored extends Versioned, Input extends object>(
  stored: () => Stored,
  inputOf: (stored: Stored) => Input,
) {
  const first = stored();
  let start = $state.raw(inputOf(first));
  let etag = $state(first.etag);
  let draft = $state(inputOf(first));

  // A newer version with the same fields is nobody else's edit: what changed is not in this form.
  $effect(() => {
    const newest = stored();
    untrack(() => {
      if (same(inputOf(newest), start)) etag = newest.etag;
    });
  });

  return {
    get start() {
      return start;
    },
    get etag() {
      return etag;
    },
    get draft() {
      return draft;
    },
    set draft(next: Input) {
      draft = next;
    },
    /** From now on the form is about another version. */
    begin(input: Input, nextEtag: string) {
      start = input;
      etag = nextEtag;
      draft = { ...input };
    },
    /** What is stored now, for the comparison after a conflict. */
    latest(answer: Answer<Stored>): Answer<{ readonly input: Input; readonly etag: string }> {
      if (!answer.ok) return answer;
      return { ...answer, value: { input: inputOf(answer.value), etag: answer.value.etag } };
    },
  };
}
