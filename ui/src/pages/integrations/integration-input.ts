/** The form of an Integration and what is sent. */
import type { IntegrationInput } from '../../api/shapes.ts';

export interface LabelRow {
  readonly name: string;
  readonly value: string;
}

/** What the fields hold: Static labels as rows, because two rows may be half written or clash. */
export interface IntegrationDraft {
  name: string;
  description: string;
  labels: LabelRow[];
  duplicateWindow: number;
  heartbeat: boolean;
  heartbeatTimeout: number;
}

export const NEW_INTEGRATION: IntegrationInput = {
  name: '',
  description: '',
  connection_mode: 'webhook_only',
  static_labels: {},
  duplicate_window_seconds: 45,
  heartbeat: { enabled: false, timeout_seconds: 300 },
};

export function toDraft(input: IntegrationInput): IntegrationDraft {
  return {
    name: input.name,
    description: input.description,
    labels: Object.entries(input.static_labels).map(([name, value]) => ({ name, value })),
    duplicateWindow: input.duplicate_window_seconds,
    heartbeat: input.heartbeat.enabled,
    heartbeatTimeout: input.heartbeat.timeout_seconds,
  };
}

/** Rows without a name are left out. */
export function fromDraft(draft: IntegrationDraft): IntegrationInput {
  const rows = draft.labels.filter((row) => row.name.trim() !== '');
  return {
    name: draft.name,
    description: draft.description,
    connection_mode: 'webhook_only',
    static_labels: Object.fromEntries(rows.map((row) => [row.name.trim(), row.value])),
    duplicate_window_seconds: draft.duplicateWindow,
    heartbeat: { enabled: draft.heartbeat, timeout_seconds: draft.heartbeatTimeout },
  };
}
