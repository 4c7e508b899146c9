/** Later: previews, messengers, links (api §10–17). */
import { CHANGES, DELETES, type LaterOperation } from './later-table.ts';

const DESTINATION = '/destinations/{destination_id}';
const RULE = '/link-rules/{link_rule_id}';

export const LATER_DELIVERY: readonly LaterOperation[] = [
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
