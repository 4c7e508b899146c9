/** HTTP as one thing: given what it needs, it starts and stops all listeners. */

import type { TemplatedApp } from 'uWebSockets.js';
import type { Registry } from 'prom-client';
import type { ApiTokens } from '../actors/access/api-tokens.ts';
import type { SingleSignOn } from '../actors/access/oidc/single-sign-on.ts';
import type { Passwords } from '../actors/access/passwords.ts';
import type { People } from '../actors/access/people.ts';
import type { AccessStore } from '../actors/access/ports.ts';
import type { PushReceiver } from '../actors/connection/bridge/push-receiver.ts';
import type { DirectorySource } from '../actors/directory.ts';
import type { HintBus } from '../actors/effects.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { clientAddresses } from './address.ts';
import { createAppHandler, createInternalHandler, type NotReady } from './app.ts';
import { createCallbackHandler } from './callbacks.ts';
import { type CsrfTokens, createAuthenticate } from './credentials.ts';
import { createDispatch } from './dispatch.ts';
import type { IsUnavailable } from './errors.ts';
import { securityHeaders } from './headers.ts';
import type { ListenAddress, Listener } from './listeners.ts';
import { createLiveUpdates } from './live.ts';
import { createHttpMetrics } from './metrics.ts';
import { describeApi } from './openapi.ts';
import type { Operation } from './operation.ts';
import { assembleOperations } from './operations.ts';
import { laterOperations } from './resources/later.ts';
import { meOperations } from './resources/me.ts';
import { ownSessionOperations } from './resources/me-sessions.ts';
import { ownTotpOperations } from './resources/me-totp.ts';
import { oidcSignInOperations } from './resources/oidc-sign-in.ts';
import { passwordOperations } from './resources/passwords.ts';
import { type SessionDeps, sessionOperations } from './resources/sessions.ts';
import { secondFactorOperations } from './resources/sessions-totp.ts';
import { type ApiDescription, systemOperations } from './resources/system.ts';
import { userOperations } from './resources/users.ts';
import { createRouter } from './router.ts';
import { createServer } from './server.ts';
import { loadStaticFiles } from './static.ts';
import { createTokenPace } from './token-pace.ts';

export interface HttpDeps {
  readonly listen: Readonly<Record<Listener, ListenAddress>>;
  /** SVC_PUBLIC_URL. */
  readonly publicUrl: string;
  /** SVC_TRUSTED_PROXIES, each in CIDR notation. */
  readonly trustedProxies: readonly string[];
  /** Folder with the built UI (`ui/dist`). */
  readonly uiFolder: string;
  /** Of the build; shown in the API description. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
  readonly random: (size: number) => Uint8Array;
  readonly access: AccessStore;
  /** Ways through the identity provider. */
  readonly singleSignOn: SingleSignOn;
  readonly people: People;
  readonly tokens: ApiTokens;
  readonly passwords: Passwords;
  readonly csrf: CsrfTokens;
  readonly directory: DirectorySource;
  /** Resolves when {@link directory} shows what is stored now, whichever replica stored it. */
  readonly upToDate: () => Promise<void>;
  readonly hints: HintBus;
  /** Has actors look for messages that a change left them. */
  readonly poke: () => void;
  /** Operations of the other resources; sign-in, users, Organization and system are added here. */
  readonly operations: readonly (readonly Operation[])[];
  readonly isUnavailable: IsUnavailable;
  readonly readiness: () => Promise<NotReady | null>;
  readonly ingest: IngestPaths;
  /** Takes what bridges push. */
  readonly pushes: PushReceiver;
}

/** What HTTP asks of ingestion: its paths read their bodies themselves. */
export interface IngestPaths {
  register(app: TemplatedApp): void;
  /** Resolves when everything taken in is stored and answered. */
  stop(): Promise<void>;
}

