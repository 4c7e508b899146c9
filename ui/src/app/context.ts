import { createContext } from 'svelte';
import type { AlertGroupsApi } from '../api/alert-groups.ts';
import type { ApiClient } from '../api/client.ts';
import type { ConfigurationApi, LinksApi } from '../api/configuration.ts';
import type { OidcApi, OrganizationApi } from '../api/organization.ts';
import type { AccessApi, AccountLinksApi, PeopleApi, SessionsApi } from '../api/people.ts';
import type { AuditLogApi, RequestLogApi } from '../api/records.ts';
import type { Items, Organization, Page, Route, SavedView } from '../api/shapes.ts';
import type { SystemApi, SystemNotice } from '../api/system.ts';
import type { I18n } from '../i18n/i18n.svelte.ts';
import type { Live } from '../live/stream.svelte.ts';
import type { Bulks } from '../pages/alert-group-list/bulk/bulks.svelte.ts';
import type { GroupList } from '../pages/alert-group-list/group-list.svelte.ts';
import type { Router } from '../router/router.svelte.ts';
import type { Clock } from '../state/clock.svelte.ts';
import type { Preferences } from '../state/preferences.svelte.ts';
import type { Resource } from '../state/resource.svelte.ts';
import type { SessionState } from '../state/session.svelte.ts';
import type { Toasts } from '../state/toasts.svelte.ts';
import type { FiringCount } from './attention.ts';
import type { Desktop } from './desktop.ts';
import type { Failures } from './failures.ts';

/** What the page that is shown can do: the palette offers it besides its own choices (ui §1.8). */
export interface PageCommand {
  /** Unique in its page. */
  readonly name: string;
  readonly text: string;
  run(): void;
}

export interface PageCommands {
  readonly current: readonly PageCommand[];
  /** @param commands is called whenever they are shown. @returns takes them back, for an effect of the page */
  offer(commands: () => readonly PageCommand[]): () => void;
}

/** Everything a page works with, made once by `createApp` and handed down through Svelte's context. */
export interface App {
  readonly router: Router;
  readonly live: Live;
  readonly i18n: I18n;
  readonly preferences: Preferences;
  readonly session: SessionState;
  readonly toasts: Toasts;
  readonly clock: Clock;
  /** For what only pages ask that are loaded when they are opened. */
  readonly client: ApiClient;
  readonly sessions: SessionsApi;
  readonly alertGroups: AlertGroupsApi;
  readonly configuration: ConfigurationApi;
  /** Tokens, Service accounts and Roles. */
  readonly access: AccessApi;
  /** The Organization's settings, as an Admin edits them. */
  readonly settings: OrganizationApi;
  readonly links: LinksApi;
  /** Single sign-on. */
  readonly oidc: OidcApi;
  readonly people: PeopleApi;
  readonly accountLinks: AccountLinksApi;
  readonly requestLog: RequestLogApi;
  readonly auditLog: AuditLogApi;
  readonly system: SystemApi;
  readonly organization: Resource<Organization>;
  readonly notices: Resource<Items<SystemNotice>>;
  /** Kept, so that coming back to the list shows at once what it says of them. */
  readonly routes: Resource<Items<Route> | null>;
  /** Views of the list: own and shared ones. */
  readonly savedViews: Resource<Page<SavedView> | null>;
  readonly groupList: GroupList;
  readonly bulks: Bulks;
  readonly firing: FiringCount;
  readonly desktop: Desktop;
  /** Ids of the saved views that somebody wants to be called for and whose filters the service refuses. */
  readonly unwatchedViews: readonly string[];
  readonly failures: Failures;
  readonly pageCommands: PageCommands;
  /** Zone in which times are shown: the profile's, else the browser's. */
  readonly timeZone: string;
}

export const [useApp, provideApp] = createContext<App>();
