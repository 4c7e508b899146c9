/** Checks of Connections before and after they are saved (outbound-http §5, api §14). */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type BridgeCheck, type CheckStep, checkBridge } from '../../actors/connection/bridge/check.ts';
import type { BridgeAccess, BridgeClient } from '../../actors/connection/bridge/client.ts';
import { botName } from '../../actors/connection/bridge/info.ts';
import { infoRead } from '../../actors/connection/bridge/info-reader.ts';
import { type Opener, openBridge, openProxyPassword } from '../../actors/connection/bridge/open.ts';
import { connectionAddress } from '../../actors/connection/messages.ts';
import type { BridgeSettings, ConnectionStore } from '../../actors/connection/ports.ts';
import type { WaitingTokens } from '../../actors/connection/waiting-token.ts';
import { changedProxy, NO_PROXY, proxyErrors, proxyRoute } from '../../actors/proxy/proxy-config.ts';
import type { ActorSystem } from '../../runtime/actor/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ProxyRoute } from '../../runtime/outbound/proxy.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { messengerBusy, NOT_IMPLEMENTED } from '../errors.ts';
import { publicId } from '../fields.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { type FieldError, invalid, refuse } from '../problem.ts';
import { ProxyConfigInput } from '../proxy-shapes.ts';
import {
  addressErrors,
  CONNECTION_TYPES,
  InfoShape,
  infoBody,
  normalisedAddress,
  tokenFormErrors,
  WarningShape,
  warningsOf,
} from './connections-shapes.ts';

export interface ConnectionCheckDeps {
  readonly store: Pick<ConnectionStore, 'settings'>;
  readonly bridge: BridgeClient;
  readonly tokens: WaitingTokens;
  readonly opener: Opener;
  readonly system: Pick<ActorSystem, 'ask'>;
  /** Has actors look for messages that a change left them. */
  readonly poke: () => void;
  readonly client: { release(owner: string): void };
  readonly clock: Clock;
}

const CheckInput = v.pipe(
  v.object({
    type: v.picklist(CONNECTION_TYPES),
    base_url: v.optional(v.string()),
    bot_token: v.optional(v.nullable(v.string())),
    proxy: ProxyConfigInput,
    connection_id: v.optional(v.nullable(publicId)),
  }),
  v.forward(
    v.check((body) => body.type !== 'bridge' || body.base_url !== undefined, 'required'),
    ['base_url'],
  ),
);
type CheckInput = v.InferOutput<typeof CheckInput>;

const StepShape = v.object({
  name: v.picklist(['dry_probe', 'get_info']),
  ok: v.boolean(),
  skipped: v.boolean(),
  latency_ms: v.nullable(v.number()),
  via: v.picklist(['direct', 'proxy']),
  message: v.nullable(v.string()),
});

const CheckShape = v.object({
  ok: v.boolean(),
  steps: v.array(StepShape),
  warnings: v.array(WarningShape),
  bot_name: v.nullable(v.string()),
  webhook_set: v.nullable(v.boolean()),
  pending_updates: v.nullable(v.number()),
  info: v.nullable(InfoShape),
  request_log_run: v.nullable(v.string()),
});

export function connectionCheckOperations(deps: ConnectionCheckDeps): readonly Operation[] {
  return [
    operation({
      id: 'checkConnection',
      method: 'POST',
      path: '/connections/checks',
      tag: 'Connections',
      summary: 'Check a Connection, saved or not; a stored token goes to the address it was entered for only',
      needs: 'connections:write',
      body: CheckInput,
      answers: { 200: { description: 'How it went, step by step', schema: CheckShape } },
      refusals: [
        [501, 'not-implemented', ''],
        [503, 'interactive-budget-exhausted', ''],
      ],
      handle: (call) => check(deps, call),
    }),
  ];
}

