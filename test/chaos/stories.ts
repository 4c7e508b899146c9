/** Alert Groups that live: alerts begin and end, people acknowledge, snooze and resolve, in any order. */
import type { Api } from '../harness/api.ts';
import type { Sender, SentAlert } from '../harness/sender.ts';
import { until } from '../harness/until.ts';

export interface Story {
  readonly name: string;
  readonly sender: Sender;
  readonly random: () => number;
  /** Null until the Alert Group was found. */
  id: string | null;
  next: number;
  firing: readonly number[];
}

type Act = (story: Story, api: Api) => Promise<void>;

const command =
  (name: string, body?: object): Act =>
  async ({ id }, api) => {
    const answer = await api.call('POST', `/alert-groups/${id}/${name}`, body);
    // Whether a Command fits the status is not what is tried here, and a service that is full may say so.
    if (![200, 409, 503].includes(answer.status))
      throw new Error(`${name} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  };

/** One more alert; it reopens what was resolved. */
export const addAlert: Act = async (story) => {
  const firing = [...story.firing, story.next++];
  await post(story, alertsOf(story, firing, 'firing'));
  story.firing = firing;
};

/** Every alert ends; without any, one begins. */
export const endAlerts: Act = async (story, api) => {
  if (story.firing.length === 0) return addAlert(story, api);
  await post(story, alertsOf(story, story.firing, 'resolved'));
  story.firing = [];
};

const ACTS: readonly (readonly [weight: number, act: Act])[] = [
  [4, addAlert],
  [3, endAlerts],
  [3, command('acknowledge')],
  [1, command('unacknowledge')],
  [1, command('snooze', { no_end: true })],
  [1, command('unsnooze')],
  [1, command('resolve')],
  [1, command('unresolve')],
];
const TOTAL = ACTS.reduce((sum, [weight]) => sum + weight, 0);

export async function actOnce(story: Story, api: Api): Promise<void> {
  let left = story.random() * TOTAL;
  const drawn = ACTS.find(([weight]) => {
    left -= weight;
    return left < 0;
  });
  await drawn?.[1](story, api);
}

function alertsOf({ name }: Story, numbers: readonly number[], status: 'firing' | 'resolved'): SentAlert[] {
  return numbers.map((n) => ({
    status,
    labels: { alertname: name, n: `n${n}`, severity: 'critical' },
    startsAt: new Date(Date.UTC(2026, 9, 3) + n * 1000).toISOString(),
  }));
}

async function post({ name, sender }: Story, alerts: readonly SentAlert[]): Promise<void> {
  await until(`a Snapshot of ${name} to be taken`, async () => {
    const status = await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts });
    return status === 202;
  });
}
