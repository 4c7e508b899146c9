import { describe, expect, test } from 'vitest';
import { SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import {
  BEHIND_PEOPLE,
  deskAfterSetBack,
  FRESH_DESK,
  granted,
  held,
  nextTokenAt,
  type TokenDesk,
  takenToken,
  wished,
  withEndedCall,
  withReturnedToken,
  withWaitingPerson,
} from './tokens.ts';

const T = 1_791_020_467_000_000;
const LIMITER = { limit: 2, per_seconds: 1 };
const ids = (count: number) => Array.from({ length: count }, (_, index) => `DS${index}` as PublicId);

function emptied(): TokenDesk {
  let desk: TokenDesk = FRESH_DESK;
  for (let taken = takenToken(desk, LIMITER, T); taken; taken = takenToken(taken, LIMITER, T)) desk = taken;
  return desk;
}

const WISH = { urgent: false, since: T, count: 1 };
const wish = (desk: TokenDesk, destinationId: PublicId, urgent = false, since = T, count = 1) =>
  wished(desk, { destinationId, urgent, since, count, isEndTold: true });

describe('a person', () => {
  test('takes what is there, as many as the limit at once', () => {
    expect(emptied().bucket).toMatchObject({ tokens: 0 });
    expect(nextTokenAt(emptied(), LIMITER, T)).toBe(T + SECOND / 2);
  });

  test('who waits is ahead of deliveries that wait: these come a little after the token', () => {
    const [one] = ids(1);
    const waiting = granted(withWaitingPerson(wish(emptied(), one!), LIMITER, T), LIMITER, T);
    expect(waiting.to).toEqual([]);
    expect(waiting.desk.grantAt).toBe(T + SECOND / 2 + BEHIND_PEOPLE);
    const early = granted(waiting.desk, LIMITER, T + SECOND / 2 + BEHIND_PEOPLE - 1);
    expect(early.to).toEqual([]);
    const taken = takenToken(early.desk, LIMITER, T + SECOND / 2);
    expect(taken).not.toBeNull();
    const later = granted(taken!, LIMITER, T + SECOND / 2 + BEHIND_PEOPLE);
    expect(later.to).toEqual([]);
    expect(granted(later.desk, LIMITER, later.desk.grantAt ?? 0).to).toEqual([one]);
  });

  test('who waits is ahead of a delivery that began to wait later', () => {
    const [one] = ids(1);
    const waiting = granted(wish(withWaitingPerson(emptied(), LIMITER, T), one!), LIMITER, T + SECOND / 2);
    expect(waiting.to).toEqual([]);
    expect(waiting.desk.grantAt).toBe(T + SECOND / 2 + BEHIND_PEOPLE);
  });

  test('nobody waits: deliveries get the token when it is due, with those that are due soon after', () => {
    const [one] = ids(1);
    const { desk } = granted(wish(emptied(), one!), LIMITER, T);
    expect(desk.grantAt).toBe(T + SECOND / 2 + 20_000);
    expect(granted(desk, LIMITER, desk.grantAt ?? 0).to).toEqual([one]);
  });
});

describe('deliveries', () => {
  test('get a token at once while there are any', () => {
    const desk = ids(2).reduce((each, id) => wish(each, id), FRESH_DESK);
    expect(granted(desk, LIMITER, T).to).toEqual(ids(2));
  });

  test('get them Urgent first, then in the order in which they began to wait', () => {
    const [late, early, urgent] = ids(3) as [PublicId, PublicId, PublicId];
    let desk = wish(emptied(), late, false, T + 1);
    desk = wish(desk, early, false, T);
    desk = wish(desk, urgent, true, T + 2);
    desk = wish(desk, late, false, T + 5);
    const { to } = granted({ ...desk, bucket: { tokens: 2, at: T + SECOND } }, LIMITER, T + SECOND);
    expect(to).toEqual([urgent, early]);
  });
});

describe('who wants several tokens', () => {
  test('gets them together, and no second one before everybody has one', () => {
    const [many, one] = ids(2) as [PublicId, PublicId];
    const desk = wish(wish(FRESH_DESK, many, false, T, 3), one, false, T + 1);
    const { to } = granted(desk, { limit: 3, per_seconds: 1 }, T);
    expect(to).toEqual([many, one, many]);
  });

  test('asks again for those that were not there', () => {
    const [many] = ids(1) as [PublicId];
    const given = granted(wish(FRESH_DESK, many, false, T, 3), LIMITER, T);
    expect(given.to).toEqual([many, many]);
    expect(given.desk.wishes).toEqual([]);
  });
});

describe('a token that was not used', () => {
  test('is there again', () => {
    expect(takenToken(withReturnedToken(emptied(), LIMITER, T), LIMITER, T)).not.toBeNull();
  });

  test('is lost where the bucket is full, and while the messenger asked to wait', () => {
    expect(withReturnedToken(FRESH_DESK, LIMITER, T).bucket).toMatchObject({ tokens: 2 });
    const waiting = held(emptied(), LIMITER, T, T + SECOND);
    expect(withReturnedToken(waiting, LIMITER, T)).toBe(waiting);
  });
});

describe('while the messenger asked to wait', () => {
  const desk = held(emptied(), LIMITER, T, T + 7 * SECOND);

  test('nobody gets a token before', () => {
    expect(takenToken(desk, LIMITER, T + 7 * SECOND - 1)).toBeNull();
    expect(nextTokenAt(desk, LIMITER, T)).toBe(T + 7 * SECOND);
  });

  test('there is one token exactly then', () => {
    const taken = takenToken(desk, LIMITER, T + 7 * SECOND);
    expect(taken?.heldUntil).toBeNull();
    expect(takenToken(taken!, LIMITER, T + 7 * SECOND)).toBeNull();
  });

  test('that is not taken for a clock that was set back', () => {
    expect(deskAfterSetBack(desk, T + SECOND)).toBe(desk);
  });

  test('an earlier end does not shorten it', () => {
    expect(held(desk, LIMITER, T, T + SECOND).heldUntil).toBe(T + 7 * SECOND);
  });
});

describe('of a messenger that counts the calls of the last time', () => {
  const sliding = { ...LIMITER, sliding: true } as const;
  const both = () => {
    const one = takenToken(FRESH_DESK, sliding, T);
    return takenToken(one!, sliding, T)!;
  };

  test('a token is due a second after the end of the first call, not after its beginning', () => {
    expect(takenToken(both(), sliding, T + SECOND)).toBeNull();
    const ended = withEndedCall(both(), sliding, T + SECOND);
    expect(nextTokenAt(ended, sliding, T + SECOND)).toBe(T + 2 * SECOND);
    expect(takenToken(ended, sliding, T + 2 * SECOND)).not.toBeNull();
  });

  test('deliveries get a place as soon as it is free, not as late as it was to be when they asked', () => {
    const [one] = ids(1);
    const { desk } = granted(wish(both(), one!), sliding, T);
    expect(desk.grantAt).toBeGreaterThan(T + 60 * SECOND);
    const ended = withEndedCall(desk, sliding, T + SECOND);
    const { to } = granted(ended, sliding, ended.grantAt ?? 0);
    expect([ended.grantAt, to]).toEqual([T + 2 * SECOND + 20_000, [one]]);
  });

  test('a person who asks while all calls are under way holds nobody up longer than until a place is free', () => {
    const [one] = ids(1);
    const asked = withWaitingPerson(granted(wish(both(), one!), sliding, T).desk, sliding, T + SECOND / 20);
    const ended = withEndedCall(withEndedCall(asked, sliding, T + SECOND / 4), sliding, T + SECOND / 4);
    expect(granted(ended, sliding, T + 1.5 * SECOND).to).toEqual([one]);
  });

  test('a person who would have to wait too long holds nobody up', () => {
    const hour = { limit: 1, per_seconds: 3600 };
    const desk = takenToken(FRESH_DESK, hour, T);
    expect(withWaitingPerson(desk!, hour, T)).toBe(desk);
  });

  test('a Destination that does not tell the end of its calls holds a place for some seconds', () => {
    const [one] = ids(1);
    const { desk } = granted(
      wished(FRESH_DESK, { ...WISH, destinationId: one!, isEndTold: false }),
      sliding,
      T,
    );
    expect(nextTokenAt(takenToken(desk, sliding, T)!, sliding, T)).toBe(T + 6 * SECOND);
  });

  test('a wait that it asked for forgets no call', () => {
    const waiting = held(withEndedCall(both(), sliding, T + SECOND), sliding, T + SECOND, T + 1.5 * SECOND);
    expect(takenToken(waiting, sliding, T + 1.5 * SECOND)).toBeNull();
    expect(takenToken(waiting, sliding, T + 2 * SECOND)).not.toBeNull();
    expect(nextTokenAt(withReturnedToken(waiting, sliding, T + SECOND), sliding, T + 1.5 * SECOND)).toBe(
      T + 1.5 * SECOND,
    );
  });
});
