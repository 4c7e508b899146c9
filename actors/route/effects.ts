/** What the actor of a Route records and performs. Written by storage/delivery/storms.ts. */
import type { PerformedEffect, RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { RouteTemplateKind } from './policy.ts';

/** The present or last Storm of a Route. */
export interface StormSaved extends RecordedEffect {
  readonly type: 'storm.saved';
  readonly routeId: PublicId;
  readonly since: Micros;
  readonly groupCount: number;
  readonly urgentCount: number;
  /** Null while it lasts. */
  readonly endedAt: Micros | null;
}

/** A new Alert Group is held by the Storm that began at `since`. */
export interface GroupHeldRecorded extends RecordedEffect {
  readonly type: 'storm.held';
  readonly routeId: PublicId;
  readonly since: Micros;
  readonly groupId: PublicId;
}

/** The hold of one Alert Group has ended. */
export interface GroupLetGo extends RecordedEffect {
  readonly type: 'storm.let_go';
  readonly groupId: PublicId;
}

/** The Alert Groups of a Storm up to #N were notified that the hold has ended. */
export interface HoldEnded extends RecordedEffect {
  readonly type: 'storm.hold_ended';
  readonly routeId: PublicId;
  readonly since: Micros;
  /** #N of the last one. */
  readonly through: number;
}

/** The templates that fail now; none: all of them render. */
export interface TemplateErrorsSaved extends RecordedEffect {
  readonly type: 'route.template_errors';
  readonly routeId: PublicId;
  readonly errors: TemplateErrors;
}

/** By template, since when and why it fails. */
export type TemplateErrors = Readonly<
  Partial<Record<RouteTemplateKind, { readonly since: Micros; readonly error: string }>>
>;

export type RouteRecord = StormSaved | GroupHeldRecorded | GroupLetGo | HoldEnded;

/** For the log and for open browsers. */
export interface StormChanged extends PerformedEffect {
  readonly type: 'route.storm_changed';
  readonly routeId: PublicId;
  readonly change: 'storm_started' | 'storm_ended';
  /** New Alert Groups of the Storm so far. */
  readonly count: number;
}
