/** Whole seconds until something may be tried again. Call during component initialisation. */
export function createWait(): { readonly left: number; start(seconds: number): void } {
  let left = $state(0);
  $effect(() => {
    const timer = setInterval(() => {
      left = Math.max(0, left - 1);
    }, 1_000);
    return () => clearInterval(timer);
  });
  return {
    get left() {
      return left;
    },
    start(seconds) {
      left = seconds;
    },
  };
}
