/** A body that each operation takes, with every field it has: what tests of refused bodies start from. */
import { ORGANIZATION_DEFAULTS } from '../actors/access/organization.ts';
import examples from '../http/openapi/body-examples.json' with { type: 'json' };

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const PROXY = {
  enabled: true,
  type: 'http',
  address: 'proxy.example:3128',
  username: 'tocsin',
  password: 'secret',
} as const;
const TARGETS = { everyone: 'none', user_ids: [], groups: [] } as const;
const MENTIONS = {
  new_alert_group: TARGETS,
  new_alerts: TARGETS,
  reopen: TARGETS,
  ack_timeout: TARGETS,
  snooze_ended: TARGETS,
  rise_to_urgent: TARGETS,
} as const;

/** Ids that nothing has; tests with a database put those of theirs in their place. */
export const GROUP = 'AG0000000000AA';
export const ROUTE = 'RT0000000000AA';
export const CONNECTION = 'CN0000000000AA';
export const DESTINATION = 'DS0000000000AA';

const connection = { ...examples.ConnectionInput, proxy: PROXY };

const request = { request: 'POST https://receiver.example/tickets', extract: [] } as const;

/** With the fields of both modes. */
const destination = {
  ...examples.DestinationInput,
  mentions: MENTIONS,
  template: { create: request, update: request, open_thread: request, reply_in_thread: request },
  proxy: PROXY,
};

/** By operation id: the examples of the API description, and what those leave out. */
export const VALID_BODIES: Readonly<Record<string, JsonObject>> = {
  startBridgeLink: examples.BridgeLinkStart,
  confirmBridgeLink: examples.LinkConfirmation,
  startChannelBotLink: examples.ChannelBotLinkStart,
  startChatServerLink: examples.ChatServerLinkStart,
  confirmChatServerLink: examples.LinkConfirmation,
  addNote: examples.NoteInput,
  resolveAlertGroup: examples.ResolveInput,
  snoozeAlertGroup: examples.SnoozeInput,
  runBulkCommand: examples.BulkCommandInput,
  createConnection: connection,
  updateConnection: connection,
  checkConnection: { ...examples.ConnectionCheckInput, proxy: PROXY },
  createDestination: destination,
  updateDestination: destination,
  testDestination: examples.DestinationTrialInput,
  previewDestination: examples.DestinationTrialInput,
  putDestinationSecret: examples.SecretInput,
  createIntegration: examples.IntegrationInput,
  updateIntegration: examples.IntegrationInput,
  createIntegrationToken: examples.IntegrationTokenInput,
  createLinkRule: examples.LinkRuleInput,
  updateLinkRule: examples.LinkRuleInput,
  createLookupTable: examples.LookupTableInput,
  updateLookupTable: examples.LookupTableInput,
  updateOrganization: {
    ...ORGANIZATION_DEFAULTS,
    outgoing_heartbeat: { url: 'https://watch.example/beat', proxy: PROXY },
  } as unknown as JsonObject,
  updateOidcSettings: { ...examples.OidcSettingsInput, proxy: PROXY },
  updateOutboundPolicy: examples.OutboundPolicyInput,
  createPersonalAccessToken: examples.PersonalAccessTokenInput,
  createRoute: examples.RouteInput,
  updateRoute: examples.RouteInput,
  reorderRoutes: examples.RouteOrderInput,
  previewGroupKey: examples.GroupKeyPreviewInput,
  acceptRouteSuggestion: examples.RouteSuggestionAcceptance,
  createServiceAccount: examples.ServiceAccountInput,
  updateServiceAccount: examples.ServiceAccountInput,
  createServiceAccountToken: examples.ApiTokenInput,
  previewTemplate: examples.TemplatePreviewInput,
  createUser: examples.NewUserInput,
  updateUser: examples.UserInput,
  createSavedView: examples.SavedViewInput,
  updateSavedView: examples.SavedViewInput,
  setDefaultView: examples.DefaultViewInput,
  createSession: examples.SignIn,
  submitSessionTotp: examples.SecondFactor,
  updateMe: examples.ProfileInput,
  changePassword: examples.PasswordChange,
  completePasswordSetup: examples.PasswordSetup,
  confirmTotpEnrolment: examples.TotpCode,
  removeTotp: examples.TotpRemoval,
  regenerateTotpRecoveryCodes: examples.TotpCode,
};
