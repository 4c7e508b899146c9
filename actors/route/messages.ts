/** Everything the actor of a Route accepts. */
import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { RouteTemplateKind } from './policy.ts';

export const ROUTE = 'route';

export function routeAddress(id: PublicId): Address {
  return { kind: ROUTE, key: id };
}

export type RouteMessage =
  | GroupCreated
  | GroupUnheld
  | UrgencyEdited
  | RouteDeleted
  | TemplateRendered
  /** Its templates are other ones now: what failed before is forgotten. Stored with the save. */
  | { readonly type: 'templates_saved' }
  | { readonly type: 'wake' };

/** A new Alert Group of this Route. Sent in its first step; the answer is a hold, or nothing. */
export interface GroupCreated {
  readonly type: 'group_created';
  readonly groupId: PublicId;
  readonly urgent: boolean;
  /** Time of its `created`, µs. */
  readonly at: Micros;
}

/** The hold of an Alert Group ended because it became Urgent or was moved to another Route. */
export interface GroupUnheld {
  readonly type: 'group_unheld';
  readonly groupId: PublicId;
  readonly becameUrgent: boolean;
}

/** A setting that makes Alert Groups Urgent was edited: held groups re-evaluate their hold. */
export interface UrgencyEdited {
  readonly type: 'urgency_edited';
}

/** A template of the Route was used for a message. */
export interface TemplateRendered {
  readonly type: 'template_rendered';
  readonly template: RouteTemplateKind;
  /** Of the source that was used; the Route may have another template by now. Absent from earlier releases. */
  readonly digest?: string;
  /** Why it failed, with line and column; null when it did not. */
  readonly error: string | null;
  readonly at: Micros;
}

export interface RouteDeleted {
  readonly type: 'deleted';
  readonly at: Micros;
}
