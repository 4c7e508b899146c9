/** Toy actors that do everything the engine offers, and record what they did. */
import {
  type Actor,
  type ActorDefinition,
  type ActorMessage,
  type Address,
  addressText,
  type PerformedEffect,
  type RecordedEffect,
  type Send,
  StoreUnavailableError,
  type Turn,
  type TurnEnv,
} from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { World } from './world.ts';

export const TOY_KINDS = ['relay', 'counter', 'ledger'] as const;

/** What a message asks its receiver to do. */
export interface Work extends ActorMessage {
  readonly type: 'work';
  readonly id: string;
  /** Counts the messages from this sender to this receiver, from 1; 0 from outside. */
  readonly n: number;
  readonly sends: readonly { readonly to: Address; readonly work: Omit<Work, 'n'> }[];
  /** Wants to be woken after so long, µs, and after each wake as often again. */
  readonly arm: { readonly delay: Micros; readonly times: number } | null;
  readonly claims: boolean;
  readonly performs: boolean;
  /** `throws`: breaks the actor. `refused`: its commit conflicts, always. */
  readonly flaw: 'throws' | 'refused' | null;
  /** Needs outside knowledge. */
  readonly asksOutside: boolean;
  /** Changes nothing: only answers. */
  readonly reads: boolean;
  /** Leaves a record and changes no state. */
  readonly isSilent: boolean;
  /** Is committed apart from others. */
  readonly isLarge: boolean;
}

export type ToyMessage = Work | { readonly type: 'wake' };

interface Armed {
  readonly generation: number;
  readonly at: Micros;
  readonly delay: Micros;
  readonly times: number;
}

export interface ToyState {
  /** Ids of the messages applied, in order. */
  readonly applied: readonly string[];
  readonly sentTo: Readonly<Record<string, number>>;
  readonly armed: Armed | null;
  readonly generations: number;
  readonly hasClaimed: boolean;
  readonly number: number | null;
}

/** The rows a toy owns: the ids again, kept in step with the state. */
export type ToyRows = string[];

export type ToyRecord = RecordedEffect &
  (
    | {
        readonly type: 'applied';
        readonly actor: string;
        readonly id: string;
        readonly from: string | null;
        readonly n: number;
        readonly sent: readonly { readonly to: string; readonly n: number; readonly id: string }[];
      }
    | {
        readonly type: 'armed';
        readonly actor: string;
        readonly generation: number;
        readonly at: Micros;
        readonly replaces: number | null;
      }
    | { readonly type: 'woke'; readonly actor: string; readonly generation: number; readonly now: Micros }
    | {
        readonly type: 'noted';
        readonly actor: string;
        readonly id: string;
        readonly from: string | null;
        readonly n: number;
      }
    | { readonly type: 'refused' }
  );

export interface Call extends PerformedEffect {
  readonly type: 'call';
  readonly id: string;
}

const EMPTY: ToyState = {
  applied: [],
  sentTo: {},
  armed: null,
  generations: 0,
  hasClaimed: false,
  number: null,
};

export function toyDefinitions(
  world: World,
  isCalm: () => boolean,
): ActorDefinition<ToyState, ToyRows, ToyMessage>[] {
  return TOY_KINDS.map((kind) => ({
    kind,
    schema: 1,
    migrate: (persisted) => persisted,
    start: () => EMPTY,
    restore: (persisted) => persisted as ToyState,
    persist: (state) => state,
    emptyRows: () => [],
    weight: (_state, rows) => 1 + rows.length,
    isLarge: (message) => message.type === 'work' && message.isLarge,
    prepare: (_actor, message) => outsideKnowledge(world, message, isCalm),
    receive: applyToy,
    numbered: (state, number) => ({ ...state, number }),
  }));
}

function outsideKnowledge(world: World, message: ToyMessage, isCalm: () => boolean): Promise<unknown> | null {
  if (message.type !== 'work' || !message.asksOutside) return null;
  return world.pause(100, 5000).then(() => {
    if (!isCalm() && world.random.chance(0.1)) throw new StoreUnavailableError('no answer to the look-up');
    return `outside ${message.id}`;
  });
}

