/** One thing read from the API: kept while it is read again, so that a page never falls back to nothing. */
import { createStore } from '@xstate/store';
import { type Answer, answerOf } from '../api/client.ts';
import type { Problem } from '../api/problem.ts';

export interface Resource<T> {
  readonly value: T | null;
  readonly etag: string | null;
  /** Why the last read failed; `value` may still hold what an earlier one gave. */
  readonly problem: Problem | null;
  readonly reading: boolean;
  /** Reads again. Of overlapping reads only the answer to the latest counts. */
  read(): Promise<void>;
  /** Reads again, and ends when no newer read is on its way either: what is there then is what the latest gave. */
  readToEnd(): Promise<void>;
  /** Takes over a value that another answer carried. A read on its way may know more: it is done again. */
  put(value: T, etag?: string | null): void;
}

interface Context<T> {
  readonly value: T | null;
  readonly etag: string | null;
  readonly problem: Problem | null;
  readonly reading: boolean;
}

export function createResource<T>(request: () => Promise<Answer<T>>): Resource<T> {
  const store = createStore({
    context: { value: null, etag: null, problem: null, reading: false } as Context<T>,
    on: {
      started: (context) => ({ ...context, reading: true }),
      arrived: (_, event: { value: T; etag: string | null }) => ({
        value: event.value,
        etag: event.etag,
        problem: null,
        reading: false,
      }),
      failed: (context, event: { problem: Problem }) => ({
        ...context,
        problem: event.problem,
        reading: false,
      }),
    },
  });
  const view = mirror(store);
  let latest = 0;
  let newest = Promise.resolve();

  function read(): Promise<void> {
    newest = readOnce();
    return newest;
  }

  async function readOnce(): Promise<void> {
    latest += 1;
    const turn = latest;
    store.trigger.started();
    const answer = await answerOf(request);
    if (turn !== latest) return;
    if (answer.ok) store.trigger.arrived({ value: answer.value, etag: answer.etag });
    else store.trigger.failed({ problem: answer.problem });
  }

  return {
    get value() {
      return view.current.value;
    },
    get etag() {
      return view.current.etag;
    },
    get problem() {
      return view.current.problem;
    },
    get reading() {
      return view.current.reading;
    },
    read,
    async readToEnd() {
      let own = read();
      for (await own; own !== newest; await own) own = newest;
    },
    put(value, etag = null) {
      const { reading } = store.getSnapshot().context;
      latest += 1;
      store.trigger.arrived({ value, etag });
      if (reading) void read();
    },
  };
}

/** Lets components read an `@xstate/store` as reactive state. */

interface Readable<Context> {
  getSnapshot(): { readonly context: Context };
  subscribe(listener: (snapshot: { readonly context: Context }) => void): unknown;
}

/** `current` is the store's context; reading it in a component or effect makes that follow the store. */
export function mirror<Context>(store: Readable<Context>): { readonly current: Context } {
  let context = $state.raw(store.getSnapshot().context);
  store.subscribe((snapshot) => {
    context = snapshot.context;
  });
  return {
    get current() {
      return context;
    },
  };
}
