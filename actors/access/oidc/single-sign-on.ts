/** Single sign-on as HTTP sees it. */
import { type Departure, type DepartureDeps, depart } from './departures.ts';
import type { OidcRequest } from './ports.ts';
import { type Arrival, arrive, type ReturnDeps, type Returned } from './returns.ts';
import { displayName } from './settings.ts';

export interface SingleSignOn {
  /** What the button to sign in says; null while there is none. */
  buttonName(): Promise<string | null>;
  /** Sends somebody to the provider. */
  depart(request: Pick<OidcRequest, 'link' | 'returnTo'>): Promise<Departure>;
  /** Takes whoever comes back. */
  arrive(returned: Returned): Promise<Arrival>;
}

export function createSingleSignOn(deps: DepartureDeps & ReturnDeps): SingleSignOn {
  return {
    async buttonName() {
      const { fields } = await deps.stores.settings.read();
      return fields.enabled ? displayName(fields) : null;
    },
    depart: (request) => depart(deps, request),
    arrive: (returned) => arrive(deps, returned),
  };
}
