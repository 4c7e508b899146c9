/** Later: previews, messengers, links (api §10–17). */
import { CHANGES, DELETES, type LaterOperation } from './later-table.ts';

const CONNECTION = '/connections/{connection_id}';
const DESTINATION = '/destinations/{destination_id}';
const RULE = '/link-rules/{link_rule_id}';

export const LATER_DELIVERY: readonly LaterOperation[] = [
  ['listConnections', 'GET', '/connections', 'connections:read', 'List Connections'],
  ['createConnection', 'POST', '/connections', 'connections:write', 'Create a Connection'],
  ['getConnection', 'GET', CONNECTION, 'connections:read', 'Read a Connection'],
  ['updateConnection', 'PUT', CONNECTION, 'connections:write', 'Change a Connection', CHANGES],
  ['deleteConnection', 'DELETE', CONNECTION, 'connections:write', 'Delete a Connection', DELETES],
  ['checkConnection', 'POST', '/connections/checks', 'connections:write', 'Check a Connection before saving'],
  [
    'listConnectionChannels',
    'GET',
    `${CONNECTION}/channels`,
    'destinations:write',
    'List channels of the bot',
  ],

  ['testDestination', 'POST', `${DESTINATION}/tests`, 'destinations:test', 'Send a test message'],
  [
    'previewDestination',
    'POST',
    `${DESTINATION}/previews`,
    'destinations:test',
    'Preview what would be sent',
  ],

  ['listLinkRules', 'GET', '/link-rules', 'link-rules:read', 'List Link rules'],
  ['createLinkRule', 'POST', '/link-rules', 'link-rules:write', 'Create a Link rule'],
  ['getLinkRule', 'GET', RULE, 'link-rules:read', 'Read a Link rule'],
  ['updateLinkRule', 'PUT', RULE, 'link-rules:write', 'Change a Link rule', CHANGES],
  ['deleteLinkRule', 'DELETE', RULE, 'link-rules:write', 'Delete a Link rule', DELETES],
  ['previewTemplate', 'POST', '/template-previews', 'templates:preview', 'Render a template'],
];
