/** What the operations on Integrations and on their tokens have in common. */
import type { DirectorySource } from '../../actors/directory.ts';
import type { HintBus } from '../../actors/effects.ts';
import type { IntegrationStore } from '../../actors/integration/ports.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Answer, Call } from '../operation.ts';
import { conflict } from '../problem.ts';

export interface IntegrationOperationsDeps {
  readonly store: IntegrationStore;
  /** Forgets what is remembered when tokens stop; the answer waits until other replicas were told. */
  readonly tokens: { invalidate(): void | Promise<void> };
  readonly directory: DirectorySource;
  readonly hints: HintBus;
  /** Makes whoever acts for the Integration look for what a save left in the inbox. */
  readonly messageWaits: (id: PublicId) => void;
  /** The ingest listener as senders reach it, without a slash at the end. */
  readonly ingestUrl: string;
}

export const INTEGRATION_ID = { integration_id: 'NT' } as const;
export const BUILTIN_REFUSAL = [409, 'conflict', 'builtin_immutable'] as const;

export const BUILTIN: Answer = conflict(
  'builtin_immutable',
  'The built-in Integration belongs to Tocsin itself and cannot be changed.',
);

export function integrationId(call: Call): PublicId {
  return call.params.integration_id as PublicId;
}
