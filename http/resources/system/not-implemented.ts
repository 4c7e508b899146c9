/**
 * Operations of the API that are not implemented: credentials and Permissions are checked, then the answer is 501. To
 * implement one, move it to the file of its resource.
 */
import type { Method, Needs, Operation, OperationShape } from '../../operation.ts';
import type { Schema } from '../../schema/described.ts';

export function notImplementedOperations(): readonly Operation[] {
  return NOT_IMPLEMENTED.map(declare);
}

function declare([id, method, path, needs, summary, description, more]: NotImplementedOperation): Operation {
  return { id, method, path, tag: tagOf(path), needs, summary, description, answers: {}, ...more };
}

const TAGS: Readonly<Record<string, string>> = {
  sessions: 'Sessions',
  'password-setups': 'Sessions',
  me: 'Profile',
  users: 'Users',
  'audit-log': 'Audit log',
  organization: 'Organization',
  integrations: 'Integrations',
  'stored-snapshots': 'Integrations',
  routes: 'Routes',
  'group-key-previews': 'Routes',
  'route-suggestions': 'Routes',
  'alert-groups': 'Alert Groups',
  'alert-group-statistics': 'Alert Groups',
  connections: 'Connections',
  destinations: 'Destinations',
  'lookup-tables': 'Lookup tables',
  'link-rules': 'Link rules',
  'template-previews': 'Templates',
};

function tagOf(path: string): string {
  return TAGS[path.split('/')[1] ?? ''] ?? 'System';
}

/** One such operation, written as one line. */
type NotImplementedOperation = readonly [
  id: string,
  method: Method,
  path: string,
  needs: Needs,
  summary: string,
  description: string,
  more?: Partial<
    Pick<
      OperationShape<Schema | undefined, Schema | undefined>,
      'ifMatch' | 'credential' | 'alsoIn' | 'mayAlsoNeed'
    >
  >,
];

export const CHANGES = { ifMatch: 'required' } as const;

/** Account links (api §3 to §5). */
const LATER = 'Reserved; this version answers 501.';
const LINKS = '/me/account-links';

const NOT_IMPLEMENTED: readonly NotImplementedOperation[] = [
  [
    'startChannelBotLink',
    'POST',
    `${LINKS}/channel-bot`,
    'session',
    'Begin to link a channel-bot account',
    LATER,
  ],
  ['startChatServerLink', 'POST', `${LINKS}/chat-server`, 'session', 'Begin to link a chat account', LATER],
  [
    'confirmChatServerLink',
    'POST',
    `${LINKS}/chat-server/confirmation`,
    'session',
    'Confirm a chat account',
    LATER,
  ],
];
