/**
 * The reference bridge as the fake of a bridge: in this process, on a free port, strict about what it is sent. What it
 * refuses as invalid is a defect of whoever sent it: {@link ReferenceBridge.refusals} must stay empty unless a test
 * asks for one.
 */
import { type RunningBridge, startBridge, systemPorts } from '../../runtime/cli/bridge-reference/server.ts';
import type { Settings, Switch } from '../../runtime/cli/bridge-reference/shapes.ts';
import type { RecordedRequest } from '../../runtime/cli/bridge-reference/sim.ts';
import type { Ports } from '../../runtime/cli/bridge-reference/wire.ts';

export const BRIDGE_TOKEN = 'reference-bridge-token';
export const SECOND_BRIDGE_TOKEN = 'reference-bridge-token-2';

export interface ReferenceBridge extends RunningBridge {
  readonly token: string;
  /** Declares a capability or something else that can be switched, or does so no longer. */
  offer(what: Switch, isOffered: boolean): void;
  /** Requests that broke the protocol. */
  refusals(): readonly RecordedRequest[];
}

/** @param ports give it another clock, or another way to push */
export async function startReferenceBridge(
  settings: Partial<Omit<Settings, 'pageUrl'>> = {},
  ports: Ports = systemPorts,
): Promise<ReferenceBridge> {
  const without = settings.without ?? new Set<Switch>();
  const complete = {
    ...{ tokens: [BRIDGE_TOKEN, SECOND_BRIDGE_TOKEN], editMaxAge: null, push: null },
    ...settings,
    without,
  };
  const bridge = await startBridge(complete, 0, ports);
  return {
    ...bridge,
    token: complete.tokens[0] ?? BRIDGE_TOKEN,
    offer: (what, isOffered) => void (isOffered ? without.delete(what) : without.add(what)),
    refusals: () =>
      bridge.requests.filter(({ status }) => status === 400 || status === 404 || status === 413),
  };
}
