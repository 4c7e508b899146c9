import type { HintListener, HintType } from './hints.ts';
import type { Live } from './stream.svelte.ts';

/** Calls `listener` for hints while the calling component is shown. Call it during component initialisation. */
export function follow(live: Live, type: HintType, id: string | null, listener: HintListener): void {
  $effect(() => live.on(type, id, listener));
}
