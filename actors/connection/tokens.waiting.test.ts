import { expect, test } from 'vitest';
import { SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { createWaitingTokens, type TokenGrant } from './tokens.ts';

const ID = 'CN5Q8V2K7WXM3D' as PublicId;

/** Tokens of a Connection that has one again after `due`. */
function waiting(due: number) {
  const clock = createManualClock();
  const at = clock.now() + due;
  let asked = 0;
  const tokens = createWaitingTokens({
    clock,
    system: {
      async ask() {
        asked++;
        return clock.now() >= at ? { granted: true } : { granted: false, dueAt: at };
      },
    },
  });
  return { clock, tokens, asked: () => asked };
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await Promise.resolve();
}

test('one that is there is taken at once', async () => {
  expect(await waiting(0).tokens.take(ID)).toBe('granted');
});

test('one that is due within 5 s is waited for', async () => {
  const { clock, tokens, asked } = waiting(5 * SECOND);
  let grant: TokenGrant | null = null;
  void tokens.take(ID).then((given) => {
    grant = given;
  });
  await settled();
  clock.advance(5 * SECOND - 1);
  await settled();
  expect(grant).toBeNull();
  clock.advance(1);
  await settled();
  expect(grant).toBe('granted');
  expect(asked()).toBe(2);
});

test('one that is due later is not, and whoever asks is told when to come again', async () => {
  const { tokens, asked } = waiting(5 * SECOND + 1);
  expect(await tokens.take(ID)).toEqual({ retryAfterSeconds: 6 });
  expect(asked()).toBe(1);
});

test('checks before saving share five a second of each host', async () => {
  const { clock, tokens } = waiting(0);
  for (let taken = 0; taken < 5; taken++) expect(await tokens.takeForHost('a.example')).toBe('granted');
  let sixth: TokenGrant | null = null;
  void tokens.takeForHost('a.example').then((given) => {
    sixth = given;
  });
  expect(await tokens.takeForHost('b.example')).toBe('granted');
  await settled();
  expect(sixth).toBeNull();
  clock.advance(SECOND / 5);
  await settled();
  expect(sixth).toBe('granted');
});
