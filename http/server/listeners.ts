/** Which sockets are opened: listeners with equal addresses share one (api §1.1). */

export const LISTENERS = ['app', 'ingest', 'internal'] as const;
export type Listener = (typeof LISTENERS)[number];

export interface ListenAddress {
  /** Empty: every address of the machine. */
  readonly host: string;
  /** 0: any free port, never shared. */
  readonly port: number;
}

export interface PlannedSocket extends ListenAddress {
  readonly serves: readonly Listener[];
}

export function planSockets(listen: Readonly<Record<Listener, ListenAddress>>): readonly PlannedSocket[] {
  const sockets: { host: string; port: number; serves: Listener[] }[] = [];
  for (const listener of LISTENERS) {
    const { host, port } = listen[listener];
    const shared = sockets.find((socket) => port !== 0 && socket.host === host && socket.port === port);
    if (shared) shared.serves.push(listener);
    else sockets.push({ host, port, serves: [listener] });
  }
  return sockets;
}

/** The listener that a path belongs to on a socket: its own where the socket serves it, else what the socket has. */
export function listenerOf(path: string, serves: readonly Listener[]): Listener {
  const own = ownerOf(path);
  if (serves.includes(own)) return own;
  return serves[0] ?? own;
}

const INTERNAL_PATHS: ReadonlySet<string> = new Set(['/health/live', '/health/ready', '/metrics']);
const INGEST_PREFIXES = ['/api/v1/ingest', '/api/v1/heartbeat', '/api/v1/callbacks'];

function ownerOf(path: string): Listener {
  if (INTERNAL_PATHS.has(path)) return 'internal';
  const machines = INGEST_PREFIXES.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  return machines ? 'ingest' : 'app';
}
