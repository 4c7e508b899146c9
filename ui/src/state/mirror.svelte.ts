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
