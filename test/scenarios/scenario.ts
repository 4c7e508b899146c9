/**
 * One scenario: an Integration, a Destination that accepts at once, the Route R, people, and a script of what happens
 * when. Everything is done and read through the public API, except what `by-hand.ts` lists.
 */
import { expect } from 'vitest';
import { ROUTE_PROFILES } from '../../actors/route/policy.ts';
import { formatInstant, type Micros, parseInstant, SECOND } from '../../runtime/clock.ts';
import type { Answer, Api, Json } from '../harness/api.ts';
import { auditSince } from './by-hand.ts';
import { type GroupView, viewOf } from './group-view.ts';
import { expectInvariants } from './invariants.ts';
import { LabSender } from './lab-sender.ts';
import { momentOf, momentText } from './notation.ts';
import { type Caller, People } from './people.ts';
import { eventText, type Timed } from './timeline-text.ts';
import type { World } from './world.ts';

export interface ScenarioOptions {
  /** Fields of R that differ from the On-call profile with the key [alertname, cluster]. */
  readonly route?: Json;
  /** Fields of R's policy that differ. */
  readonly policy?: Json;
  /** R has no Destination at first. */
  readonly withoutDestination?: true;
  /** Fields of the Integration I that differ. */
  readonly integration?: Json;
}

const ON_CALL = ROUTE_PROFILES[0]!;
const COMMANDS: Readonly<Record<string, string>> = {
  acknowledges: 'acknowledge',
  unacknowledges: 'unacknowledge',
  unsnoozes: 'unsnooze',
  unresolves: 'unresolve',
};

export class Scenario {
  readonly world: World;
  readonly begin: Micros;
  readonly people: People;
  /** What Commands of the script answered, in order: `done`, `unchanged`, `409 not_resolved`. */
  readonly answers: string[] = [];
  route!: Json;
  destination!: Json;
  readonly #senders = new Map<string, LabSender>();
  readonly #destinations: Json[] = [];
  readonly #routes: Json[] = [];
  readonly #firstNumber: number;
  readonly #firstWebhook: number;

  private constructor(world: World, begin: Micros, firstNumber: number) {
    this.world = world;
    this.begin = begin;
    this.people = new People(world);
    this.#firstNumber = firstNumber;
    this.#firstWebhook = world.receiver.received.length;
  }

  static async open(world: World, options: ScenarioOptions = {}): Promise<Scenario> {
    const begin = await world.freshHour();
    const newest = await world.admin.get(`/alert-groups?from=2000-01-01T00:00:00Z&limit=1${ALL}`);
    const scenario = new Scenario(world, begin, newest.items[0]?.number ?? 0);
    await scenario.integrate('I', options.integration);
    scenario.destination = await scenario.addDestination('healthy');
    scenario.route = await scenario.addRoute('R', {
      destination_ids: options.withoutDestination ? [] : [scenario.destination.id],
      ...options.route,
      policy: { ...ON_CALL.policy, ...options.policy },
    });
    return scenario;
  }

  // Configuration

  get admin(): Api {
    return this.world.admin;
  }

  /** Makes an Integration; its sender is known under the name from then on. */
  async integrate(name: string, fields: Json = {}): Promise<LabSender> {
    const made = await this.admin.post('/integrations', {
      name: this.#unique(name),
      connection_mode: 'webhook_only',
      static_labels: {},
      duplicate_window_seconds: 45,
      heartbeat: { enabled: false },
      ...fields,
    });
    const { value } = await this.admin.post(`/integrations/${made.id}/tokens`, {});
    const sender = new LabSender(made, value, () => this.world.running.ingestUrl);
    this.#senders.set(name, sender);
    return sender;
  }

  sender(name = 'I'): LabSender {
    const found = this.#senders.get(name);
    if (!found) throw new Error(`there is no Integration ${name}`);
    return found;
  }

