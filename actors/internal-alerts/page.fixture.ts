/** The page docs/internal-alerts.md, written from the registry (internal-alerts §2.1 rule 1). */
import { internalFingerprint, internalGroupKey } from './conditions.ts';
import { INTERNAL_ALERT_NAMES, INTERNAL_ALERTS, type InternalAlertName } from './registry.ts';

const HEAD = `# Internal alerts

Alerts that Tocsin raises about itself, and resolves itself. They are Snapshots of the built-in Integration **Tocsin**,
stored with the change that they tell of, and take the same way as all others: Routes, Alert Groups, Destinations. Without
a Route that matches they go to the Default route. A service that is down tells nobody: the
[alert rules](../deploy/prometheus/rules.yaml) are for that.

`;

const TAIL = `
Every alert has the labels \`alertname\` and \`severity\`; one about an Integration, a Destination or a Route has the id in
\`integration\`, \`destination\` or \`route\` and the present name in \`integration_name\`, \`destination_name\` or
\`route_name\`. These win over Static labels of the same name. The fingerprint is made of \`alertname\` and the id alone, so
an entity that is renamed keeps its alert, with the new name. Deleting the entity resolves it.

The Severity is the one above, whatever the Organization's severity label and mapping say. Annotations are \`summary\`,
\`description\` and, unless \`SVC_RUNBOOK_BASE_URL\` is set to an empty value, \`runbook_url\`. Raising and resolving log
\`internal_alert_raised\` and \`internal_alert_resolved\`.

A Destination that is Broken cannot say so itself: send SvcDestinationBroken to a second one, best in another messenger.
`;

/** Generated; a test compares it with the committed page. */
export function internalAlertsPage(): string {
  const header = ['| Alert | Severity | Raised while | Resolved by |', '| --- | --- | --- | --- |'];
  const texts = INTERNAL_ALERT_NAMES.map(section);
  return `${HEAD}${[...header, ...INTERNAL_ALERT_NAMES.map(row)].join('\n')}\n${texts.join('')}${TAIL}`;
}

function row(name: InternalAlertName): string {
  const { severity, raisedWhile, resolvedBy } = INTERNAL_ALERTS[name];
  return `| [${name}](runbooks/${name}.md) | ${severity} | ${raisedWhile} | ${resolvedBy} |`;
}

function section(name: InternalAlertName): string {
  const { about, extras, says } = INTERNAL_ALERTS[name];
  const kinds = about.length > 0 ? about : [null];
  const said = kinds.map((kind) => says({ kind, name: '&lt;name&gt;', date: '&lt;date&gt;' }));
  const lines = [
    `\n## ${name}\n`,
    ...said.map(({ summary, description }) => `- **${summary}**. ${description}`),
    `- Labels besides \`alertname\` and \`severity\`: ${labelsOf(about, extras)}.`,
    `- Group of the sender: \`${internalGroupKey(name)}\`.`,
    ...(about.length > 0 ? [] : [`- Fingerprint: \`${internalFingerprint(name, null)}\`.`]),
  ];
  return `${lines.join('\n')}\n`;
}

function labelsOf(about: readonly string[], extras: readonly string[]): string {
  const own = about.map((kind) => `\`${kind}\`, \`${kind}_name\``).join(' or ');
  const others = extras.map((extra) => (/^[a-z_]+$/.test(extra) ? `\`${extra}\`` : extra));
  return [own, ...others].filter((text) => text !== '').join(', ') || 'none';
}
