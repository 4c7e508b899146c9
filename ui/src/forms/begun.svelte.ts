/** What a form holds, what that is compared with, and how it is saved. What arrives later is compared, never mixed in (ui §1.5). */
import { untrack } from 'svelte';
import type { Answer } from '../api/client.ts';
import type { HintType } from '../live/hints.ts';
import type { Live } from '../live/stream.svelte.ts';
import { same } from './pointers.ts';

interface Versioned {
  readonly etag: string;
}

/** A form that is being filled in, as `Editor.svelte` saves it. */
export interface Begun<Shown, Saved> {
  /** What the fields began with. */
  readonly start: Shown;
  /** What they say now. */
  current(): Shown;
  /** Of the version that the form is about; null for something new. */
  readonly etag: string | null;
  save(ifMatch: string | null): Promise<Answer<Saved>>;
  /** Of the newest version that is known: another one than {@link etag} means that somebody else saved. */
  readonly seenEtag?: string;
  /** The resource as it is stored now, for the comparison after a conflict. */
  readLatest?(): Promise<Answer<{ readonly input: Shown; readonly etag: string }>>;
  /** What {@link readLatest} read becomes the start of the form. */
  takeTheirs?(): void;
  /** From now on the form is about what was saved. */
  begin?(saved: Saved): void;
  /** What was typed, Secrets too, for {@link resume}; null while nothing was. */
  typed(): unknown;
  /** Goes on with what {@link typed} of the same form gave. */
  resume(typed: unknown): void;
}

interface Fields<Draft, Shown> {
  /** What is compared: secrets are typed, and read by nobody. */
  shown(draft: NoInfer<Draft>): Shown;
  /** What is seen once it is sent: with the same rows, or errors would stand at others. */
  settled?(draft: NoInfer<Draft>): Draft;
  /** {@link asWhole} where there is too much to follow each field. */
  hold?: (first: Draft) => Held<Draft>;
}

interface Held<Draft> {
  value: Draft;
  /** What is held, for others to keep. */
  written(): Draft;
}

function byField<Draft>(first: Draft): Held<Draft> {
  let value = $state(first);
  return {
    get value() {
      return value;
    },
    set value(next) {
      value = next;
    },
    written: () => $state.snapshot(value) as Draft,
  };
}

/** Fields that are only ever replaced together, and not followed one by one. */
export function asWhole<Draft>(first: Draft): Held<Draft> {
  let value = $state.raw(first);
  return {
    get value() {
      return value;
    },
    set value(next) {
      value = next;
    },
    written: () => value,
  };
}

interface NewForm<Draft, Shown, Saved> extends Fields<Draft, Shown> {
  create(draft: NoInfer<Draft>): Promise<Answer<Saved>>;
}

/** The form of something new. @param first what its fields begin with */
export function createNew<Draft, Shown, Saved>(first: Draft, form: NewForm<Draft, Shown, Saved>) {
  const held = (form.hold ?? byField)(first);
  return {
    held,
    start: form.shown(first),
    current: () => form.shown(held.written()),
    etag: null,
    save() {
      if (form.settled) held.value = form.settled(held.written());
      return form.create(held.written());
    },
    typed: () => (same(held.written(), first) ? null : held.written()),
    resume(typed: unknown) {
      held.value = typed as Draft;
    },
  };
}

export interface EditForm<Stored extends Versioned, Draft, Shown> extends Fields<Draft, Shown> {
  toDraft(stored: NoInfer<Stored>): Draft;
  read(): Promise<Answer<Stored>>;
  update(draft: NoInfer<Draft>, ifMatch: string): Promise<Answer<Stored>>;
  /** Where the caller does not read the resource again: the hints after which its version is looked up. */
  hints?: { readonly live: Live; readonly type: HintType; readonly id: string };
}

interface Typed<Stored, Draft> {
  /** The version that the form is about. */
  readonly stored: Stored;
  readonly draft: Draft;
}

/**
 * The form of something stored. Call it during component initialisation.
 * @param newest the resource as it is now
 */
export function createEdit<Stored extends Versioned, Draft, Shown>(
  newest: () => Stored,
  form: EditForm<Stored, Draft, Shown>,
) {
  const { toDraft, shown, read, update, hints } = form;
  let stored = $state.raw(newest());
  let seen = $state(newest().etag);
  const held = (form.hold ?? byField)(toDraft(newest()));
  /** What the conflict dialog compared with. */
  let latest = newest();
  const start = $derived(shown(toDraft(stored)));

  function begin(next: Stored) {
    stored = next;
    seen = next.etag;
    held.value = toDraft(next);
  }

  $effect(() => {
    seen = newest().etag;
  });
  $effect(() =>
    hints?.live.on(hints.type, hints.id, async () => {
      const answer = await read();
      if (answer.ok) seen = answer.value.etag;
    }),
  );

  return {
    get stored() {
      return stored;
    },
    held,
    get start() {
      return start;
    },
    current: () => shown(held.written()),
    get etag() {
      return stored.etag;
    },
    get seenEtag() {
      return seen;
    },
    save(ifMatch: string | null) {
      if (form.settled) held.value = form.settled(held.written());
      return update(held.written(), ifMatch ?? stored.etag);
    },
    begin,
    reset: () => begin(stored),
    /** A newer version with the same fields is nobody else's edit: what changed is not in this form. */
    adoptUnchanged(next: Stored) {
      untrack(() => {
        if (same(shown(toDraft(next)), start)) stored = next;
      });
    },
    takeTheirs: () => begin(latest),
    typed(): unknown {
      const draft = held.written();
      return same(draft, toDraft(stored)) ? null : ({ stored, draft } satisfies Typed<Stored, Draft>);
    },
    /** What was stored meanwhile is shown as somebody else's change. */
    resume(typed: unknown) {
      const before = typed as Typed<Stored, Draft>;
      stored = before.stored;
      held.value = before.draft;
    },
    async readLatest(): Promise<Answer<{ readonly input: Shown; readonly etag: string }>> {
      const answer = await read();
      if (!answer.ok) return answer;
      latest = answer.value;
      return { ...answer, value: { input: shown(toDraft(latest)), etag: latest.etag } };
    },
  };
}

export type Edit<Stored extends Versioned, Draft, Shown> = ReturnType<
  typeof createEdit<Stored, Draft, Shown>
>;
