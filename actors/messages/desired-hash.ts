/** The identity of a desired state (delivery §1). */
import { createHash } from 'node:crypto';
import type { MessageButton } from './buttons.ts';

/** What of a message a messenger would show otherwise: texts, colour, buttons. Mentions and notes are left out. */
export interface DesiredState {
  readonly texts: readonly string[];
  readonly color: string;
  readonly buttons: readonly Pick<MessageButton, 'text' | 'data'>[];
}

/** SHA-256 as base64url. Equal states have equal hashes, whoever works them out. */
export function desiredHash({ texts, color, buttons }: DesiredState): string {
  const shown = [texts, color, buttons.map(({ text, data }) => [text, data])];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url');
}
