/** Waits for something that another process does. */
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks again and again until `probe` gives something other than null, undefined or false.
 * @throws after `seconds`, with what was waited for and the last error
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | null | undefined | false>,
  seconds = 60,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  let lastError: unknown = null;
  while (performance.now() < deadline) {
    try {
      const found = await probe();
      if (found) return found;
      lastError = null;
    } catch (error) {
      lastError = error;
    }
    await pause(25);
  }
  const because = lastError instanceof Error ? `: ${lastError.message}` : '';
  throw new Error(`Waited ${seconds} s for ${what}${because}`);
}
