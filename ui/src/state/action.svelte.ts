/** Something a person starts: while it runs it cannot be started again (ui §1.5 rule 6). */
export interface Action<Args extends readonly unknown[]> {
  readonly running: boolean;
  /** Does nothing while an earlier run is on its way. */
  run(...args: Args): Promise<void>;
}

export function createAction<Args extends readonly unknown[]>(
  perform: (...args: Args) => Promise<void>,
): Action<Args> {
  let running = $state(false);
  return {
    get running() {
      return running;
    },
    async run(...args) {
      if (running) return;
      running = true;
      try {
        await perform(...args);
      } finally {
        running = false;
      }
    },
  };
}
