/** What machines call, as the API description tells it: ingestion, callbacks, probes. Served outside the table. */
import type { Method } from './operation.ts';

export interface MachineOperation {
  readonly id: string;
  readonly method: Method;
  /** Whole path. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly needs: 'integration-token' | 'none';
  readonly answers: Readonly<Record<number, string>>;
}

const INGEST = {
  401: 'unauthenticated',
  500: 'internal',
  503: 'coordination-unavailable, with Retry-After',
} as const;

const SNAPSHOT = {
  tag: 'Ingestion',
  needs: 'integration-token',
  answers: { ...INGEST, 202: 'Stored durably', 413: 'payload-too-large' },
} as const;

const HEARTBEAT = {
  tag: 'Ingestion',
  needs: 'integration-token',
  answers: { ...INGEST, 204: 'Noted' },
} as const;

const CALLBACK = {
  method: 'POST',
  tag: 'Callbacks',
  needs: 'none',
  answers: { 501: 'not-implemented' },
} as const;

const PROBE = { method: 'GET', tag: 'Internal', needs: 'none' } as const;

export const MACHINE_OPERATIONS: readonly MachineOperation[] = [
  { id: 'ingestSnapshot', method: 'POST', path: '/api/v1/ingest', summary: 'Send a Snapshot', ...SNAPSHOT },
  {
    id: 'ingestSnapshotByPath',
    method: 'POST',
    path: '/api/v1/ingest/{ingest_token}',
    summary: 'Send a Snapshot with the token in the path',
    ...SNAPSHOT,
  },
  { id: 'heartbeat', method: 'POST', path: '/api/v1/heartbeat', summary: 'Send a Heartbeat', ...HEARTBEAT },
  {
    id: 'heartbeatByPath',
    method: 'POST',
    path: '/api/v1/heartbeat/{ingest_token}',
    summary: 'Send a Heartbeat with the token in the path',
    ...HEARTBEAT,
  },
  {
    id: 'heartbeatByGet',
    method: 'GET',
    path: '/api/v1/heartbeat',
    summary: 'Send a Heartbeat',
    ...HEARTBEAT,
  },
  {
    id: 'heartbeatByGetAndPath',
    method: 'GET',
    path: '/api/v1/heartbeat/{ingest_token}',
    summary: 'Send a Heartbeat with the token in the path',
    ...HEARTBEAT,
  },
  {
    id: 'chatServerAction',
    path: '/api/v1/callbacks/chat-server/{connection_id}',
    summary: 'A button was pressed in a chat',
    ...CALLBACK,
  },
  {
    id: 'channelBotUpdate',
    path: '/api/v1/callbacks/channel-bot/{connection_id}',
    summary: 'A channel bot got an update',
    ...CALLBACK,
  },
  {
    id: 'bridgeEvent',
    path: '/api/v1/callbacks/bridge/{connection_id}',
    summary: 'A bridge reports an event',
    ...CALLBACK,
    answers: {
      204: 'Handled, or handled before',
      400: 'validation-failed: drop the event',
      401: 'unauthenticated: signature, time, Connection or mode',
      500: 'internal: send it again',
      503: 'coordination-unavailable: send it again',
    },
  },
  {
    id: 'liveness',
    path: '/health/live',
    summary: 'Is the process alive?',
    answers: { 200: 'ok' },
    ...PROBE,
  },
  {
    id: 'readiness',
    path: '/health/ready',
    summary: 'May it be sent requests?',
    answers: { 200: 'ok', 503: 'starting, database unavailable, or shutting down' },
    ...PROBE,
  },
  {
    id: 'metrics',
    path: '/metrics',
    summary: 'Prometheus metrics',
    answers: { 200: 'Prometheus text' },
    ...PROBE,
  },
];
