/** Many open Alert Groups that go on changing, as a large installation has them: ten groups to a Snapshot. */
import type { Sender, SentAlert } from './sender.ts';

const GROUPS_PER_SNAPSHOT = 10;
/** Of ten changes: an Alert comes or goes in a group that a list shows, in any group; the rest ends a group and begins another. */
const OF_TEN = { near: 5, anywhere: 4 } as const;
/** Attempts for a Snapshot that the service is too busy to take. */
const MOST_ATTEMPTS = 100;

interface Slot {
  name: string;
  /** A second Alert of the group fires. */
  isLarger: boolean;
}

export class ChangingGroups {
  readonly #sender: Sender;
  readonly #snapshots: Slot[][] = [];
  #named = 0;
  #changed = 0;
  /** What follows is the same in every run. */
  #seed = 1;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Opens that many groups: each begins with an alert that has a name of its own. */
  async open(count: number): Promise<void> {
    for (let left = count; left > 0; left -= GROUPS_PER_SNAPSHOT) {
      const slots = Array.from({ length: Math.min(left, GROUPS_PER_SNAPSHOT) }, () => this.#newSlot());
      this.#snapshots.push(slots);
      await this.#post(this.#snapshots.length - 1);
    }
  }

  /**
   * One change: an Alert of a group comes or goes, or a group ends and another begins.
   * @param near how many of the groups that were opened last are shown
   */
  async change(near: number): Promise<void> {
    const kind = this.#changed % 10;
    this.#changed += 1;
    const isNear = kind < OF_TEN.near;
    const most = isNear ? Math.ceil(near / GROUPS_PER_SNAPSHOT) : this.#snapshots.length;
    const snapshot = this.#snapshots.length - 1 - this.#random(Math.min(most, this.#snapshots.length));
    const slots = this.#snapshots[snapshot]!;
    const at = this.#random(slots.length);
    const slot = slots[at]!;
    if (isNear || kind < OF_TEN.near + OF_TEN.anywhere) {
      slot.isLarger = !slot.isLarger;
      return this.#post(snapshot, slot.isLarger ? [] : [alert(slot.name, 'second', 'resolved')]);
    }
    const ended = slot;
    slots[at] = this.#newSlot();
    const alerts = [alert(ended.name, 'first', 'resolved')];
    if (ended.isLarger) alerts.push(alert(ended.name, 'second', 'resolved'));
    return this.#post(snapshot, alerts);
  }

  async #post(snapshot: number, resolved: readonly SentAlert[] = []): Promise<void> {
    const firing = this.#snapshots[snapshot]!.flatMap(({ name, isLarger }) => [
      alert(name, 'first', 'firing'),
      ...(isLarger ? [alert(name, 'second', 'firing')] : []),
    ]);
    const body = { groupKey: `changing-${snapshot}`, alerts: [...firing, ...resolved] };
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const status = await this.#sender.post(body);
      if (status === 202) return;
      if (status !== 503) throw new Error(`A Snapshot was answered ${status}`);
    }
    throw new Error('No Snapshot is taken');
  }

  #newSlot(): Slot {
    this.#named += 1;
    return { name: nameOf(this.#named), isLarger: false };
  }

  /** Linear congruence: a whole number from 0 to below `most`. */
  #random(most: number): number {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((this.#seed / 2 ** 31) * most);
  }
}

const nameOf = (number: number) => `Changing${String(number).padStart(5, '0')}`;

function alert(name: string, which: 'first' | 'second', status: 'firing' | 'resolved'): SentAlert {
  const number = Number(name.replace(/\D/g, ''));
  const labels = {
    alertname: name,
    cluster: ['eu-west-1', 'eu-central-1', 'us-east-1'][number % 3]!,
    namespace: `team-${number % 40}`,
    pod: `api-${number}-${which}`,
    severity: ['critical', 'warning', 'info'][number % 3]!,
  };
  return {
    labels,
    annotations: { summary: `The ${which} pod of team-${number % 40} restarts again` },
    status,
  };
}
