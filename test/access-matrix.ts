/**
 * Which operation needs what, written down a second time by hand: the tests hold the operation table against it, so that
 * nobody opens or closes an operation by a slip of the pen (api §3 to §18).
 */
import type { Needs } from '../http/operation.ts';

export const ACCESS_MATRIX: Partial<Record<Needs, readonly string[]>> = {
  none: [
    'completeOidcSignIn',
    'completePasswordSetup',
    'createSession',
    'getOpenApiJson',
    'getOpenApiYaml',
    'getSignInOptions',
    'startOidcSignIn',
  ],
  cookie: ['deleteCurrentSession', 'getCurrentSession', 'submitSessionTotp'],
  session: [
    'beginTotpEnrolment',
    'changePassword',
    'confirmBridgeLink',
    'confirmChatServerLink',
    'confirmTotpEnrolment',
    'createPersonalAccessToken',
    'createSavedView',
    'deleteMyAccountLink',
    'deleteMySessions',
    'deleteSavedView',
    'regenerateTotpRecoveryCodes',
    'removeTotp',
    'revokePersonalAccessToken',
    'setDefaultView',
    'startBridgeLink',
    'startChannelBotLink',
    'startChatServerLink',
    'startOidcLink',
    'streamLiveUpdates',
    'updateMe',
    'updateSavedView',
  ],
  user: [
    'getMe',
    'getMyTotp',
    'getSavedView',
    'listLinkableConnections',
    'listMyAccountLinks',
    'listMySessions',
    'listPersonalAccessTokens',
    'listSavedViews',
  ],
  authenticated: [
    'getOrganization',
    'getRequestRecord',
    'listRequestRecords',
    'listSystemNotices',
    'runBulkCommand',
  ],
  'alert-groups:acknowledge': ['acknowledgeAlertGroup', 'answerReminder', 'unacknowledgeAlertGroup'],
  'alert-groups:note': ['addNote'],
  'alert-groups:read': [
    'getAlertGroup',
    'getAlertGroupContext',
    'getAlertGroupCounts',
    'getAlertGroupFlow',
    'getAlertGroupFolds',
    'getAlertGroupStatistics',
    'listAlertGroupDeliveries',
    'listAlertGroups',
    'listNotes',
    'listRelatedAlertGroups',
    'listSnoozePresets',
    'listTimeline',
    'listUserDirectory',
  ],
  'alert-groups:resolve': ['resolveAlertGroup', 'unresolveAlertGroup'],
  'alert-groups:snooze': ['snoozeAlertGroup', 'unsnoozeAlertGroup'],
  'alerts:read': ['listAlertGroupAlerts', 'listIntegrationAlerts'],
  'audit-log:read': ['listAuditLog'],
  'connections:read': ['getConnection', 'listConnections'],
  'connections:write': ['checkConnection', 'createConnection', 'deleteConnection', 'updateConnection'],
  'destinations:read': [
    'getDestination',
    'getSigningSecretStatus',
    'listDeliveryHours',
    'listDestinationSecrets',
    'listDestinations',
  ],
  'destinations:test': ['checkDestination', 'previewDestination', 'testDestination'],
  'destinations:write': [
    'createDestination',
    'deleteDestination',
    'deleteDestinationSecret',
    'generateSigningSecret',
    'listConnectionChannels',
    'putDestinationSecret',
    'retirePreviousSigningSecret',
    'updateDestination',
  ],
  'integrations:read': [
    'getIntegration',
    'listAlertmanagerRoutes',
    'listIntegrationTokens',
    'listIntegrations',
  ],
  'integrations:write': [
    'createIntegration',
    'createIntegrationToken',
    'deleteIntegration',
    'revokeIntegrationToken',
    'updateIntegration',
  ],
  'link-rules:read': ['getLinkRule', 'listLinkRules'],
  'link-rules:write': ['createLinkRule', 'deleteLinkRule', 'updateLinkRule'],
  'lookup-tables:read': ['getLookupTable', 'listLookupTables'],
  'lookup-tables:write': ['createLookupTable', 'deleteLookupTable', 'updateLookupTable'],
  'oidc:read': ['getOidcSettings'],
  'oidc:write': ['checkOidcSettings', 'updateOidcSettings'],
  'organization:read': ['getKeyring', 'getOutboundPolicy', 'listSeverityValues'],
  'organization:write': ['updateOrganization', 'updateOutboundPolicy'],
  'routes:read': [
    'dismissRouteSuggestion',
    'getRoute',
    'listRouteProfiles',
    'listRouteSuggestions',
    'listRoutes',
  ],
  'routes:write': [
    'acceptRouteSuggestion',
    'createRoute',
    'deleteRoute',
    'moveOpenAlertGroups',
    'previewGroupKey',
    'reorderRoutes',
    'updateRoute',
  ],
  'service-accounts:read': ['getServiceAccount', 'listServiceAccountTokens', 'listServiceAccounts'],
  'service-accounts:write': [
    'createServiceAccount',
    'createServiceAccountToken',
    'deleteServiceAccount',
    'disableServiceAccount',
    'enableServiceAccount',
    'revokeServiceAccountToken',
    'updateServiceAccount',
  ],
  'stored-snapshots:read': ['getStoredSnapshot', 'listStoredSnapshots'],
  'system-status:read': ['getActor', 'getActorCounts', 'getSystemStatus', 'listActors'],
  'templates:preview': ['previewTemplate'],
  'users:read': ['getUser', 'listRoles', 'listUserAccountLinks', 'listUsers'],
  'users:write': [
    'convertUserToLocal',
    'createPasswordSetupLink',
    'createUser',
    'deleteUser',
    'deleteUserAccountLink',
    'disableUser',
    'enableUser',
    'resetUserTotp',
    'updateUser',
  ],
};

