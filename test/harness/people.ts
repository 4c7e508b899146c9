/** People who write Notes and acknowledge, each request at another replica, and who look at what came of it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Json } from './api.ts';
import { type Refusal, refusalOf } from './balancer.ts';
import type { Cluster } from './cluster.ts';
import type { Replica } from './replica.ts';

/** The service answers a Command within 5 s, or 503. */
const PATIENCE_MS = 6_000;
const BETWEEN_TRIES_MS = 50;

export interface PeopleOptions {
  readonly people: number;
  readonly commandsPerSecond: number;
  readonly random: () => number;
}

export interface NoteWritten {
  readonly group: string;
  readonly text: string;
}

export class People {
  /** Notes that were answered 201. */
  readonly notes: NoteWritten[] = [];
  /** Commands that were answered as done. */
  readonly done = { acknowledge: 0, unacknowledge: 0 };
  /** Every text that was sent, answered or not. */
  readonly tried = new Set<string>();
  readonly refusals: Record<Refusal, number> = { refused: 0, reset: 0, unavailable: 0, timeout: 0 };
  /** What contradicts the API's promises. */
  readonly faults: string[] = [];
  /** From the first try to the answer, ms. */
  readonly latencies: number[] = [];
  /** The Command that took longest, try by try. */
  slowest: { readonly tookMs: number; readonly tries: readonly string[] } = { tookMs: 0, tries: [] };
  /** The same, of the Commands that the first replica answered. */
  readonly promptly: number[] = [];
  readonly #cluster: Cluster;
  readonly #options: PeopleOptions;
  readonly #working: Promise<void>[];
  readonly #left = new AbortController();
  #groups: string[] = [];

  constructor(cluster: Cluster, options: PeopleOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.#working = Array.from({ length: options.people }, (_, n) => this.#work(n));
  }

  async stop(): Promise<void> {
    this.#left.abort();
    await Promise.all(this.#working);
  }

  async #work(person: number): Promise<void> {
    const { random, people, commandsPerSecond } = this.#options;
    const everyMs = (1000 * people) / commandsPerSecond;
    const { signal } = this.#left;
    for (let turn = 0; !signal.aborted; turn++) {
      await pause(everyMs * (0.5 + random()), undefined, { signal }).catch(() => undefined);
      const group = await this.#someGroup();
      if (group === null || signal.aborted) continue;
      if (random() < 0.5) await this.#write(group, `note ${person}.${turn}`);
      else await this.#acknowledge(group, random() < 0.5 ? 'acknowledge' : 'unacknowledge');
    }
  }

  /** Any Alert Group there is; null before the first. */
  async #someGroup(): Promise<string | null> {
    const { random } = this.#options;
    if (this.#groups.length === 0 || random() < 0.05) {
      const answer = await this.#persist(() => ['GET', '/alert-groups?limit=100&status=firing']);
      this.#groups = answer?.body.items?.map(({ id }: Json) => id) ?? this.#groups;
    }
    return this.#groups[Math.floor(random() * this.#groups.length)] ?? null;
  }

  /** Each try has a text of its own: one that got no answer may have been carried out. */
  async #write(group: string, name: string): Promise<void> {
    let text = '';
    const answer = await this.#timed((attempt) => {
      text = `${name}, try ${attempt}`;
      this.tried.add(text);
      return ['POST', `/alert-groups/${group}/notes`, { body: text }];
    });
    if (answer === null) return;
    if (answer.status !== 201) return void this.#fault('a Note', answer);
    this.notes.push({ group, text });
    // Whoever got an answer finds what it did, wherever it looks.
    const read = await this.#persist(() => ['GET', `/alert-groups/${group}/notes?limit=500`]);
    const found = read?.body.items?.some(({ body }: Json) => body === text);
    if (read && !found) this.faults.push(`${text} was answered and is not in the list of Notes`);
  }

  async #acknowledge(group: string, command: 'acknowledge' | 'unacknowledge'): Promise<void> {
    const answer = await this.#timed(() => ['POST', `/alert-groups/${group}/${command}`]);
    if (answer === null) return;
    const { status, body } = answer;
    if (status === 200) {
      if (body.outcome === 'done') this.done[command]++;
      return;
    }
    const known = ['already_resolved', 'not_acknowledged'];
    if (status !== 409 || !known.includes(body.code)) this.#fault(command, answer);
  }

  async #timed(make: (attempt: number) => Request): Promise<Answer<Json> | null> {
    const began = performance.now();
    const tries: string[] = [];
    const answer = await this.#persist(() => make(tries.length + 1), tries);
    const tookMs = performance.now() - began;
    if (answer === null) return null;
    this.latencies.push(tookMs);
    if (tries.length === 1) this.promptly.push(tookMs);
    if (tookMs > this.slowest.tookMs) this.slowest = { tookMs, tries };
    return answer;
  }

  /** Tries one replica after the other until there is an answer; null when the people leave first. */
  async #persist(make: () => Request, tries: string[] = []): Promise<Answer<Json> | null> {
    const replicas = this.#cluster.replicas;
    let place = Math.floor(this.#options.random() * replicas.length);
    while (!this.#left.signal.aborted) {
      const replica = replicas[place++ % replicas.length]!;
      const request = make();
      const began = performance.now();
      const answer = await this.#ask(replica, request);
      const at = new Date().toISOString().slice(11, 23);
      const tookMs = Math.round(performance.now() - began);
      tries.push(`${at} ${replica.id} ${request[1]}: ${answer?.status ?? 'refused'} after ${tookMs} ms`);
      if (answer !== null) return answer;
      await pause(BETWEEN_TRIES_MS);
    }
    return null;
  }

  /** Null when this replica cannot serve now. */
  async #ask(replica: Replica, [method, path, body]: Request): Promise<Answer<Json> | null> {
    try {
      const answer = await this.#cluster.api(replica).call(method, path, body, {}, PATIENCE_MS);
      if (answer.status !== 503) return answer;
      this.refusals.unavailable++;
      const isWhole =
        answer.headers.has('retry-after') && String(answer.body.type).endsWith('/coordination-unavailable');
      if (!isWhole) this.#fault(`${replica.id}, ${method} ${path}`, answer);
      return null;
    } catch (error) {
      this.refusals[refusalOf(error)]++;
      return null;
    }
  }

  #fault(what: string, { status, body }: Answer<Json>): void {
    this.faults.push(`${what} was answered ${status}: ${JSON.stringify(body)}`);
  }
}

type Request = readonly [method: string, path: string, body?: unknown];
