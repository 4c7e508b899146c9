/** One Integration with a pretended world around it: seconds pass, signals and feeds come, and it says what it does. */
import { type Turn, WAKE } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { InternalAlertRecorded } from '../internal-alerts/registry.ts';
import { createIntegrationActor } from './actor.ts';
import type { IntegrationPerformed, IntegrationRecord } from './effects.ts';
import type { Configured, IntegrationMessage } from './messages.ts';
import type { FeedsSeen, HeartbeatEvidence, IntegrationWatch, SilenceQuery } from './ports.ts';
import { emptyIntegrationRows } from './rows.ts';
import type { IntegrationState } from './turn.ts';

export const T = 1_790_000_000 * SECOND;
export const LAB = 'NT0000000000A1' as PublicId;
const ROUTE_PATH = '{}/{team="db"}';

interface PretendedFeed {
  readonly routePath: string;
  /** Seconds after T. */
  heardAt: number;
  /** When each of its Alerts was listed last: null with the last Snapshot, otherwise that many seconds after T. */
  alerts: (number | null)[];
  /** Its last Snapshot called so many of them over, with an older start. */
  olderEnds: number;
}

export class IntegrationUnderTest {
  readonly feeds = new Map<string, PretendedFeed>();
  evidence: HeartbeatEvidence = { storedSignalAt: null, markedAt: null, outages: [] };
  leftovers: { isPending: boolean; groups: PublicId[] } = { isPending: false, groups: [] };
  /** Receipt of the oldest Snapshot that waits, seconds after T. */
  waitingSince: number | null = null;
  /** The same once the feeds were read. */
  turningUp: number | null = null;
  /** What was said, with the second after T at which it was. */
  readonly log: string[] = [];
  readonly records: (IntegrationRecord | InternalAlertRecorded)[] = [];
  readonly hints: string[] = [];
  wakes = 0;
  readonly #rows = emptyIntegrationRows();
  readonly #definition = createIntegrationActor({ watch: this.#watch(), clock: { now: () => this.#now } });
  #now = T;
  #state: IntegrationState = this.#definition.start(LAB);
  #wakeAt: Micros | null = null;
  #version = 0;

  get value(): string {
    return this.#state.snapshot.value;
  }

  get rows() {
    return this.#rows;
  }

  /** Seconds after T. */
  get wakeAt(): number | null {
    return this.#wakeAt === null ? null : (this.#wakeAt - T) / SECOND;
  }

