/** Load on a cluster: senders that never give up, and people who act on what they see, at whatever replica. */
import { setTimeout as pause } from 'node:timers/promises';
import { Balancer, type Posted } from './balancer.ts';
import type { Cluster } from './cluster.ts';
import { People } from './people.ts';
import { snapshotBody } from './sender.ts';
import { SendingGroup } from './sending-group.ts';

/** A group's events tell all of its Alerts: groups that live on and on would make a load of its own. */
const SNAPSHOTS_A_GROUP = 21;

export interface TrafficOptions {
  /** Senders at the same time; 12 unless said. */
  readonly lanes?: number;
  /** Groups they post about, each sender its own; 24 unless said. */
  readonly groups?: number;
  /** Posts a second of all of them together; 40 unless said. */
  readonly postsPerSecond?: number;
  /** People at the same time; 4 unless said. */
  readonly people?: number;
  /** Commands a second of all of them together; 6 unless said. */
  readonly commandsPerSecond?: number;
  readonly random: () => number;
}

export class Traffic {
  readonly balancer: Balancer;
  readonly people: People;
  readonly groups: SendingGroup[] = [];
  /** Posts that were answered 202. */
  accepted = 0;
  /** From the first try to the 202, ms. */
  readonly latencies: number[] = [];
  readonly #lanes: Promise<void>[] = [];
  readonly #prefix: string;
  #isOver = false;

  /** Begins at once. `prefix` tells the groups of one load from those of another. */
  constructor(cluster: Cluster, prefix: string, options: TrafficOptions) {
    const { lanes = 12, groups = 24, postsPerSecond = 40, people = 4, commandsPerSecond = 6 } = options;
    this.#prefix = prefix;
    this.balancer = new Balancer({ replicas: cluster.replicas, token: cluster.rows.token });
    this.people = new People(cluster, { people, commandsPerSecond, random: options.random });
    const everyMs = (1000 * lanes) / postsPerSecond;
    for (let lane = 0; lane < lanes; lane++) {
      const count = Math.floor(groups / lanes) + (lane < groups % lanes ? 1 : 0);
      const mine = Array.from({ length: count }, () => this.#newGroup());
      this.#lanes.push(this.#send(mine, everyMs, (lane / lanes) * everyMs));
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the load; what was begun is brought to its end. */
  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await Promise.all(this.#lanes);
    await this.people.stop();
    await this.balancer.close();
  }

  /** A sender: one post after the other, at a steady pace while it is not refused. */
  async #send(mine: SendingGroup[], everyMs: number, firstInMs: number): Promise<void> {
    let due = performance.now() + firstInMs;
    for (let turn = 0; !this.#isOver; turn++) {
      await pause(Math.max(0, due - performance.now()));
      due = Math.max(due + everyMs, performance.now() - everyMs);
      const place = turn % mine.length;
      const group = mine[place]!;
      const body = snapshotBody({ groupKey: group.name, ...group.snapshot() });
      const posted = await this.balancer.post(body);
      if (posted === null) continue;
      group.settle();
      this.accepted++;
      this.latencies.push(posted.tookMs);
      if (group.snapshots >= SNAPSHOTS_A_GROUP || mayArriveLate(posted)) mine[place] = this.#newGroup();
    }
  }

  #newGroup(): SendingGroup {
    const group = new SendingGroup(`${this.#prefix}${String(this.groups.length).padStart(3, '0')}`);
    this.groups.push(group);
    return group;
  }
}

/**
 * A post that was given up at a frozen replica may be carried out when it goes on, long after later ones: what it says
 * would be true again. Its group ends with it, so that a late copy repeats the newest Snapshot and changes nothing.
 */
function mayArriveLate({ refusals }: Posted): boolean {
  return refusals.includes('timeout');
}
