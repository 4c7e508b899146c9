/** What the settings of the Organization need from storage. Implemented in storage/organization.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { Authorship } from '../audit.ts';
import type { OrganizationView } from './organization.ts';
import type { OrganizationInput, SettingsError } from './organization-change.ts';

export type OrganizationUpdate =
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'invalid'; readonly errors: readonly SettingsError[] }
  | { readonly outcome: 'unchanged'; readonly organization: OrganizationView }
  | {
      readonly outcome: 'saved';
      readonly organization: OrganizationView;
      /** The outgoing heartbeat begins anew. */
      readonly isUrlChanged: boolean;
      /** Something waits in the inbox of a Route. */
      readonly isRouteTold: boolean;
    };

export interface OrganizationStore {
  read(): Promise<OrganizationView>;
  update(
    input: OrganizationInput,
    isCurrent: (version: number) => boolean,
    author: Authorship,
  ): Promise<OrganizationUpdate>;
  /** Values of the severity label of Alerts that were seen since an instant: most frequent first, then by value. */
  severityValues(since: Micros, limit: number): Promise<readonly SeverityCount[]>;
}

export interface SeverityCount {
  readonly value: string;
  /** Alerts, each of which may have fired in several Alert Groups. */
  readonly count: number;
}
