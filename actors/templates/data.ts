/** What templates read (templates §8). */
import type { Micros } from '../../runtime/clock.ts';
import type { AlertState, GroupStatus, Labels, SeverityLevel } from '../model.ts';

/** An Alert Group and all that a template may know of it. */
export interface TemplateGroup {
  readonly number: number;
  readonly title: string;
  readonly summary: string | null;
  readonly status: GroupStatus;
  /** Name of the Route. */
  readonly route: string;
  readonly severityLevel: SeverityLevel;
  readonly urgent: boolean;
  readonly startedAt: Micros;
  /** Of its page. */
  readonly url: string;
  readonly reopenCount: number;
  /** Display name. */
  readonly owner: string | null;
  readonly alerts: readonly TemplateAlert[];
  readonly groupLabels: Labels;
  readonly commonLabels: Labels;
  readonly commonAnnotations: Labels;
  /** The public URL of the installation. */
  readonly externalUrl: string;
}

export interface TemplateAlert {
  readonly fingerprint: string;
  readonly status: AlertState;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAt: Micros;
  /** Null while it fires. */
  readonly endsAt: Micros | null;
  readonly generatorUrl: string | null;
}