async function check(deps: ConnectionCheckDeps, { body }: Call<unknown, CheckInput>): Promise<Answer> {
  const saved = body.connection_id ? await deps.store.settings(body.connection_id) : null;
  if (body.connection_id && (saved === null || body.type !== 'bridge')) return invalid([UNKNOWN_CONNECTION]);
  if (body.type !== 'bridge') return refuse(NOT_IMPLEMENTED);
  const errors = inputErrors(body, saved);
  if (errors.length > 0) return invalid(errors);
  const target = targetOf(deps.opener, body, saved);
  const run = newPublicId('RN');
  const outcome = await checkBridge(
    {
      ...{ bridge: deps.bridge, clock: deps.clock, run },
      take: () =>
        saved ? deps.tokens.take(saved.id) : deps.tokens.takeForHost(new URL(target.access.baseUrl).host),
    },
    target.access,
  );
  if (!target.isSaved) deps.client.release(target.access.owner);
  if ('retryAfterSeconds' in outcome) return refuse(messengerBusy(outcome.retryAfterSeconds));
  if (saved && target.isSaved && outcome.ok && outcome.info) {
    const message = infoRead(saved.access, outcome.info, outcome.tokenless, deps.clock.now());
    await deps.system.ask(connectionAddress(saved.id), message);
    deps.poke();
  }
  return { status: 200, body: checkBody(outcome, target, saved, run) };
}

function inputErrors(body: CheckInput, saved: BridgeSettings | null): readonly FieldError[] {
  return [
    ...addressErrors(body.base_url),
    ...(typeof body.bot_token === 'string' ? tokenFormErrors(body.bot_token) : []),
    ...proxyErrors(body.proxy, saved?.proxy ?? NO_PROXY),
  ];
}

interface Target {
  readonly access: BridgeAccess;
  /** Address, token and proxy are the stored ones. */
  readonly isSaved: boolean;
}

/** A typed token goes to the typed address; the stored one only where address and proxy are the saved ones. */
function targetOf(opener: Opener, body: CheckInput, saved: BridgeSettings | null): Target {
  const baseUrl = normalisedAddress(body.base_url ?? '') ?? '';
  const proxy = proxyOf(opener, body, saved);
  const typed = body.bot_token ?? null;
  if (typed === null && saved && baseUrl === saved.baseUrl && proxy.isSaved) {
    const access = openBridge(opener, saved);
    if (access) return { access, isSaved: true };
  }
  const owner = `connection-check/${randomBytes(8).toString('hex')}`;
  const connectionId = saved?.id ?? null;
  const access = { connectionId, owner, baseUrl, token: typed, proxy: proxy.route, credentials: owner };
  return { access, isSaved: false };
}

function proxyOf(
  opener: Opener,
  { proxy: input }: CheckInput,
  saved: BridgeSettings | null,
): { readonly route: ProxyRoute | null; readonly isSaved: boolean } {
  const current = saved?.proxy ?? NO_PROXY;
  const { fields, password } = changedProxy(input, current);
  const isSame =
    fields.type === current.type &&
    fields.address === current.address &&
    fields.username === current.username &&
    password.kind === 'keep';
  const stored = isSame && saved ? openProxyPassword(opener, saved) : null;
  const known = password.kind === 'set' ? password.password : stored === 'unreadable' ? null : stored;
  const isOff = !fields.enabled && !current.enabled;
  return {
    route: proxyRoute(fields, known),
    isSaved: saved !== null && (isOff || (isSame && fields.enabled === current.enabled)),
  };
}

function checkBody(check: BridgeCheck, { access }: Target, saved: BridgeSettings | null, run: string) {
  const answer = check.info?.class === 'ok' ? check.info.value : null;
  const isSameBridge = saved !== null && access.baseUrl === saved.baseUrl;
  return {
    ok: check.ok,
    steps: check.steps.map((step) => stepBody(step, access.proxy ? 'proxy' : 'direct')),
    warnings: [
      ...warningsOf({
        address: access.baseUrl,
        mode: isSameBridge ? saved.eventMode : null,
        info: answer?.info ?? null,
        wrong: answer?.wrong ?? null,
        tokenless: check.tokenless,
      }),
    ],
    bot_name: botName(answer?.info ?? null),
    webhook_set: null,
    pending_updates: null,
    info: answer && infoBody(answer.info),
    request_log_run: run,
  };
}

function stepBody({ name, ok, skipped, latencyMs, message }: CheckStep, via: 'direct' | 'proxy') {
  return { name, ok, skipped, latency_ms: latencyMs, via, message };
}

const UNKNOWN_CONNECTION: FieldError = {
  pointer: '/connection_id',
  code: 'unknown_id',
  detail: 'There is no such Connection of this type.',
};
