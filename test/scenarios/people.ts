/** Who acts in a scenario: Ann and Bob (responders), Vic (viewer), and Rob, a Service account with the responder Role. */

import {
  alertGroupAddress,
  type Command,
  type CommandOutcome,
  type GroupCommand,
} from '../../actors/alert-group/messages.ts';
import type { ServiceAccountActor } from '../../actors/model.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { type Answer, Api, type Json } from '../harness/api.ts';
import { insertPerson, type Role } from './by-hand.ts';
import type { World } from './world.ts';

export interface Caller {
  readonly id: PublicId;
  call(method: string, path: string, body?: unknown): Promise<Answer<Json>>;
}

const ROLES: Readonly<Record<string, Role>> = {
  Ann: 'responder',
  Bob: 'responder',
  Vic: 'viewer',
  Zoe: 'admin',
};

/** Everybody is made when first named, anew for each scenario. */
export class People {
  readonly #world: World;
  readonly #known = new Map<string, Promise<Caller>>();

  constructor(world: World) {
    this.#world = world;
  }

  named(name: string): Promise<Caller> {
    const known = this.#known.get(name);
    if (known) return known;
    const made = name === 'Rob' ? this.#serviceAccount() : this.#person(name);
    this.#known.set(name, made);
    return made;
  }

  async #person(name: string): Promise<Caller> {
    const role = ROLES[name];
    if (!role) throw new Error(`nobody is called ${name}`);
    const { sql, clock } = this.#world;
    const { id, cookie } = await insertPerson(sql, name, role, clock.now());
    await this.#world.ring();
    const api = await Api.resume(this.#world.running.appUrl, cookie);
    return {
      id,
      call: (method, path, body) => api.at(this.#world.running.appUrl).call(method, path, body),
    };
  }

  /** No token of a Service account is issued yet, so Rob asks the running engine what his calls would ask it. */
  async #serviceAccount(): Promise<Caller> {
    const id = newPublicId('SA');
    const by: ServiceAccountActor = {
      kind: 'service_account',
      id,
      name: 'Rob',
      tokenName: 'ci',
      transport: 'api',
    };
    const call = async (_: string, path: string, body: Json = {}): Promise<Answer<Json>> => {
      const [, , group = '', command = ''] = path.split('/');
      const { system } = this.#world.running.service;
      const message: GroupCommand = { type: 'command', by, command: commandOf(command, body) };
      const outcome = (await system.ask(alertGroupAddress(group as PublicId), message)) as CommandOutcome;
      const status = outcome.outcome === 'refused' ? 409 : 200;
      return { status, headers: new Headers(), body: outcome };
    };
    return { id, call };
  }
}

function commandOf(path: string, body: Json): Command {
  if (path === 'acknowledge') return { name: path };
  if (path === 'resolve') return { name: path, note: body.note ?? null };
  if (path === 'snooze' && body.no_end) return { name: path, until: null };
  throw new Error(`Rob never calls ${path}`);
}
