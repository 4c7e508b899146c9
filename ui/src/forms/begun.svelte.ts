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

/** Of settings, how their form shows and reads them. */
interface SettingsForm<Settings extends Versioned, Draft, Shown> {
  toDraft(settings: Settings): Draft;
  /** What is compared: secrets are typed, and read by nobody. */
  shown(draft: Draft): Shown;
  read(): Promise<Answer<Settings>>;
}

/**
 * The same for settings, which arrive and are saved as a whole. Call it during component initialisation.
 * @param settings as they are now
 */
export function createBegunSettings<Settings extends Versioned, Draft, Shown>(
  settings: () => Settings,
  { toDraft, shown, read }: SettingsForm<Settings, Draft, Shown>,
) {
  let stored = $state.raw(settings());
  let draft = $state(toDraft(settings()));
  /** What the conflict dialog compared with. */
  let latest = settings();
  const written = () => $state.snapshot(draft) as Draft;

  function begin(next: Settings) {
    stored = next;
    draft = toDraft(next);
  }

  return {
    get stored() {
      return stored;
    },
    get draft() {
      return draft;
    },
    set draft(next: Draft) {
      draft = next;
    },
    /** The fields as they are typed now. */
    written,
    current: () => shown(written()),
    get start() {
      return shown(toDraft(stored));
    },
    begin,
    reset: () => begin(stored),
    takeTheirs: () => begin(latest),
    async readLatest(): Promise<Answer<{ readonly input: Shown; readonly etag: string }>> {
      const answer = await read();
      if (!answer.ok) return answer;
      latest = answer.value;
      return { ...answer, value: { input: shown(toDraft(latest)), etag: latest.etag } };
    },
  };
}
