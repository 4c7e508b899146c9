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

describe('an intake among several replicas', () => {
  it('hands on what any replica took, where its feed lives', async () => {
    const { ann, bob } = await annAndBob(cluster);
    ann.accept('K1', OTHER);
    bob.accept('K1');
    await settled();
    expect(cluster.deliveries.sort()).toEqual(['1 by ann', '2 by bob', '3 by ann']);
    expect(cluster.queue.rows).toEqual([]);
  });

  it('calls the owners of shards that are not here, once for each commit', async () => {
    const { ann } = await annAndBob(cluster);
    ann.accept('K1', OTHER, OTHER, 'K1');
    ann.accept('K1');
    expect(ann.calls).toEqual([[shardOfGroup(OTHER)]]);
  });

  it('hands on what one of them committed together with something else', async () => {
    const { ann, bob } = await annAndBob(cluster);
    cluster.queue.commit(ann.begin('K1'));
    cluster.queue.commit(ann.begin(OTHER));
    ann.intake.stored([K1, shardOfGroup(OTHER)]);
    expect(ann.calls).toEqual([[shardOfGroup(OTHER)]]);
    bob.intake.poke([shardOfGroup(OTHER)]);
    await settled();
    expect(cluster.deliveries.sort()).toEqual(['1 by ann', '2 by bob']);
  });

  it('reads the shards that were called, and no others', async () => {
    const { ann, bob } = await annAndBob(cluster);
    cluster.queue.asked.length = 0;
    ann.accept(OTHER);
    bob.accept('K1');
    await settled();
    expect(cluster.queue.asked).toEqual([[shardOfGroup(OTHER)], [K1]]);
  });

  it('takes bodies that it accepted from memory', async () => {
    const { ann } = await annAndBob(cluster);
    ann.accept('K1', 'K1');
    await settled();
    expect(cluster.seqs).toEqual([1, 2]);
    expect(cluster.queue.bodiesRead).toBe(0);
  });

  it('hands on a group in the order of arrival, whichever replicas took it and however late one becomes visible', async () => {
    const { ann, bob } = await annAndBob(cluster);
    const slow = bob.begin('K1');
    ann.accept('K1');
    bob.commit(slow);
    ann.accept('K1');
    await settled();
    // The second was answered before the first was, so nobody can tell which arrived first.
    expect(cluster.seqs).toEqual([2, 1, 3]);
  });

  it('overtakes nothing that was answered while it read an earlier page', async () => {
    const { ann, bob } = await annAndBob(cluster);
    ann.depth = 1_000_000;
    const old = Array.from({ length: 499 }, () => 'K1');
    const early = bob.begin('K1');
    ann.accept(...old, 'K1');
    const [page, pageOf] = [cluster.queue, cluster.queue.pageOf.bind(cluster.queue)];
    let isFirst = true;
    page.pageOf = async (ranges, limit) => {
      const result = await pageOf(ranges, limit);
      // After the first page was read, the early one is answered, and another of its group arrives.
      if (isFirst) {
        isFirst = false;
        cluster.queue.commit(early);
        bob.accept('K1');
      }
      return result;
    };
    ann.depth = 0;
    clock.advance(SECOND);
    await settled();
    const order = cluster.seqs;
    expect(order).toHaveLength(502);
    expect(order.indexOf(early.seq)).toBeLessThan(order.indexOf(502));
  });

  it('hands on nothing twice while it is under way', async () => {
    const { ann } = await annAndBob(cluster);
    ann.holds = true;
    ann.accept('K1', 'K1');
    await settled();
    ann.accept('K1');
    ann.intake.poke();
    clock.advance(30 * SECOND);
    await settled();
    expect(cluster.seqs).toEqual([1, 2, 3]);
    ann.settleHeld();
    await settled();
    clock.advance(30 * SECOND);
    await settled();
    expect(cluster.seqs).toEqual([1, 2, 3]);
  });

  it('does not bring back what was settled while the page was being read', async () => {
    const { ann } = await annAndBob(cluster);
    ann.holds = true;
    ann.accept('K1');
    await settled();
    const pageOf = cluster.queue.pageOf.bind(cluster.queue);
    cluster.queue.pageOf = async (ranges, limit) => {
      const page = await pageOf(ranges, limit);
      ann.settleHeld();
      await settled();
      return page;
    };
    ann.intake.poke();
    await settled();
    await settled();
    expect(cluster.seqs).toEqual([1]);
  });

  it('reads nothing while there is nothing to do', async () => {
    await annAndBob(cluster);
    const { pages } = cluster.queue;
    for (let second = 0; second < 29; second++) {
      clock.advance(SECOND);
      await settled();
    }
    expect(cluster.queue.pages).toBe(pages);
  });
});

describe('a call that is lost', () => {
  it('is made up for by the sweep', async () => {
    const { bob } = await annAndBob(cluster);
    cluster.losesCalls = true;
    bob.accept('K1');
    await settled();
    expect(cluster.seqs).toEqual([]);
    clock.advance(30 * SECOND);
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
  });

  it('is not waited for while signals are down: every second the shards are read', async () => {
    const { bob } = await annAndBob(cluster);
    cluster.setUp(false);
    bob.accept('K1');
    await settled();
    expect(cluster.seqs).toEqual([]);
    clock.advance(SECOND);
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
  });

  it('is not waited for while a replica that is not heard lives: every second the shards are read', async () => {
    const { bob } = await annAndBob(cluster);
    cluster.losesCalls = true;
    cluster.hasIsolated = true;
    bob.accept('K1');
    await settled();
    clock.advance(SECOND);
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
  });

  it('is made up for when signals come back', async () => {
    const { bob } = await annAndBob(cluster);
    cluster.setUp(false);
    bob.accept('K1');
    cluster.setUp(true);
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
  });
});

