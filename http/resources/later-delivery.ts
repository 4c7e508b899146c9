/** Later: previews, messengers, links (api §10–17). */
import type { LaterOperation } from './later-table.ts';

const DESTINATION = '/destinations/{destination_id}';

export const LATER_DELIVERY: readonly LaterOperation[] = [
  ['testDestination', 'POST', `${DESTINATION}/tests`, 'destinations:test', 'Send a test message'],
  [
    'previewDestination',
    'POST',
    `${DESTINATION}/previews`,
    'destinations:test',
    'Preview what would be sent',
  ],
];
