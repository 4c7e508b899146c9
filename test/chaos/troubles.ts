/** What goes wrong, how often, and what it is called in the figures. */
import type { Passing, Trouble } from '../fakes/chaos-gateway.ts';

/** Weights; what is not named does not happen. */
export type Menu = Readonly<Partial<Record<TroubleName, number>>>;

const problem = (
  status: number,
  members: object,
  headers: Readonly<Record<string, string>> = {},
): Trouble => ({
  does: 'answer',
  worked: false,
  answer: {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: JSON.stringify({ type: 'about:blank', title: 'Trouble', status, detail: 'chaos', ...members }),
  },
});
const broken = (worked: boolean): Trouble => ({
  does: 'answer',
  worked,
  answer: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"message_id":' },
});

const TROUBLES = {
  transient: problem(503, { class: 'transient' }),
  no_class: { does: 'answer', worked: false, answer: { status: 502, headers: {}, body: '<p>Bad gateway' } },
  wait_channel: problem(429, { class: 'rate_limited', scope: 'channel' }, { 'retry-after': '1' }),
  wait_bot: problem(429, { class: 'rate_limited', scope: 'bot' }, { 'retry-after': '1' }),
  wait_unknown: problem(429, { class: 'rate_limited' }),
  hang: { does: 'hang', worked: false },
  hang_done: { does: 'hang', worked: true },
  drop_unread: { does: 'drop', when: 'unread' },
  drop_read: { does: 'drop', when: 'read' },
  drop_done: { does: 'drop', when: 'worked' },
  forbidden: problem(403, { class: 'forbidden' }),
  invalid: problem(400, { class: 'invalid' }),
  broken_json: broken(false),
  broken_json_done: broken(true),
  /** The message is really gone: the fake says so by itself. */
  gone: null,
} as const satisfies Readonly<Record<string, Trouble | null>>;
export type TroubleName = keyof typeof TROUBLES;

/** Nothing of it ends a delivery or makes a Destination Broken at once. */
export const STEADY: Menu = {
  ...{
    transient: 4,
    no_class: 2,
    wait_channel: 0.5,
    wait_bot: 0.25,
    wait_unknown: 2,
    hang: 0.2,
    hang_done: 0.2,
  },
  ...{ drop_unread: 3, drop_read: 3, drop_done: 4 },
};
/** Everything that a bridge can do. */
export const ROUGH: Menu = {
  ...STEADY,
  ...{ forbidden: 0.3, invalid: 2, broken_json: 1, broken_json_done: 1, gone: 2 },
};
/** A receiver of events that takes them all in the end. */
export const UNSTEADY_RECEIVER: Menu = {
  ...{ transient: 4, no_class: 2, wait_channel: 2, hang: 0.2, hang_done: 0.2 },
  ...{ drop_unread: 3, drop_read: 3, drop_done: 4 },
};

export interface Troubles {
  /** How often each was given. */
  readonly given: Readonly<Record<string, number>>;
  choose(asked: Passing): Trouble | null;
}

/**
 * @param rate of requests that meet trouble
 * @param remove deletes the message that a request names; false: it must not
 */
export function createTroubles(
  menu: Menu,
  { rate, random, remove }: { rate: number; random: () => number; remove: (asked: Passing) => boolean },
): Troubles {
  const names = Object.keys(TROUBLES).filter((name): name is TroubleName => name in TROUBLES);
  const total = names.reduce((sum, name) => sum + (menu[name] ?? 0), 0);
  const given: Record<string, number> = {};

  const draw = (): TroubleName | undefined => {
    let left = random() * total;
    return names.find((name) => {
      left -= menu[name] ?? 0;
      return left < 0;
    });
  };

  return {
    given,
    choose(asked) {
      if (random() >= rate) return null;
      const name = draw();
      if (!name || (name === 'gone' && !remove(asked))) return null;
      given[name] = (given[name] ?? 0) + 1;
      return TROUBLES[name];
    },
  };
}