export function applyToy(actor: Actor<ToyState, ToyRows>, message: ToyMessage, env: TurnEnv): Turn<ToyState> {
  const { state, rows } = actor;
  if (rows.length !== state.applied.length) throw new Error('rows and state of a toy differ');
  if (message.type === 'wake') return wake(actor, env.now);
  if (message.reads) return { ...turn(state), reply: { id: message.id, applied: state.applied.length } };
  if (message.isSilent) return silent(actor, message, env);
  if (message.asksOutside && env.prepared !== `outside ${message.id}`)
    throw new Error('turn without its look-up');
  rows.push(message.id);
  if (message.flaw === 'throws') throw new Error(`flaw of ${message.id}`);
  return work(actor, message, env);
}

function turn(state: ToyState): Turn<ToyState> {
  return { state, wakeAt: state.armed?.at ?? null, sends: [], records: [], performs: [] };
}

function silent(actor: Actor<ToyState, ToyRows>, { id, n }: Work, env: TurnEnv): Turn<ToyState> {
  const from = env.from === null ? null : addressText(env.from);
  const record: ToyRecord = { type: 'noted', actor: addressText(actor.self), id, from, n };
  return { ...turn(actor.state), records: [record], reply: { id } };
}

function work(actor: Actor<ToyState, ToyRows>, message: Work, env: TurnEnv): Turn<ToyState> {
  const { state } = actor;
  const self = addressText(actor.self);
  const sentTo = { ...state.sentTo };
  const sends: Send[] = [];
  const sent: { to: string; n: number; id: string }[] = [];
  for (const { to, work } of message.sends) {
    const receiver = addressText(to);
    const n = (sentTo[receiver] ?? 0) + 1;
    sentTo[receiver] = n;
    sends.push({ to, message: { ...work, n } as Work });
    sent.push({ to: receiver, n, id: work.id });
  }
  const from = env.from === null ? null : addressText(env.from);
  const records: ToyRecord[] = [{ type: 'applied', actor: self, id: message.id, from, n: message.n, sent }];
  if (message.flaw === 'refused') records.push({ type: 'refused' });
  const claims = message.claims && !state.hasClaimed;
  let next: ToyState = {
    ...state,
    applied: [...state.applied, message.id],
    sentTo,
    hasClaimed: state.hasClaimed || claims,
  };
  if (message.arm !== null) {
    next = arm(next, env.now, message.arm);
    records.push(armedRecord(self, next, state.armed?.generation ?? null));
  }
  return {
    ...turn(next),
    sends,
    records,
    performs: message.performs ? [{ type: 'call', id: message.id } as Call] : [],
    reply: { id: message.id, applied: next.applied.length },
    ...(claims ? { claim: true as const } : {}),
  };
}

function wake(actor: Actor<ToyState, ToyRows>, now: Micros): Turn<ToyState> {
  const { state } = actor;
  const self = addressText(actor.self);
  const { armed } = state;
  if (armed === null || armed.at > now) throw new Error('woken without a due wake-up');
  const records: ToyRecord[] = [{ type: 'woke', actor: self, generation: armed.generation, now }];
  let next: ToyState = { ...state, armed: null };
  if (armed.times > 1) {
    next = arm(next, now, { delay: armed.delay, times: armed.times - 1 });
    records.push(armedRecord(self, next, null));
  }
  return { ...turn(next), records };
}

function arm(state: ToyState, now: Micros, { delay, times }: { delay: Micros; times: number }): ToyState {
  const generation = state.generations + 1;
  return { ...state, generations: generation, armed: { generation, at: now + delay, delay, times } };
}

function armedRecord(actor: string, state: ToyState, replaces: number | null): ToyRecord {
  const { generation, at } = state.armed!;
  return { type: 'armed', actor, generation, at, replaces };
}
