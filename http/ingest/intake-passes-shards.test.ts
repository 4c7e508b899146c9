/** Shards that move between replicas, and Snapshots that are in the wrong one. */
import { beforeEach, describe, expect, it } from 'vitest';
import { SECOND } from '../../runtime/clock.ts';
import { createHandClock, type HandClock } from './ingest.fixture.ts';
import { ALL, annAndBob, Cluster, K1, OTHER, settled, shardOfGroup, WITHOUT_K1 } from './replicas.fixture.ts';

let clock: HandClock;
let cluster: Cluster;

beforeEach(() => {
  clock = createHandClock();
  cluster = new Cluster(clock);
});

describe('a shard that moves', () => {
  it('is read from its oldest Snapshot by its new owner', async () => {
    const { ann, bob } = await annAndBob(cluster);
    ann.depth = 1_000_000;
    bob.accept('K1', 'K1');
    await settled();
    ann.own([]);
    bob.own(ALL);
    await settled();
    expect(cluster.deliveries).toEqual(['1 by bob', '2 by bob']);
  });

  it('takes back what its old owner had under way, in order and each once', async () => {
    const { ann, bob } = await annAndBob(cluster);
    ann.holds = true;
    bob.accept('K1', 'K1');
    await settled();
    ann.own([]);
    ann.giveBackHeld();
    bob.own(ALL);
    bob.accept('K1');
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann', '2 by ann', '1 by bob', '2 by bob', '3 by bob']);
    expect(cluster.queue.rows).toEqual([]);
  });

  it('and comes back goes on with the oldest that was given back', async () => {
    const { ann, bob } = await annAndBob(cluster);
    ann.holds = true;
    bob.accept('K1', 'K1');
    await settled();
    ann.own([]);
    ann.giveBackHeld();
    ann.holds = false;
    ann.own([K1]);
    bob.accept('K1');
    await settled();
    expect(cluster.seqs).toEqual([1, 2, 1, 2, 3]);
  });

  it('while its bodies are read is not read on from behind what was given back', async () => {
    const { ann, bob } = await annAndBob(cluster);
    ann.holds = true;
    bob.accept('K1');
    await settled();
    const bodies = cluster.queue.bodies.bind(cluster.queue);
    cluster.queue.bodies = async (wanted) => {
      cluster.queue.bodies = bodies;
      ann.own([]);
      ann.giveBackHeld();
      ann.own([K1]);
      await settled();
      return bodies(wanted);
    };
    ann.forgetBodies();
    bob.accept('K1');
    await settled();
    await settled();
    expect(cluster.seqs).toEqual([1, 1, 2]);
  });

  it('whose feeds refuse although it is owned rests until the next sweep, and then keeps its order', async () => {
    const { ann, bob } = await annAndBob(cluster);
    ann.refuses = true;
    bob.accept('K1');
    await settled();
    ann.refuses = false;
    bob.accept('K1', OTHER);
    await settled();
    expect(cluster.deliveries).toEqual(['3 by bob']);
    clock.advance(30 * SECOND);
    await settled();
    expect(cluster.deliveries).toEqual(['3 by bob', '1 by ann', '2 by ann']);
  });
});

describe('a Snapshot with another shard than its feed', () => {
  it('is sorted before anything newer is read when a single process left it without one', async () => {
    cluster.queue.store('K1', null);
    cluster.queue.store(OTHER, null);
    const bob = cluster.add('bob', WITHOUT_K1);
    cluster.add('ann', [K1]);
    bob.accept('K1');
    await settled();
    expect(cluster.deliveries.sort()).toEqual(['1 by ann', '2 by bob', '3 by ann']);
    expect(cluster.seqs.indexOf(1)).toBeLessThan(cluster.seqs.indexOf(3));
  });

  it('is sorted page by page', async () => {
    for (let number = 0; number < 1_234; number++) cluster.queue.store(`K${number % 7}`, null);
    cluster.add('ann', ALL);
    await settled();
    expect(cluster.seqs).toHaveLength(1_234);
    expect(cluster.queue.rows).toEqual([]);
  });

  it('is sorted at once when its shard is won while others are sorted', async () => {
    const ann = cluster.add('ann', []);
    const unsorted = cluster.queue.unsorted.bind(cluster.queue);
    cluster.queue.unsorted = async (limit) => {
      cluster.queue.unsorted = unsorted;
      const page = await unsorted(limit);
      cluster.queue.store('K1', null);
      ann.own(ALL);
      return page;
    };
    ann.own(WITHOUT_K1);
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
  });

  it('is sorted after a pause when the database is away', async () => {
    cluster.queue.isAway = true;
    cluster.queue.store('K1', null);
    cluster.add('ann', ALL);
    await settled();
    cluster.queue.isAway = false;
    clock.advance(SECOND);
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
  });

  it('is found by the sweep when it was stored later', async () => {
    await annAndBob(cluster);
    cluster.queue.store('K1', null);
    clock.advance(30 * SECOND);
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
  });

  it('is given to its owner by the one who meets it', async () => {
    const { bob } = await annAndBob(cluster);
    cluster.queue.store('K1', shardOfGroup(OTHER));
    bob.intake.poke();
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
    expect(bob.calls).toEqual([[K1]]);
  });

  it('is failed where it is met when it is no Snapshot', async () => {
    const { ann } = await annAndBob(cluster);
    const row = cluster.queue.store('not json', K1);
    ann.intake.poke();
    await settled();
    expect(cluster.queue.failed).toEqual([row.seq]);
    expect(ann.calls).toEqual([]);
  });
});
