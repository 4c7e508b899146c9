/** Who acts in a scenario: Ann and Bob (responders), Vic (viewer), and Rob, a Service account with the responder Role. */
import type { PublicId } from '../../runtime/public-id.ts';
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

  /** There is one Rob in a world; each scenario has a token of its own. */
  async #serviceAccount(): Promise<Caller> {
    const { admin } = this.#world;
    const { items } = await admin.get('/service-accounts');
    const rob =
      items.find(({ name }: Json) => name === 'Rob') ??
      (await admin.post('/service-accounts', { name: 'Rob', role: 'responder' }));
    const { value } = await admin.post(`/service-accounts/${rob.id}/tokens`, { name: 'ci' });
    const headers = { authorization: `Bearer ${value}` };
    return {
      id: rob.id,
      call: (method, path, body) => new Api(this.#world.running.appUrl).call(method, path, body, headers),
    };
  }
}
