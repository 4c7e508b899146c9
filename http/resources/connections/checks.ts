/** Checks of Connections before and after they are saved (outbound-http §5, api §14). */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import type { TokenAccess } from '../../../actors/channels/calls.ts';
import type {
  CheckedConnection,
  ConnectionCheck,
  ConnectionStep,
  SavedAccess,
} from '../../../actors/channels/connection-check.ts';
import { connectionAddress } from '../../../actors/connection/messages.ts';
import type { ConnectionFields } from '../../../actors/connection/ports.ts';
import type { WaitingTokens } from '../../../actors/connection/tokens.ts';
import { changedProxy, NO_PROXY, proxyErrors, proxyRoute } from '../../../actors/proxy-config.ts';
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ProxyRoute } from '../../../runtime/outbound/proxy.ts';
import { newPublicId } from '../../../runtime/public-id.ts';
import { messengerBusy } from '../../errors.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { request_log_run } from '../../schema/shapes.ts';
import { Via } from '../../schema/words.ts';
import { CHECK_STEPS, ConnectionCheckInput, checkErrors, normalisedAddress, typeOf } from './shapes.ts';
import { type ConnectionType, WarningShape, warningsOf } from './type.ts';
import { InfoShape } from './types/bridge.ts';

export interface ConnectionCheckDeps {
  /** By type. */
  readonly checks: Readonly<Record<ConnectionFields['type'], ConnectionCheck>>;
  readonly tokens: WaitingTokens;
  readonly system: Pick<ActorSystem, 'ask'>;
  /** Has actors look for messages that a change left them. */
  readonly poke: () => void;
  readonly client: { release(owner: string): void };
  readonly clock: Pick<Clock, 'now'>;
}

const StepShape = d.named(
  'ConnectionCheckStep',
  v.object({
    name: d.words(
      'ConnectionCheckStepName',
      CHECK_STEPS,
      'A step of a check. Which there are depends on the type.',
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
    info: d.described(v.nullable(InfoShape), 'What a bridge said; null otherwise.'),
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
      summary: 'Check a Connection, saved or not; a stored token goes to its own address only',
      description: '200 once anything was sent, whatever came of it; a step that fails skips those after it.',
      needs: 'connections:write',
      body: ConnectionCheckInput,
      answers: { 200: { description: 'How it went, step by step', schema: CheckShape } },
      refusals: [[503, 'interactive-budget-exhausted', '']],
      handle: (call) => check(deps, call),
    }),
  ];
}

async function check(
  deps: ConnectionCheckDeps,
  { body }: Call<unknown, ConnectionCheckInput>,
): Promise<Answer> {
  const by = deps.checks[body.type];
  const saved = body.connection_id ? await by.saved(body.connection_id) : null;
  const errors = inputErrors(body, saved);
  if (errors.length > 0) return invalid(errors);
  const type = typeOf(body.type);
  const target = targetOf(type, body, saved);
  const run = newPublicId('RN');
  const askedAt = deps.clock.now();
  const checked = await by.run({
    ...target,
    run,
    take: () => (saved ? deps.tokens.take(saved.id) : deps.tokens.takeForHost(new URL(target.address).host)),
  });
  if (!target.isSaved) deps.client.release(target.access.owner);
  if ('retryAfterSeconds' in checked) return refuse(messengerBusy(checked.retryAfterSeconds));
  if (saved && target.isSaved && checked.ok && checked.learned) {
    const read = {
      type: 'info_read',
      access: saved.access,
      read: checked.learned,
      at: askedAt,
    } as const;
    await deps.system.ask(connectionAddress(saved.id), read);
    deps.poke();
  }
  return { status: 200, body: { ...checkBody(type, checked, target, saved), request_log_run: run } };
}

function inputErrors(body: ConnectionCheckInput, saved: SavedAccess | null): readonly FieldError[] {
  return [
    ...checkErrors(body, saved?.address ?? null),
    ...proxyErrors(body.proxy, saved?.proxy ?? NO_PROXY),
    ...(body.connection_id && saved === null ? [UNKNOWN_CONNECTION] : []),
  ];
}

interface Target {
  readonly address: string;
  readonly access: TokenAccess;
  /** Address, token and proxy are the stored ones. */
  readonly isSaved: boolean;
}

/** A typed token goes to the typed address; the stored one only where address and proxy are the saved ones. */
function targetOf(type: ConnectionType, body: ConnectionCheckInput, saved: SavedAccess | null): Target {
  const address = normalisedAddress(type.addressIn(body, saved?.address ?? null)) ?? '';
  const proxy = proxyOf(body, saved);
  const typed = body.bot_token ?? null;
  if (typed === null && saved?.opened && address === saved.address && proxy.isSaved) {
    return { address, access: saved.opened, isSaved: true };
  }
  const owner = `connection-check/${randomBytes(8).toString('hex')}`;
  const connectionId = saved?.id ?? null;
  const access = { connectionId, owner, token: typed, proxy: proxy.route, credentials: owner };
  return { address, access, isSaved: false };
}

function proxyOf(
  { proxy: input }: ConnectionCheckInput,
  saved: SavedAccess | null,
): { readonly route: ProxyRoute | null; readonly isSaved: boolean } {
  const current = saved?.proxy ?? NO_PROXY;
  const { fields, password } = changedProxy(input, current);
  const isSame =
    fields.type === current.type &&
    fields.address === current.address &&
    fields.username === current.username &&
    password.kind === 'keep';
  const stored = isSame && saved ? saved.proxyPassword : null;
  const known = password.kind === 'set' ? password.password : stored;
  const isOff = !fields.enabled && !current.enabled;
  return {
    route: proxyRoute(fields, known),
    isSaved: saved !== null && (isOff || (isSame && fields.enabled === current.enabled)),
  };
}

function checkBody(
  type: ConnectionType,
  { ok, steps, info, wrong, tokenless, updates }: CheckedConnection,
  { address, access }: Target,
  saved: SavedAccess | null,
) {
  const mode = address === saved?.address ? saved.mode : null;
  return {
    ok,
    steps: steps.map((step) => stepBody(step, access.proxy ? 'proxy' : 'direct')),
    warnings: warningsOf(type, { address, mode, info, wrong, tokenless }),
    bot_name: type.botName(info),
    webhook_set: updates?.webhookSet ?? null,
    pending_updates: updates?.pending ?? null,
    info: type.infoBody?.(info) ?? null,
  };
}

function stepBody({ name, ok, skipped, latencyMs, message }: ConnectionStep, via: 'direct' | 'proxy') {
  return { name, ok, skipped, latency_ms: latencyMs, via, message };
}

const UNKNOWN_CONNECTION: FieldError = {
  pointer: '/connection_id',
  code: 'unknown_id',
  detail: 'There is no such Connection of this type.',
};
