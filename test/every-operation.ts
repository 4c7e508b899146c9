/** The operations of every resource, for tests of the table as a whole. */
import type { Operation } from '../http/operation.ts';
import { accountLinkOperations } from '../http/resources/account-links.ts';
import { actorOperations } from '../http/resources/actors.ts';
import { statisticsOperations } from '../http/resources/alert-group-statistics.ts';
import { alertGroupOperations } from '../http/resources/alert-groups.ts';
import { auditLogOperations } from '../http/resources/audit-log.ts';
import { connectionOperations } from '../http/resources/connections.ts';
import { connectionCheckOperations } from '../http/resources/connections-checks.ts';
import { destinationOperations } from '../http/resources/destinations.ts';
import { destinationCheckOperations } from '../http/resources/destinations-checks.ts';
import { deliveryOperations } from '../http/resources/destinations-deliveries.ts';
import { destinationSecretOperations } from '../http/resources/destinations-secrets.ts';
import { destinationTrialOperations } from '../http/resources/destinations-trials.ts';
import { integrationOperations } from '../http/resources/integrations.ts';
import { integrationAlertOperations } from '../http/resources/integrations-alerts.ts';
import { alertmanagerRouteOperations } from '../http/resources/integrations-routes.ts';
import { keyringOperations } from '../http/resources/keyring.ts';
import { linkRuleOperations } from '../http/resources/link-rules.ts';
import { lookupTableOperations } from '../http/resources/lookup-tables.ts';
import { oidcSettingsOperations } from '../http/resources/oidc-settings.ts';
import { organizationOperations } from '../http/resources/organization.ts';
import { outboundPolicyOperations } from '../http/resources/outbound-policy.ts';
import { personalTokenOperations } from '../http/resources/personal-tokens.ts';
import { requestRecordOperations } from '../http/resources/request-records.ts';
import { routeOperations } from '../http/resources/routes.ts';
import { routeMoveOperations } from '../http/resources/routes-move.ts';
import { previewOperations } from '../http/resources/routes-preview.ts';
import { routeSuggestionOperations } from '../http/resources/routes-suggestions.ts';
import { serviceAccountOperations } from '../http/resources/service-accounts.ts';
import { storedSnapshotOperations } from '../http/resources/stored-snapshots.ts';
import { systemStatusOperations } from '../http/resources/system-status.ts';
import { templatePreviewOperations } from '../http/resources/template-previews.ts';
import { userAccountOperations } from '../http/resources/user-accounts.ts';
import { userWayInOperations } from '../http/resources/user-ways-in.ts';

/** Making a table only keeps what it is given; nothing is called. */
const UNUSED = {} as never;

/** What the composition root adds to the server's own operations; each answers 204 to whoever is let in. */
export function otherOperations(): readonly (readonly Operation[])[] {
  return [
    accountLinkOperations(UNUSED),
    actorOperations(UNUSED),
    alertGroupOperations(UNUSED),
    auditLogOperations(UNUSED),
    connectionOperations(UNUSED),
    connectionCheckOperations(UNUSED),
    deliveryOperations(UNUSED),
    destinationOperations(UNUSED),
    destinationCheckOperations(UNUSED),
    destinationTrialOperations(UNUSED),
    destinationSecretOperations(UNUSED),
    integrationOperations(UNUSED),
    alertmanagerRouteOperations(UNUSED),
    integrationAlertOperations(UNUSED),
    keyringOperations(UNUSED),
    linkRuleOperations(UNUSED),
    lookupTableOperations(UNUSED),
    organizationOperations(UNUSED),
    oidcSettingsOperations(UNUSED),
    outboundPolicyOperations(UNUSED),
    personalTokenOperations(UNUSED),
    requestRecordOperations(UNUSED),
    routeOperations(UNUSED),
    routeMoveOperations(UNUSED),
    previewOperations(UNUSED),
    routeSuggestionOperations(UNUSED),
    serviceAccountOperations(UNUSED),
    statisticsOperations(UNUSED),
    storedSnapshotOperations(UNUSED),
    systemStatusOperations(UNUSED),
    templatePreviewOperations(UNUSED),
    userAccountOperations(UNUSED),
    userWayInOperations(UNUSED),
  ].map((part) => part.map(opened));
}

/** Without the order of checks that Commands have of their own: what they are told first depends on the body. */
function opened({ validatesFirst, ...operation }: Operation): Operation {
  return { ...operation, handle: async () => ({ status: 204 }) };
}
