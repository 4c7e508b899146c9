import { expect, test } from 'vitest';
import { otherOperations } from '../test/every-operation.ts';
import { startHttp } from '../test/http-server.ts';
import { openApiDocument } from './openapi/openapi.ts';

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Every operation that the API consists of. */
const OPERATIONS = `
  acceptRouteSuggestion acknowledgeAlertGroup addNote answerReminder beginTotpEnrolment changePassword
  checkConnection checkDestination checkOidcSettings completeOidcSignIn completePasswordSetup
  confirmBridgeLink confirmChatServerLink confirmTotpEnrolment convertUserToLocal createConnection
  createDestination createIntegration createIntegrationToken createLinkRule createLookupTable
  createPasswordSetupLink createPersonalAccessToken createRoute createSavedView createServiceAccount
  createServiceAccountToken createSession createUser deleteConnection deleteCurrentSession
  deleteDestination deleteDestinationSecret deleteIntegration deleteLinkRule deleteLookupTable
  deleteMyAccountLink deleteMySessions deleteRoute deleteSavedView deleteServiceAccount deleteUser deleteUserAccountLink
  disableServiceAccount disableUser dismissRouteSuggestion enableServiceAccount enableUser
  generateSigningSecret getActor getActorCounts getAlertGroup getAlertGroupContext
  getAlertGroupCounts getAlertGroupFlow getAlertGroupFolds getAlertGroupStatistics getConnection
  getCurrentSession getDestination getIntegration getKeyring getLinkRule getLookupTable getMe getMyTotp
  getOidcSettings getOpenApiJson getOpenApiYaml getOrganization getOutboundPolicy getRequestRecord
  getRoute getSavedView getServiceAccount getSignInOptions getSigningSecretStatus getStoredSnapshot getSystemStatus
  getUser listActors listAlertGroupAlerts listAlertGroupDeliveries listAlertGroups listAlertmanagerRoutes
  listAuditLog listConnectionChannels listConnections listDeliveryHours listDestinationSecrets listDestinations
  listIntegrationAlerts listIntegrationTokens listIntegrations listLinkRules listLinkableConnections
  listLookupTables listMyAccountLinks listMySessions listNotes listPersonalAccessTokens
  listRelatedAlertGroups listRequestRecords listRoles listRouteProfiles listRouteSuggestions listRoutes
  listSavedViews listServiceAccountTokens listServiceAccounts listSeverityValues listSnoozePresets listStoredSnapshots
  listSystemNotices listTimeline listUserAccountLinks listUserDirectory listUsers moveOpenAlertGroups
  previewDestination previewGroupKey previewTemplate putDestinationSecret regenerateTotpRecoveryCodes
  removeTotp reorderRoutes resetUserTotp resolveAlertGroup retirePreviousSigningSecret
  revokeIntegrationToken revokePersonalAccessToken revokeServiceAccountToken runBulkCommand
  setDefaultView snoozeAlertGroup startBridgeLink startChannelBotLink startChatServerLink startOidcLink startOidcSignIn
  streamLiveUpdates submitSessionTotp testDestination unacknowledgeAlertGroup unresolveAlertGroup
  unsnoozeAlertGroup updateConnection updateDestination updateIntegration updateLinkRule updateLookupTable
  updateMe updateOidcSettings updateOrganization updateOutboundPolicy updateRoute updateSavedView updateServiceAccount
  updateUser
`;

test('every operation is implemented: none is described with 501', async () => {
  const operations = await startHttp({ operations: otherOperations() }).then(({ http }) => http.operations);
  const { paths } = openApiDocument(operations, '1.2.3') as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  const described = Object.values(paths).flatMap((byMethod) => Object.values(byMethod));
  expect(described.length).toBeGreaterThan(operations.length);
  expect(described.filter(({ responses }) => responses['501'] !== undefined)).toEqual([]);
});

test('the table holds every operation of the API and no other', async () => {
  const { http } = await startHttp({ operations: otherOperations() });
  const declared = http.operations.map(({ id }) => id);
  expect(declared.sort()).toEqual(OPERATIONS.trim().split(/\s+/));
});
