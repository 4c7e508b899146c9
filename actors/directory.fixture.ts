/** A directory that holds nothing: tests add what theirs is about. */
import type { PublicId } from '../runtime/public-id.ts';
import type { Directory, MentionSettings } from './directory.ts';

export const EMPTY_DIRECTORY: Directory = {
  organization: {
    id: 'RG0000000000AA' as PublicId,
    name: 'Tocsin',
    timeZone: 'UTC',
    workdayStart: '09:00',
    weekStart: 'monday',
    severityLabel: 'severity',
    severityMapping: [],
    severityEmoji: { critical: '🟥', warning: '🟧', info: '🟦' },
    criticalIsUrgent: true,
    instanceLabels: [],
  },
  routes: [],
  routesById: new Map(),
  integrationsById: new Map(),
  destinationsById: new Map(),
  connectionsById: new Map(),
  usersById: new Map(),
};

const NOBODY = { everyone: 'none', user_ids: [], groups: [] } as const;
export const NO_MENTIONS: MentionSettings = {
  ...{ new_alert_group: NOBODY, new_alerts: NOBODY, reopen: NOBODY },
  ...{ ack_timeout: NOBODY, snooze_ended: NOBODY, rise_to_urgent: NOBODY },
};
