/** HTTP as one thing: given what it needs, it starts and stops all listeners. */
import type { TemplatedApp } from 'uWebSockets.js';
import type { Registry } from 'prom-client';
import type { ApiTokens } from '../actors/access/api-tokens.ts';
import type { SingleSignOn } from '../actors/access/oidc/sign-in.ts';
import type { Passwords } from '../actors/access/passwords.ts';
import type { AccessStore, People } from '../actors/access/ports.ts';
import type { RefusedProofs } from '../actors/access/refused-proofs.ts';
import type { DirectorySource } from '../actors/directory.ts';
import type { HintBus } from '../actors/effects.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import {
  type CallbackReceiver,
  createAppHandler,
  createCallbackHandler,
  createHttpMetrics,
  createInternalHandler,
  type NotReady,
} from './app.ts';
import type { IsUnavailable } from './errors.ts';
import { createLiveUpdates } from './live/live.ts';
import { describeApi } from './openapi/openapi.ts';
import type { Operation } from './operation.ts';
import { type CsrfTokens, createAuthenticate, createTokenPace } from './request/credentials.ts';
import { createDispatch } from './request/dispatch.ts';
import { assembleOperations, createRouter } from './request/router.ts';
import { meOperations, ownSessionOperations } from './resources/access/me.ts';
import { ownTotpOperations } from './resources/access/me-totp.ts';
import { oidcSignInOperations } from './resources/access/oidc-sign-in.ts';
import { passwordOperations } from './resources/access/passwords.ts';
import { type SessionDeps, secondFactorOperations, sessionOperations } from './resources/access/sessions.ts';
import { userOperations } from './resources/access/users.ts';
import { type ApiDescription, systemOperations } from './resources/system/system.ts';
import { createBodyBudgets } from './server/body-budget.ts';
import { clientAddresses, securityHeaders } from './server/exchange.ts';
import type { Peers } from './server/inflow.ts';
import type { ListenAddress, Listener } from './server/listeners.ts';
import { createServer } from './server/server.ts';
import { loadRunbooks, loadStaticFiles } from './static.ts';

export interface HttpDeps {
  readonly listen: Readonly<Record<Listener, ListenAddress>>;
  readonly ingestFraming: 'strict' | 'fast';
  readonly engine: 'auto' | 'node';
  /** SVC_PUBLIC_URL. */
  readonly publicUrl: string;
  /** SVC_TRUSTED_PROXIES, each in CIDR notation. */
  readonly trustedProxies: readonly string[];
  /** Folder with the built UI (`ui/dist`). */
  readonly uiFolder: string;
  /** Folder with the runbooks (`docs/runbooks`). */
  readonly runbooksFolder: string;
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
  readonly refusedProofs: RefusedProofs;
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
  /** Takes what messengers and bridges push. */
  readonly callbacks: readonly CallbackReceiver[];
  /** Describes the operation table, once, before the server starts. */
  readonly describe?: typeof describeApi;
}

/** What HTTP asks of ingestion: its paths read their bodies themselves. */
export interface IngestPaths {
  register(app: TemplatedApp, peers: Peers | null): void;
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
  );
  const description = (deps.describe ?? describeApi)(operations, deps.version);
  const headers = securityHeaders(deps.publicUrl);
  const clientAddress = clientAddresses(deps.trustedProxies);
  const bodies = createBodyBudgets();
  const dispatch = createDispatch({
    authenticate: createAuthenticate(access, {
      tokens: deps.tokens,
      pace: createTokenPace(),
      clientAddress,
      refusedProofs: deps.refusedProofs,
    }),
    csrf: deps.csrf,
    directory: deps.directory,
    upToDate: deps.upToDate,
    clock,
    log,
    clientAddress,
    bodies,
    isUnavailable: deps.isUnavailable,
    headers: headers.api,
  });
  const files = await loadStaticFiles(deps.uiFolder, headers.ui, await loadRunbooks(deps.runbooksFolder));
  const server = createServer({
    clock,
    listen: deps.listen,
    ...{ ingestFraming: deps.ingestFraming, engine: deps.engine },
    handlers: {
      app: createAppHandler({
        router: createRouter(operations),
        dispatch,
        files,
        headers: headers.api,
        metrics,
        clock,
      }),
      ingest: createCallbackHandler({ ...deps, bodies, clientAddress }),
      internal: createInternalHandler({
        readiness: deps.readiness,
        metrics: () => deps.registry.metrics(),
        metricsContentType: deps.registry.contentType,
      }),
    },
    ingest: deps.ingest.register,
    ingestDrained: () => deps.ingest.stop(),
    onNodeEngine: (error) => log('http_engine_node', { error: String(error) }),
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

export interface OwnParts {
  readonly live: ReturnType<typeof createLiveUpdates>;
  readonly description: () => ApiDescription;
  readonly onFailure: SessionDeps['onFailure'];
  readonly oidcFailed: () => void;
}

/** Operations of the server itself: sign-in, the own profile, the user directory, the system. */
export function ownOperations(
  deps: HttpDeps,
  { live, description, onFailure, oidcFailed }: OwnParts,
): readonly Operation[] {
  const { access, people, passwords, csrf, clock, random, log } = deps;
  const forProofs = { throttle: access.throttle, passwords, clock, onFailure };
  const { singleSignOn } = deps;
  const forSessions = {
    ...{ store: access, sessions: access.sessions, singleSignOn },
    ...{ passwords, csrf, clock, random, log, onFailure },
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