  /** Lets time pass to `seconds` after T; wake-ups that are due run on the way, at their times. */
  async at(seconds: number): Promise<void> {
    const until = T + seconds * SECOND;
    while (this.#wakeAt !== null && this.#wakeAt <= until) {
      const due = this.#wakeAt;
      this.#now = Math.max(this.#now, due);
      this.wakes += 1;
      await this.send(WAKE);
      if (this.#wakeAt === due) throw new Error('the wake-up was ignored');
    }
    this.#now = until;
  }

  configure(change: Partial<Configured> & { readonly on?: boolean; readonly timeout?: number } = {}) {
    const { on = true, timeout = 300, ...rest } = change;
    return this.send({
      type: 'configured',
      version: ++this.#version,
      name: 'lab',
      staticLabels: { env: 'prod' },
      heartbeat: { enabled: on, timeoutSeconds: timeout },
      ...rest,
    });
  }

  delete() {
    return this.send({ type: 'deleted', version: ++this.#version, name: 'lab', at: this.#now });
  }

  /** A signal that is stored and arrives at once. */
  async signal(seconds: number): Promise<void> {
    await this.at(seconds);
    this.evidence = { ...this.evidence, storedSignalAt: this.#now };
    await this.send({ type: 'signal', at: this.#now });
  }

  /** A signal every minute, from a second on to another one. */
  async signals(from: number, to: number): Promise<void> {
    for (let at = from; at <= to; at += 60) await this.signal(at);
  }

  /** A feed hears a Snapshot with as many Alerts. */
  hear(feed: string, seconds: number, alerts: number, routePath = ROUTE_PATH): void {
    this.feeds.set(feed, { routePath, heardAt: seconds, alerts: Array(alerts).fill(null), olderEnds: 0 });
  }

  /** A feed hears a final notification that names as many Alerts with an older start. */
  hearOlderEnds(feed: string, seconds: number, alerts: number): void {
    this.hear(feed, seconds, alerts);
    this.feeds.set(feed, { ...(this.feeds.get(feed) as PretendedFeed), olderEnds: alerts });
  }

  /** @param given when the two gaps began; by default they are no older than the Heartbeat's last signal */
  learn(gap: number, routePath = ROUTE_PATH, given: { readonly since?: Micros } = { since: this.#now }) {
    return this.send({ type: 'sample', routePath, gap: gap * SECOND, at: this.#now, ...given });
  }

  truncate(feed: string, truncated = true, routePath = ROUTE_PATH) {
    return this.send({ type: 'truncation', feed, routePath, truncated, at: this.#now });
  }

  async send(message: IntegrationMessage): Promise<void> {
    const self = { kind: this.#definition.kind, key: LAB };
    const actor = { self, state: this.#state, rows: this.#rows };
    const prepared = (await this.#definition.prepare?.(actor, message)) ?? undefined;
    const turn = this.#definition.receive(actor, message, {
      now: this.#now,
      from: null,
      prepared,
      random: (size) => new Uint8Array(size),
    });
    // The way through storage is part of every step.
    this.#state = this.#definition.restore(JSON.parse(JSON.stringify(this.#definition.persist(turn.state))));
    this.#wakeAt = turn.wakeAt;
    this.#note(turn);
  }

  #note({ sends, records, performs }: Turn<IntegrationState>): void {
    const at = (this.#now - T) / SECOND;
    const say = (text: string) => this.log.push(`${Math.floor(at)} ${text}`);
    for (const { to, message } of sends) {
      say(`${message.type} ${to.key}`);
      // The feed takes what it is told at once.
      const feed = this.feeds.get(to.key);
      if (feed && message.type === 'silent' && 'stale' in message && message.stale) {
        feed.alerts = 'onlyOlderEnds' in message ? feed.alerts.slice(feed.olderEnds) : [];
        feed.olderEnds = 0;
      }
    }
    for (const record of records as readonly (IntegrationRecord | InternalAlertRecorded)[]) {
      this.records.push(record);
      if (record.type === 'internal_alert.recorded') say(`${record.change} ${record.name}`);
      if (record.type === 'integration.ended') say('ended');
    }
    for (const effect of performs as readonly (
      | IntegrationPerformed
      | { type: 'hint'; hint: { type: string } }
    )[]) {
      if (effect.type === 'hint') this.hints.push(effect.hint.type);
      else if (effect.type === 'integration.alerts_stale') say(`stale ${effect.groups}/${effect.alerts}`);
      else say(effect.state);
    }
  }

  #hasLooked = false;

  /** What storage would answer, from the pretended feeds. */
  #watch(): IntegrationWatch {
    return {
      heartbeat: async () => this.evidence,
      leftovers: async () => this.leftovers,
      waitingSince: async () => {
        const since = this.#hasLooked ? (this.turningUp ?? this.waitingSince) : this.waitingSince;
        this.#hasLooked = false;
        return since === null ? null : T + since * SECOND;
      },
      silentFeeds: async (_, query) => {
        const seen = this.#look(query);
        this.#hasLooked = seen.silent.length > 0;
        return seen;
      },
    };
  }

  #look({ cutoffs, unlearnedCutoff, among, limit }: SilenceQuery): FeedsSeen {
    const silent: FeedsSeen['silent'][number][] = [];
    const next: FeedsSeen['next'][number][] = [];
    for (const [feed, { routePath, heardAt, alerts, olderEnds }] of this.feeds) {
      const isTruncated = this.#rows.truncated.has(feed);
      const taken = among === 'all' ? alerts : Array<null>(olderEnds).fill(null);
      const isTaken = isTruncated ? among !== 'older_ends' : taken.length > 0;
      if (!isTaken) continue;
      const cutoff = cutoffs.get(routePath) ?? unlearnedCutoff;
      const times = taken.map((listed) => T + (isTruncated ? heardAt : (listed ?? heardAt)) * SECOND);
      const listedAt = Math.min(T + heardAt * SECOND, ...times);
      if (listedAt >= cutoff) next.push({ routePath, listedAt });
      else {
        const presences = times.filter((time) => time < cutoff).length;
        silent.push({ feed, groupKey: 'K', routePath, heardAt: T + heardAt * SECOND, presences });
      }
    }
    return { silent: silent.slice(0, limit), next };
  }
}
