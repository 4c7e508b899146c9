/**
 * Effects that cross a slice: produced by one actor, written or performed by another part. Effects that only one
 * actor and its own store know are declared in that actor's `effects.ts`.
 */
import type { RecordedEffect } from '../runtime/actor/index.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { MentionTargets } from './directory.ts';
import type { GroupView, LifecycleEvent, Principal, Transport } from './model.ts';

/** Recorded by an Alert Group for each events-mode webhook of its Route: the event, its body made in the commit. */
export interface WebhookEventRecorded extends RecordedEffect {
  readonly type: 'webhook.recorded';
  /** The `webhook-id`: `msg_` and 26 characters `[a-z2-7]`. */
  readonly eventId: string;
  readonly destinationId: PublicId;
  readonly event: LifecycleEvent;
  readonly group: GroupView;
  /** #N when it is known already; otherwise the commit knows it by the group's id. */
  readonly number: number | null;
  /** People and groups to name, resolved when the event was recorded, Owner first; empty for a Quiet event. */
  readonly mentions: readonly ResolvedMention[];
}

export type ResolvedMention =
  | { readonly type: 'everyone' }
  | { readonly type: 'group'; readonly name: string }
  | { readonly type: 'user'; readonly id: PublicId; readonly name: string; readonly login: string };

/** One entry of the Audit log. */
export interface AuditRecorded extends RecordedEffect {
  readonly type: 'audit.recorded';
  readonly entry: AuditEntry;
}

export interface AuditEntry {
  readonly at: Micros;
  readonly actor:
    | Principal
    | {
        readonly kind: 'system' | 'bootstrap' | 'cli';
        readonly id: null;
        readonly name: string;
        /** The way in, where something came from outside and nobody is known behind it. */
        readonly transport?: Transport;
      };
  readonly action: string;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly address: string | null;
  readonly diff: readonly AuditChange[];
  readonly details: Readonly<Record<string, unknown>>;
}

export type AuditChange =
  /** `before` is absent of what was created. */
  | { readonly pointer: string; readonly before?: unknown; readonly after: unknown }
  | { readonly pointer: string; readonly secret_changed: true };

/** Performed after a commit: tells open browsers to read something again. */
export interface HintSent {
  readonly type: 'hint';
  readonly hint: Hint;
}

/** The closed list of api §1.11. */
export const HINT_TYPES = [
  'alert-group',
  'alert-groups',
  'integration',
  'route',
  'connection',
  'destination',
  'organization',
  'system-notices',
  'system-status',
  'account-links',
] as const;

export interface Hint {
  readonly type: (typeof HINT_TYPES)[number];
  readonly id: string | null;
}

/** Where hints go: to the open live streams of every replica. */
export interface HintBus {
  send(hint: Hint): void;
  /** Hears null when hints from other replicas may have been lost. Returns the way to stop. */
  listen(listener: (hint: Hint | null) => void): () => void;
}

export type { MentionTargets };