/** Besides their Permission they ask for a web session, or for a person. */
export const WITH_SESSION: readonly string[] = ['createServiceAccountToken', 'revokeServiceAccountToken'];
export const WITH_PERSON: readonly string[] = ['dismissRouteSuggestion'];

/** What a session may call that has still to set up its second factor, besides what needs the cookie only. */
export const WHILE_ENROLLING: readonly string[] = ['getMyTotp', 'beginTotpEnrolment', 'confirmTotpEnrolment'];

/** Operations that can give somebody rights; each refuses to give what the caller does not hold (access §9.1). */
export const GIVES_RIGHTS: readonly string[] = [
  'convertUserToLocal',
  'createConnection',
  'createPasswordSetupLink',
  'createPersonalAccessToken',
  'createServiceAccount',
  'createServiceAccountToken',
  'createUser',
  'enableServiceAccount',
  'enableUser',
  'resetUserTotp',
  'updateConnection',
  'updateOidcSettings',
  'updateServiceAccount',
  'updateUser',
];

/** Every other change, and why nobody can do more after it than before. */
export const GIVES_NO_RIGHTS: Readonly<Record<string, readonly string[]>> = {
  'takes rights away': [
    'deleteCurrentSession',
    'deleteMyAccountLink',
    'deleteMySessions',
    'deleteServiceAccount',
    'deleteUser',
    'deleteUserAccountLink',
    'disableServiceAccount',
    'disableUser',
    'revokePersonalAccessToken',
    'revokeServiceAccountToken',
  ],
  'proves who somebody is, by a password, a code, a link or an account of theirs': [
    'beginTotpEnrolment',
    'changePassword',
    'completePasswordSetup',
    'confirmBridgeLink',
    'confirmChatServerLink',
    'confirmTotpEnrolment',
    'createSession',
    'regenerateTotpRecoveryCodes',
    'removeTotp',
    'startBridgeLink',
    'startChannelBotLink',
    'startChatServerLink',
    'startOidcLink',
    'submitSessionTotp',
  ],
  'calls the provider as it was saved': ['checkOidcSettings'],
  'concerns a Connection that nobody is linked through': ['checkConnection', 'deleteConnection'],
  'changes how things are shown and kept': [
    'createSavedView',
    'deleteSavedView',
    'setDefaultView',
    'updateMe',
    'updateSavedView',
    'updateOrganization',
    'updateOutboundPolicy',
  ],
};

/** Changes that need one of these are about alerts, not about who may do what. */
export const ABOUT_ALERTS: readonly Needs[] = [
  'alert-groups:acknowledge',
  'alert-groups:note',
  'alert-groups:resolve',
  'alert-groups:snooze',
  // The Command in the body asks for its own Permission.
  'authenticated',
  'destinations:test',
  'destinations:write',
  'integrations:write',
  'link-rules:write',
  'lookup-tables:write',
  'routes:read',
  'routes:write',
  'templates:preview',
];

/** Changes of something with an ETag that people do not need to have read before. */
export const PUT_WITHOUT_IF_MATCH: readonly string[] = [
  'updateMe',
  'changePassword',
  'putDestinationSecret',
  'setDefaultView',
];

/** What the Roles hold beyond the Viewer (access §8). */
export const RESPONDER_ONLY: readonly string[] = [
  'alert-groups:acknowledge',
  'alert-groups:resolve',
  'alert-groups:snooze',
  'alert-groups:note',
];
export const VIEWER: readonly string[] = [
  'alert-groups:read',
  'alerts:read',
  'integrations:read',
  'routes:read',
  'connections:read',
  'destinations:read',
  'link-rules:read',
  'lookup-tables:read',
];