export interface Http {
  /** The whole operation table. */
  readonly operations: readonly Operation[];
  /** Binds the listeners and says where. @throws {ListenError} */
  start(): Promise<Readonly<Record<Listener, ListenAddress>>>;
  /** Ends live streams, drains app and ingest within 10 s; health and metrics keep answering. */
  drain(): Promise<void>;
  /** Closes every socket. */
  stop(): void;
}

/** Puts the listeners together; nothing is opened before {@link Http.start}. */
export async function createHttp(deps: HttpDeps): Promise<Http> {
  const { access, clock, log } = deps;
  const metrics = createHttpMetrics(deps.registry);
  const live = createLiveUpdates({
    hints: deps.hints,
    clock,
    log,
    live: (ids, now) => access.sessions.live(ids, now),
    opened: metrics.liveStreams,
  });
  const operations: readonly Operation[] = assembleOperations(
    ...deps.operations,
    ownOperations(deps, {
      live,
      description: () => description,
      onFailure: metrics.loginFailed,
      oidcFailed: () => metrics.loginFailed('oidc'),
    }),
    laterOperations(),
  );
  const description = describeApi(operations, deps.version);
  const headers = securityHeaders(deps.publicUrl);
  const clientAddress = clientAddresses(deps.trustedProxies);
  const dispatch = createDispatch({
    authenticate: createAuthenticate(access, {
      tokens: deps.tokens,
      pace: createTokenPace(),
      clientAddress,
    }),
    csrf: deps.csrf,
    directory: deps.directory,
    upToDate: deps.upToDate,
    clock,
    log,
    clientAddress,
    isUnavailable: deps.isUnavailable,
    headers: headers.api,
  });
  const files = await loadStaticFiles(deps.uiFolder, headers.ui);
  const server = createServer({
    clock,
    listen: deps.listen,
    handlers: {
      app: createAppHandler({
        router: createRouter(operations),
        dispatch,
        files,
        headers: headers.api,
        metrics,
        clock,
      }),
      ingest: createCallbackHandler(deps),
      internal: createInternalHandler({
        readiness: deps.readiness,
        metrics: () => deps.registry.metrics(),
        metricsContentType: deps.registry.contentType,
      }),
    },
    ingest: (app) => deps.ingest.register(app),
    ingestDrained: () => deps.ingest.stop(),
    onDefect: (listener, error) => log('api_request_failed', { operation: listener, error: String(error) }),
  });

  return {
    operations,
    start: () => server.start(),
    drain() {
      live.close();
      return server.drain();
    },
    stop: () => server.stop(),
  };
}

interface OwnParts {
  readonly live: ReturnType<typeof createLiveUpdates>;
  readonly description: () => ApiDescription;
  readonly onFailure: SessionDeps['onFailure'];
  readonly oidcFailed: () => void;
}

function ownOperations(
  deps: HttpDeps,
  { live, description, onFailure, oidcFailed }: OwnParts,
): readonly Operation[] {
  const { access, people, passwords, csrf, clock, random } = deps;
  const forProofs = { throttle: access.throttle, passwords, clock, onFailure };
  const { singleSignOn } = deps;
  const forSessions = {
    ...{ store: access, sessions: access.sessions, singleSignOn },
    ...{ passwords, csrf, clock, random, onFailure },
  };
  return [
    ...sessionOperations(forSessions),
    ...secondFactorOperations(forSessions),
    ...oidcSignInOperations({ singleSignOn, accounts: access.accounts, onFailure: oidcFailed }),
    ...meOperations({
      ...{ accounts: access.accounts, profiles: people.profiles },
      ...{ directory: deps.directory, poke: deps.poke },
    }),
    ...ownSessionOperations(access.sessions),
    ...passwordOperations({ ...forProofs, own: people.ownPasswords, links: people.passwordLinks }),
    ...ownTotpOperations({
      ...forProofs,
      accounts: access.accounts,
      own: people.ownPasswords,
      enrolments: people.enrolments,
      random,
    }),
    ...userOperations(access.users),
    ...systemOperations({ live, description }),
  ];
}
