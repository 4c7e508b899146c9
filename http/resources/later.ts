/**
 * Operations that are part of the API and that this build does not do: credentials and Permissions are checked, then
 * the answer is 501. Moving one to its resource's file is the first step of building it.
 */

import type { Operation } from '../operation.ts';
import { LATER_PEOPLE } from './later-people.ts';
import type { LaterOperation } from './later-table.ts';

export function laterOperations(): readonly Operation[] {
  return LATER_PEOPLE.map(declare);
}

function declare([id, method, path, needs, summary, more]: LaterOperation): Operation {
  return { id, method, path, tag: tagOf(path), needs, summary, answers: {}, ...more };
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