  async addDestination(name: string): Promise<Json> {
    const path = this.#unique(name).replaceAll(/\W/g, '-');
    const { destination } = await this.admin.post('/destinations', {
      type: 'webhook',
      name: this.#unique(name),
      mode: 'events',
      events: { url: `${this.world.receiver.url}/${path}`, headers: [] },
      limiter: { limit: 1000, per_seconds: 1 },
    });
    this.#destinations.push(destination);
    return destination;
  }

  /** Makes a Route, just before the Default route. Internal alerts are not for it unless it says so. */
  async addRoute(name: string, fields: Json = {}): Promise<Json> {
    const made = await this.admin.post('/routes', {
      name: this.#unique(name),
      matchers: [{ label: 'alertname', op: '!~', value: 'Svc.*' }],
      urgent: false,
      group_key: ['alertname', 'cluster'],
      destination_ids: [],
      policy: ON_CALL.policy,
      ...fields,
    });
    this.#routes.push(made);
    return made;
  }

  /** Saves R with a change, or another Route. */
  async edit(change: (route: Json) => Json, route = this.route): Promise<void> {
    await this.admin.change(`/routes/${route.id}`, change);
    await this.world.settle();
  }

  async editPolicy(policy: Json): Promise<void> {
    await this.edit((route) => ({ ...route, policy: { ...route.policy, ...policy } }));
  }

  /** From now on Alerts that the Matchers take go to the Route before R. */
  async takeFirst(route: Json): Promise<void> {
    const read = await this.admin.call('GET', '/routes');
    const ids: string[] = read.body.items
      .filter(({ is_default }: Json) => !is_default)
      .map(({ id }: Json) => id);
    const order = [route.id, ...ids.filter((id) => id !== route.id)];
    const match = { 'if-match': read.headers.get('etag') ?? '' };
    const saved = await this.admin.call('PUT', '/route-order', { route_ids: order }, match);
    expect(saved.status).toBe(200);
  }

  /** Saves the Organization with a change. */
  async organize(change: Json): Promise<void> {
    await this.admin.change('/organization', (settings) => ({ ...settings, ...change }));
    await this.world.settle();
  }

  async deleteIntegration(name: string): Promise<void> {
    await this.#delete(`/integrations/${this.sender(name).id}`);
  }

  async disable(name: string): Promise<void> {
    await this.#switch(name, 'disable');
  }

  async remove(name: string): Promise<void> {
    await this.#delete(`/users/${(await this.people.named(name)).id}`);
  }

  async enable(name: string): Promise<void> {
    await this.#switch(name, 'enable');
  }

  // Time and what happens in it

  now(): string {
    return momentText(this.world.clock.now() - this.begin);
  }

  instant(moment: string): string {
    return formatInstant(this.begin + momentOf(moment));
  }

  /** Lets time pass to a moment, looking around at least every `step` µs. */
  async at(moment: string, step?: Micros): Promise<void> {
    await this.world.passTo(this.begin + momentOf(moment), step);
  }

  /** The service is down from now until a moment. */
  async downUntil(moment: string): Promise<void> {
    await this.world.downUntil(this.begin + momentOf(moment));
  }

  /** `t0 +X1; t2 +X2 & -X1; t3 Ann acknowledges; t4 J/H: +X1; t9 Bob snoozes #2 until t30; t60`. */
  async play(script: string): Promise<void> {
    for (const statement of script.split(';')) {
      const words = statement.trim().split(/\s+/);
      if (/^t\d/.test(words[0] ?? '')) await this.at(words.shift() ?? '');
      if (words.length === 0) continue;
      if (/^(\w+\/\w+:|[+!^-])/.test(words[0] ?? '')) await this.#tell(words);
      else this.answers.push(await this.#commanded(words));
      await this.world.settle();
    }
  }

  /** One Command; the whole answer. */
  async command(who: string, path: string, number = 1, body?: unknown): Promise<Answer<Json>> {
    const { id } = await this.group(number);
    const caller = await this.people.named(who);
    const answer = await caller.call('POST', `/alert-groups/${id}/${path}`, body);
    await this.world.settle();
    return answer;
  }

  async #tell(words: string[]): Promise<void> {
    const place = /^(\w+)\/(\w+):$/.exec(words[0] ?? '');
    if (place) words.shift();
    const sender = this.sender(place?.[1] ?? 'I');
    const changes = words.filter((word) => word !== '&');
    const body = sender.snapshot(place?.[2] ?? 'G', changes, this.world.clock.now());
    expect(await sender.post(body)).toBe(202);
  }

