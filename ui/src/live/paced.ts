/**
 * A function that runs at once and then at most every `ms`; calls in between are one more run at the end.
 * @param schedule `setTimeout` outside of tests
 */
export function paced(
  run: () => void,
  ms: number,
  schedule: (run: () => void, ms: number) => unknown = setTimeout,
): () => void {
  let resting = false;
  let again = false;

  function call(): void {
    if (resting) {
      again = true;
      return;
    }
    resting = true;
    run();
    schedule(() => {
      resting = false;
      if (!again) return;
      again = false;
      call();
    }, ms);
  }
  return call;
}
