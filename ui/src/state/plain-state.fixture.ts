import { afterEach, beforeEach, vi } from 'vitest';

/** For tests of `.svelte.ts` files: without the compiler of Svelte a state is a plain variable. */
export function usePlainState() {
  beforeEach(() => void vi.stubGlobal('$state', { raw: <T>(value: T) => value }));
  afterEach(() => void vi.unstubAllGlobals());
}