  async #commanded(words: string[]): Promise<string> {
    const [who = '', verb = '', ...rest] = words;
    const number = rest[0]?.startsWith('#') ? Number(rest.shift()?.slice(1)) : 1;
    const [path, body] = this.#request(verb, rest);
    return answerText(await this.command(who, path, number, body));
  }

  #request(verb: string, rest: readonly string[]): readonly [path: string, body?: unknown] {
    const known = COMMANDS[verb];
    if (known) return [known];
    const text = rest.join(' ');
    if (verb === 'resolves') return text ? ['resolve', { note: text }] : ['resolve'];
    if (verb === 'notes') return ['notes', { body: text }];
    if (verb === 'still') return ['still-on-it'];
    if (verb !== 'snoozes') throw new Error(`nobody ${verb}`);
    if (text === 'no end') return ['snooze', { no_end: true }];
    return ['snooze', { until: this.instant(rest[1] ?? '') }];
  }

  // What came of it

  /** An Alert Group as the API shows it to the Admin, or to whom the call is made as. */
  async group(number: number, as: Pick<Caller, 'call'> = this.admin): Promise<Json> {
    const { body } = await as.call('GET', `/alert-groups?number=${this.#firstNumber + number}`);
    const [found] = body.items;
    if (!found) throw new Error(`there is no #${number}`);
    return found;
  }

  /** What a person sees first, written as the tables write it. */
  async view(number = 1): Promise<GroupView> {
    return viewOf(await this.group(number), {
      moment: (instant) => this.#moment(instant),
      number: (one) => this.numberOf(one),
    });
  }

  /** Expects what a group looks like. */
  async shows(number: number, expected: Partial<GroupView>): Promise<void> {
    expect(await this.view(number)).toMatchObject(expected);
  }

  /** Expects all events of a group, in order; the `created` of t0 left out. */
  async tells(number: number, expected: readonly string[]): Promise<void> {
    expect(await this.events(number)).toEqual(expected);
  }

  /** Alert Groups since the begin, those of Internal alerts included. */
  async groups(): Promise<Json[]> {
    return this.admin.all(`/alert-groups?from=${this.instant('t0')}${ALL}`);
  }

  async count(): Promise<number> {
    return (await this.groups()).length;
  }

  /** #N of the scenario behind an AlertGroupRef or #N of the service. */
  numberOf(number: number): number {
    return number - this.#firstNumber;
  }

  async timeline(number = 1): Promise<Json[]> {
    const { id } = await this.group(number);
    return this.admin.all(`/alert-groups/${id}/timeline?order=asc`);
  }

  /** Lifecycle events of a group with their times, `t2 alerts_added L [new_alerts]`; the `created` of t0 left out. */
  async events(number = 1, from: 'later' | 'all' = 'later'): Promise<string[]> {
    const told = (await this.lifecycle(number)).map((entry) => this.#timed(entry));
    return from === 'later' && told[0]?.startsWith('t0 created ') ? told.slice(1) : told;
  }

  async lifecycle(number = 1): Promise<Json[]> {
    return (await this.timeline(number)).filter(({ event }) => event !== undefined && event !== null);
  }

  /** Alerts of a group by fingerprint. */
  async alerts(number = 1): Promise<Map<string, Json>> {
    const { id } = await this.group(number);
    const items = await this.admin.all(`/alert-groups/${id}/alerts`);
    return new Map(items.map((alert) => [alert.fingerprint, alert]));
  }

  /** Alert Group actions of the Audit log, `acknowledged Ann`. */
  async audit(): Promise<string[]> {
    const all = await auditSince(this.world.sql, this.begin);
    return all.flatMap((line) => (line.startsWith('alert_group.') ? [line.slice(12)] : []));
  }

  async builtin(): Promise<Json> {
    const { items } = await this.admin.get('/integrations');
    return items.find((one: Json) => one.builtin);
  }

  /** Internal alerts that fire, those about an entity when one is named. */
  async internalAlerts(entityId?: string): Promise<Json[]> {
    const { id } = await this.builtin();
    const alerts: Json[] = await this.admin.all(`/integrations/${id}/alerts?state=firing`);
    return alerts.filter(({ labels }) => entityId === undefined || Object.values(labels).includes(entityId));
  }

  /** Webhooks that arrived at a Destination about a group, in order: `t0 created`. */
  webhooks(number = 1, destination = this.destination): string[] {
    return this.received(destination)
      .filter(({ body }) => body.alert_group.number === this.#firstNumber + number)
      .map(({ body }) => `${this.#moment(body.occurred_at)} ${body.event}`);
  }

  received(destination = this.destination) {
    const path = new URL(destination.events.url).pathname;
    return this.world.receiver.received.slice(this.#firstWebhook).filter((webhook) => webhook.path === path);
  }

  logged(event: string): readonly Readonly<Record<string, unknown>>[] {
    return this.world.logged
      .filter((line) => line.at >= this.begin && line.event === event)
      .map(({ fields }) => fields);
  }

  /** Everything of the scenario ends, so that nothing of it happens in the next one; then what it left is judged. */
  async close(): Promise<void> {
    const accepted = this.received().filter(({ answered }) => answered < 300);
    this.world.receiver.answerAll(null);
    for (const sender of this.#senders.values()) {
      await this.admin.call('DELETE', `/integrations/${sender.id}`);
    }
    await this.world.settle();
    for (const destination of this.#destinations) {
      await this.admin.call('DELETE', `/destinations/${destination.id}`);
    }
    await this.world.settle();
    for (const route of this.#routes) await this.admin.call('DELETE', `/routes/${route.id}`);
    expect(this.world.receiver.faults).toEqual([]);
    expectInOrder(accepted.map(({ body }) => [body.alert_group.number, body.sequence]));
    await expectInvariants(this.world.sql);
  }

  #moment(instant: string): string {
    return momentText((parseInstant(instant) ?? 0) - this.begin);
  }

  #timed(entry: Timed): string {
    return `${this.#moment(entry.at)} ${eventText(entry)}`;
  }

  #unique(name: string): string {
    return `${name} ${Math.round(this.begin / SECOND)}`;
  }

  async #delete(path: string): Promise<void> {
    expect((await this.admin.call('DELETE', path)).status).toBe(204);
    await this.world.settle();
  }

  /** An Admin does it; the person's sessions end when they are disabled. */
  async #switch(name: string, verb: 'disable' | 'enable'): Promise<void> {
    const { id } = await this.people.named(name);
    await this.admin.post(`/users/${id}/${verb}`);
    await this.world.settle();
  }
}

const ALL = '&status=firing&status=acknowledged&status=snoozed&status=resolved';

/** A Destination gets every lifecycle event of a group, once and in order, from its first one on. */
function expectInOrder(events: readonly (readonly [number: number, sequence: number])[]): void {
  const next = new Map<number, number>();
  for (const [number, sequence] of events) {
    expect(sequence).toBe(next.get(number) ?? sequence);
    next.set(number, sequence + 1);
  }
}

/** `done`, `unchanged`, `201`, `409 not_resolved`. */
export function answerText({ status, body }: Answer<Json>): string {
  if (status < 300) return body.outcome ?? String(status);
  return `${status} ${body.code ?? body.errors?.map(({ code }: Json) => code).join() ?? ''}`.trim();
}
