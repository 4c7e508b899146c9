/** The operations of every resource, for tests of the table as a whole. */
import { type HttpDeps, ownOperations } from '../http/index.ts';
import type { Operation } from '../http/operation.ts';
import { assembleOperations } from '../http/request/router.ts';
import { personalTokenOperations } from '../http/resources/access/api-tokens.ts';
import { oidcSettingsOperations } from '../http/resources/access/oidc-settings.ts';
import { serviceAccountOperations } from '../http/resources/access/service-accounts.ts';
import { userAccessOperations } from '../http/resources/access/user-access.ts';
import { userAccountOperations } from '../http/resources/access/user-accounts.ts';
import { alertGroupOperations } from '../http/resources/alert-groups/alert-groups.ts';
import { contextOperations } from '../http/resources/alert-groups/context.ts';
import { flowOperations } from '../http/resources/alert-groups/flow.ts';
import { deliveryOperations } from '../http/resources/alert-groups/pages.ts';
import { savedViewOperations } from '../http/resources/alert-groups/saved-views.ts';
import { statisticsOperations } from '../http/resources/alert-groups/statistics.ts';
import { accountLinkOperations } from '../http/resources/connections/account-links.ts';
import { connectionCheckOperations } from '../http/resources/connections/checks.ts';
import { connectionOperations } from '../http/resources/connections/connections.ts';
import { destinationCheckOperations } from '../http/resources/destinations/checks.ts';
import { deliveryHoursOperations } from '../http/resources/destinations/delivery-hours.ts';
import { destinationOperations } from '../http/resources/destinations/destinations.ts';
import { destinationSecretOperations } from '../http/resources/destinations/secrets.ts';
import { destinationTrialOperations } from '../http/resources/destinations/trials.ts';
import { integrationOperations } from '../http/resources/integrations/integrations.ts';
import {
  alertmanagerRouteOperations,
  integrationAlertOperations,
} from '../http/resources/integrations/received.ts';
import { storedSnapshotOperations } from '../http/resources/integrations/stored-snapshots.ts';
import { linkRuleOperations } from '../http/resources/links/link-rules.ts';
import { lookupTableOperations } from '../http/resources/links/lookup-tables.ts';
import { templatePreviewOperations } from '../http/resources/links/template-previews.ts';
import { auditLogOperations } from '../http/resources/organization/audit-log.ts';
import { keyringOperations, organizationOperations } from '../http/resources/organization/organization.ts';
import { outboundPolicyOperations } from '../http/resources/organization/outbound-policy.ts';
import { routeMoveOperations } from '../http/resources/routes/move.ts';
import { previewOperations } from '../http/resources/routes/preview.ts';
import { routeOperations } from '../http/resources/routes/routes.ts';
import { routeSuggestionOperations } from '../http/resources/routes/suggestions.ts';
import { requestRecordOperations } from '../http/resources/system/request-records.ts';
import { actorOperations } from '../http/resources/system/system.ts';
import { systemStatusOperations } from '../http/resources/system/system-status.ts';

/** Making a table only keeps what it is given; nothing is called. */
const UNUSED = {} as never;

/** What the composition root adds to the server's own operations; each answers 204 to whoever is let in. */
export function otherOperations(): readonly (readonly Operation[])[] {
  return everyPart().map((part) => part.map(opened));
}

/** Where an operation is asked for, with an id in each place that nothing has. */
export function pathOf({ path, ids, words }: Operation): string {
  const sampleOf = (name: string) => words?.[name]?.[0] ?? `${ids?.[name] ?? 'SR'}0000000000AA`;
  return `/api/v1${path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => sampleOf(name))}`;
}

function everyPart(): readonly (readonly Operation[])[] {
  return [
    accountLinkOperations(UNUSED),
    actorOperations(UNUSED),
    alertGroupOperations(UNUSED),
    auditLogOperations(UNUSED),
    connectionOperations(UNUSED),
    connectionCheckOperations(UNUSED),
    contextOperations(UNUSED),
    deliveryOperations(UNUSED),
    destinationOperations(UNUSED),
    destinationCheckOperations(UNUSED),
    deliveryHoursOperations(UNUSED),
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
    savedViewOperations(UNUSED),
    serviceAccountOperations(UNUSED),
    flowOperations(UNUSED),
    statisticsOperations(UNUSED),
    storedSnapshotOperations(UNUSED),
    systemStatusOperations(UNUSED),
    templatePreviewOperations(UNUSED),
    userAccountOperations(UNUSED),
    userAccessOperations(UNUSED),
  ];
}

/** The whole table, as the served description shows it. */
export function everyOperation(): readonly Operation[] {
  return assembleOperations(
    ...everyPart(),
    ownOperations(
      {
        access: UNUSED,
        people: UNUSED,
        passwords: UNUSED,
        singleSignOn: UNUSED,
      } as Partial<HttpDeps> as HttpDeps,
      UNUSED,
    ),
  );
}

/** Without the order of checks that Commands have of their own: what they are told first depends on the body. */
function opened({ validatesFirst, ...operation }: Operation): Operation {
  const answers = { ...operation.answers, 204: { description: 'Let in.' } };
  return { ...operation, answers, handle: async () => ({ status: 204 }) };
}
