/**
 * What the API answers, as far as the UI reads it (api §2, §3, §9 to §15; alert-groups §5). Instants are RFC 3339
 * text.
 */
import type { components } from './openapi.ts';

/** Everything that the API description names. */
export type Schemas = components['schemas'];

export type Instant = string;
export type Labels = Schemas['Labels'];

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

export interface Items<Item> {
  readonly items: readonly Item[];
}

export type EntityRef = Schemas['EntityRef'];

export type AlertGroupRef = Schemas['AlertGroupRef'];

export type UserRef = Schemas['UserRef'];

/** Of somebody whom one may not read, nothing is said of links. */
export type LinkedPerson = Schemas['DirectoryUser'];

export type ActorRef = Schemas['ActorRef'];

export type SecretStatus = Schemas['SecretStatus'];

export type Limiter = Schemas['Limiter'];

export type MatcherOp = Schemas['MatcherOp'];

export type Matcher = Schemas['Matcher'];

export type User = Schemas['User'];

export type Session = Schemas['Session'];

export type SignInOptions = Schemas['GetSignInOptionsAnswer'];

export type Organization = Schemas['Organization'];

// ---- Integrations (api §10)

export type IntegrationWarning = Integration['warnings'][number];

/** An Integration as its form holds it. */
export type IntegrationInput = Pick<
  Integration,
  'name' | 'description' | 'connection_mode' | 'static_labels' | 'duplicate_window_seconds'
> & { readonly heartbeat: Pick<Integration['heartbeat'], 'enabled' | 'timeout_seconds'> };

export type Integration = Schemas['Integration'];

export type IntegrationToken = Schemas['IntegrationToken'];

export type CreatedIntegrationToken = Schemas['CreatedIntegrationToken'];

// ---- Routes (api §11, routes §2, §3)

export type RoutePolicy = Schemas['RoutePolicy'];

export type RouteInput = Schemas['RouteBase'];

export type Route = Schemas['Route'];

export type RouteProfile = Schemas['RouteProfile'];

// ---- Alert Groups (api §12)

export type GroupStatus = Schemas['GroupStatus'];
export type SeverityLevel = Schemas['SeverityLevel'];
export type CommandName = Schemas['CommandName'];

export type Resolution = Schemas['Resolution'];

export type GroupNotice = Schemas['AlertGroupNotice'];

export type AlertGroup = Schemas['AlertGroup'];

export type GroupCounts = Schemas['AlertGroupCounts'];
export type SavedView = Schemas['SavedView'];
export type GroupFolds = Schemas['AlertGroupFolds'];

export type AlertItem = Schemas['Alert'];

export type TimelineActor = TimelineEntry['actor'];

/** One entry of the history; the fields besides the common ones are those of its kind (alert-groups §5.1). */
export type TimelineEntry = Schemas['TimelineEntry'];

export type Note = Schemas['Note'];

export type GroupContext = Schemas['AlertGroupContext'];
export type RelatedGroup = Schemas['RelatedAlertGroup'];

export type DeliveryItem = Schemas['Delivery'];

export type SnoozePresets = Schemas['SnoozePresets'];

export type SnoozeRequest = Schemas['SnoozeInput'];

export type CommandAnswer = Schemas['CommandAnswer'];

export type BulkResult = Schemas['BulkAnswer']['results'][number];

// ---- Destinations (api §15, webhooks §1)

export type DestinationHealth = Schemas['DestinationHealth'];

/** Every call since then failed. */
export type DestinationFailing = Schemas['DestinationFailing'];

export type DestinationType = Schemas['DestinationType'];

export type DestinationRef = Schemas['DestinationRef'];

export type HeaderTemplate = Schemas['WebhookEvents']['headers'][number];

export type MentionSetting = keyof Mentions;

export type MentionTargets = Schemas['MentionTargets'];

export type Mentions = Schemas['Mentions'];

/** A channel of a messenger as its form holds it. */
export type ChannelInput = Pick<Bridge, 'name' | 'connection_id' | 'channel_id' | 'mentions' | 'limiter'> & {
  readonly type: Exclude<DestinationType, 'webhook'>;
  /** Of a chat server. */
  readonly team_id?: string;
};

/** A webhook as its form holds it. */
export type WebhookInput = Pick<Webhook, 'type' | 'name' | 'mentions' | 'mode' | 'limiter'> & {
  /** A block that is left out stays as it is stored. */
  readonly events?: Schemas['WebhookEvents'];
  readonly template?: TemplateInput;
  readonly proxy: ProxyInput;
};

/** A value that is taken from an answer. */
export type ExtractionRule = Schemas['ExtractionRules'][number];

export type RequestTemplate = Pick<Schemas['WebhookRequestInput'], 'request'> & {
  readonly extract?: Schemas['ExtractionRules'];
};

/** Roles of a webhook, as forms and answers hold them. */
export type TemplateInput = Readonly<
  Record<'create' | 'update', RequestTemplate> &
    Record<'open_thread' | 'reply_in_thread', RequestTemplate | null>
>;

export type SigningSecretStatus = Schemas['SigningSecretStatus'];

export type DestinationWarning = Webhook['warnings'][number];

type Webhook = Schemas['WebhookDestination'];
type Bridge = Schemas['BridgeDestination'];
type ChatServer = Schemas['ChatServerDestination'];
type ChannelBot = Schemas['ChannelBotDestination'];
type Common = Omit<Pick<Webhook, keyof Webhook & keyof Bridge>, 'type' | 'template_error' | 'warnings'>;

/** A Destination of any type: what all have, and what one of them has. */
export type Destination = Common &
  Partial<Omit<Webhook, keyof Bridge>> &
  Partial<Omit<Bridge, keyof Webhook>> &
  Partial<Omit<ChatServer, keyof Webhook>> &
  Partial<Omit<ChannelBot, keyof Webhook>> & {
    readonly type: DestinationType;
    readonly template_error: Webhook['template_error'];
    readonly warnings: readonly DestinationWarning[];
  };

export type CreatedDestination = Omit<Schemas['CreateDestinationAnswer'], 'destination'> & {
  readonly destination: Destination;
};

export type NamedSecret = Schemas['NamedSecret'];

export type ProxyType = NonNullable<ProxyConfig['type']>;

export type ProxyConfig = Schemas['ProxyConfig'];

/** What is left out keeps what is stored. */
export type ProxyInput = Schemas['ProxyConfigInput'];

export interface PageRequest {
  readonly cursor: string | null;
  readonly limit: number;
}

/** A route of the sender's configuration, and how often it repeats (ingestion §10). */
export type SenderRoute = Schemas['AlertmanagerRoute'];

export type IntegrationAlert = Schemas['IntegrationAlert'];

export type SnapshotState = Schemas['SnapshotState'];

export type StoredSnapshot = Schemas['StoredSnapshot'];

export type StoredSnapshotBody = Schemas['StoredSnapshotBody'];

/** What was delivered to every Destination in the last 24 hours. */
export type DeliveryHours = Schemas['DeliveryHours'];

export type DeliveryFigures = DeliveryHours['items'][number];

export type GroupKeySide = Schemas['GroupKeySide'];

/** Null id and name: the new Route itself. */
export type TakingRoute = Schemas['RouteTaking'];

export type GroupKeyPreview = Schemas['GroupKeyPreview'];

export type GroupKeyPreviewInput = Schemas['GroupKeyPreviewInput'];

export type RouteSuggestion = Schemas['RouteSuggestion'];
