/** Checks of Connections before and after they are saved (outbound-http §5, api §14). */

import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type BridgeCheck, type CheckStep, checkBridge } from '../../../actors/channels/bridge/check.ts';
import {
  type BridgeAccess,
  type BridgeClient,
  openBridge,
  openProxyPassword,
} from '../../../actors/channels/bridge/client.ts';
import { botName } from '../../../actors/channels/bridge/info.ts';
import { infoRead } from '../../../actors/channels/bridge/info-reader.ts';
import { connectionAddress } from '../../../actors/connection/messages.ts';
import type { BridgeSettings, ConnectionStore } from '../../../actors/connection/ports.ts';
import type { WaitingTokens } from '../../../actors/connection/tokens.ts';
import { changedProxy, NO_PROXY, proxyErrors, proxyRoute } from '../../../actors/proxy-config.ts';
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ProxyRoute } from '../../../runtime/outbound/proxy.ts';
import { newPublicId } from '../../../runtime/public-id.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import { messengerBusy } from '../../errors.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { publicId } from '../../schema/fields.ts';
import { ProxyConfigInput, request_log_run } from '../../schema/shapes.ts';
import { ConnectionType, Via } from '../../schema/words.ts';
import {
  addressErrors,
  InfoShape,
  infoBody,
  isLater,
  normalisedAddress,
  tokenFormErrors,
  typeErrors,
  WarningShape,
  warningsOf,
} from './shapes.ts';

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

const CheckInput = d.named(
  'ConnectionCheckInput',
  v.pipe(
    v.object({
      type: d.described(ConnectionType, 'Its type.'),
      base_url: v.optional(d.url('Address of the bridge. Needed for a bridge.')),
      bot_token: d.optionalTextOrNull(
        'The token to check with. Null or left out: the stored one of `connection_id`, for its stored address only.',
      ),
      proxy: d.described(
        ProxyConfigInput,
        'The proxy to it. Its stored password is used with `connection_id` where it is left out.',
      ),
      connection_id: d.described(
        v.optional(v.nullable(publicId)),
        'Id of the saved Connection that the check is about; null or left out for a new one.',
      ),
    }),
    v.forward(
      v.check((body) => isLater(body.type) || body.base_url !== undefined, 'required'),
      ['base_url'],
    ),
  ),
  'A Connection to check, saved or not.',
);
type CheckInput = v.InferOutput<typeof CheckInput>;

const StepShape = d.named(
  'ConnectionCheckStep',
  v.object({
    name: d.described(
      v.picklist(['dry_probe', 'get_info']),
      '`dry_probe`: the address can be reached; `get_info`: the bridge takes the token and says what it is.',
    ),
    ok: d.flag('Whether it passed.'),
    skipped: d.flag('Whether it was not run, because one before it failed.'),
    latency_ms: d.described(v.nullable(v.number()), 'Milliseconds it took; null when skipped.'),
    via: Via,
    message: d.textOrNull('What went wrong, masked; null when it passed.'),
  }),
  'One step of a check.',
);

const CheckShape = d.named(
  'ConnectionCheck',
  v.object({
    ok: d.flag('Whether every step passed.'),
    steps: d.described(v.array(StepShape), 'The steps in order.'),
    warnings: d.described(v.array(WarningShape), 'What is not as it should be.'),
    bot_name: d.textOrNull('Name of the bot; null when it was not learned.'),
    webhook_set: d.described(
      v.nullable(v.boolean()),
      'Whether a channel bot has a webhook; null for others.',
    ),
    pending_updates: d.described(
      v.nullable(v.number()),
      'Updates that wait at a channel bot; null for others.',
    ),
    info: d.described(v.nullable(InfoShape), 'What the bridge said; null when it did not.'),
    request_log_run,
  }),
  'The outcome of a check.',
);

export function connectionCheckOperations(deps: ConnectionCheckDeps): readonly Operation[] {
  return [
    operation({
      id: 'checkConnection',
      method: 'POST',
      path: '/connections/checks',
      tag: 'Connections',
      summary: 'Check a Connection, saved or not; a stored token goes to the address it was entered for only',
      description: '200 once anything was sent, whatever came of it; a step that fails skips those after it.',
      needs: 'connections:write',
      body: CheckInput,
      answers: { 200: { description: 'How it went, step by step', schema: CheckShape } },
      refusals: [[503, 'interactive-budget-exhausted', '']],
      handle: (call) => check(deps, call),
    }),
  ];
}

async function check(deps: ConnectionCheckDeps, { body }: Call<unknown, CheckInput>): Promise<Answer> {
  const saved = body.connection_id ? await deps.store.settings(body.connection_id) : null;
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
  const isKnown = !body.connection_id || (saved !== null && body.type === 'bridge');
  return [
    ...typeErrors(body.type, null),
    ...(isLater(body.type) ? [] : bridgeErrors(body)),
    ...proxyErrors(body.proxy, saved?.proxy ?? NO_PROXY),
    ...(isKnown ? [] : [UNKNOWN_CONNECTION]),
  ];
}

function bridgeErrors({ base_url: address, bot_token: token }: CheckInput): readonly FieldError[] {
  return [...addressErrors(address), ...(typeof token === 'string' ? tokenFormErrors(token) : [])];
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
