/** What the environment of `npm run dev` asks for. */
import path from 'node:path';

/** Of Stately Inspector's server. */
const INSPECTOR_PORT = 5175;

export interface DevSettings {
  /** Environment of the service. */
  readonly service: Readonly<Record<string, string>>;
  /** Port of the server that shows the actors; null: nobody asked for it, and the service sends nothing. */
  readonly inspectorPort: number | null;
}

/** @param address where browsers find the UI */
export function devSettings(
  environment: Readonly<Record<string, string | undefined>>,
  address: string,
  inspectorPort = INSPECTOR_PORT,
): DevSettings {
  // The service takes the address of Vite for its own: cookies, links and checks of the origin depend on it.
  const service = { SVC_PUBLIC_URL: address };
  if (environment.SVC_INSPECT !== '1') return { service, inspectorPort: null };
  const script = path.join(import.meta.dirname, 'inspect.ts');
  return {
    service: {
      ...service,
      NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import ${script}`,
      INSPECTOR_URL: `ws://localhost:${inspectorPort}`,
    },
    inspectorPort,
  };
}