describe('an intake that is held back', () => {
  it('leaves Snapshots in the database while its feeds are behind', async () => {
    const { ann, bob } = await annAndBob(cluster);
    ann.depth = 4_000;
    bob.accept('K1', 'K1', OTHER);
    await settled();
    expect(cluster.deliveries).toEqual(['3 by bob']);
    ann.depth = 0;
    clock.advance(SECOND);
    await settled();
    expect(cluster.deliveries).toEqual(['3 by bob', '1 by ann', '2 by ann']);
  });

  it('reads all shards on when one of them has a long queue', async () => {
    const ann = cluster.add('ann', []);
    for (let number = 0; number < 3_000; number++) ann.begin('K1');
    ann.begin(OTHER);
    for (const row of cluster.queue.rows) cluster.queue.commit(row);
    ann.own(ALL);
    await settled();
    expect(cluster.seqs.indexOf(3_001)).toBeLessThan(20);
    const order = cluster.seqs.filter((seq) => seq !== 3_001);
    expect(order).toEqual(Array.from({ length: 3_000 }, (_, index) => index + 1));
  });

  it('comes to the end of a long queue however often it is called meanwhile', async () => {
    const { ann } = await annAndBob(cluster);
    ann.holds = true;
    const pageOf = cluster.queue.pageOf.bind(cluster.queue);
    cluster.queue.pageOf = async (ranges, limit) => {
      if (cluster.queue.pages < 100) ann.intake.poke();
      await new Promise<void>((resolve) => setImmediate(resolve));
      return pageOf(ranges, limit);
    };
    ann.accept(...Array.from({ length: 1_100 }, () => 'K1'));
    await settled();
    expect(cluster.seqs).toHaveLength(1_100);
  });

  it('tries again with pauses while the database is away', async () => {
    const { bob } = await annAndBob(cluster);
    cluster.queue.isAway = true;
    bob.accept('K1');
    await settled();
    const { pages } = cluster.queue;
    await settled();
    expect(cluster.queue.pages).toBe(pages);
    cluster.queue.isAway = false;
    clock.advance(SECOND);
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
  });

  it('hands on nothing before it is started or after it was stopped, and calls all the same', async () => {
    const { ann, bob } = await annAndBob(cluster);
    ann.intake.stop();
    ann.accept('K1', OTHER);
    clock.advance(30 * SECOND);
    await settled();
    expect(cluster.deliveries).toEqual(['2 by bob']);
    bob.intake.stop();
    bob.accept('K1');
    expect(bob.calls).toEqual([[K1]]);
  });

  it('hands on nothing of a page that it was reading when it was stopped', async () => {
    const { ann, bob } = await annAndBob(cluster);
    const pageOf = cluster.queue.pageOf.bind(cluster.queue);
    cluster.queue.pageOf = async (ranges, limit) => {
      ann.intake.stop();
      return pageOf(ranges, limit);
    };
    bob.accept('K1');
    await settled();
    expect(cluster.seqs).toEqual([]);
  });

  it('finds what a write without an answer stored', async () => {
    const { ann } = await annAndBob(cluster);
    cluster.queue.store('K1', K1);
    ann.intake.uncertain();
    await settled();
    expect(cluster.deliveries).toEqual(['1 by ann']);
  });
});

describe('large bodies among several replicas', () => {
  it('that wait hold back their own feed only, and are begun in order once they may be', async () => {
    const ann = cluster.add('ann', ALL);
    ann.holds = true;
    ann.accept('large K1', `large ${OTHER}`, OTHER, 'K1', 'K9');
    await settled();
    expect(cluster.seqs.sort()).toEqual([1, 4, 5]);
    ann.accept(OTHER, 'K1');
    await settled();
    expect(cluster.seqs.slice(3)).toEqual([7]);
    ann.settleHeld();
    await settled();
    expect(cluster.seqs.slice(4)).toEqual([2, 3, 6]);
  });

  it('that wait are begun when the shard of the one before moves away, and follow their own shard', async () => {
    const ann = cluster.add('ann', ALL);
    const bob = cluster.add('bob', []);
    ann.holds = true;
    ann.accept('large K1', `large ${OTHER}`, OTHER, 'large K1');
    await settled();
    ann.own(WITHOUT_K1);
    ann.giveBackHeld();
    bob.own([K1]);
    await settled();
    expect(cluster.deliveries.slice(0, 1)).toEqual(['1 by ann']);
    expect(cluster.deliveries.slice(1).sort()).toEqual(['1 by bob', '2 by ann', '3 by ann', '4 by bob']);
  });

  it('that wait are begun once the database is back', async () => {
    const ann = cluster.add('ann', ALL);
    ann.holds = true;
    ann.accept('large K1', `large ${OTHER}`, OTHER);
    await settled();
    cluster.queue.isAway = true;
    ann.settleHeld();
    await settled();
    expect(cluster.seqs).toEqual([1]);
    cluster.queue.isAway = false;
    clock.advance(SECOND);
    await settled();
    expect(cluster.seqs).toEqual([1, 2, 3]);
  });

  it('without a shard are sorted and begun, and hold up nothing for ever', async () => {
    const ann = cluster.add('ann', ALL);
    ann.holds = true;
    ann.accept('large K1');
    await settled();
    cluster.queue.store(`large ${OTHER}`, null);
    cluster.queue.store('K2', null);
    clock.advance(30 * SECOND);
    await settled();
    await settled();
    expect(cluster.seqs).toEqual([1, 2, 3]);
  });
});
