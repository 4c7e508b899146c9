import { expect, test } from 'vitest';
import type { AnyActorDefinition } from './definition.ts';
import { Resident } from './resident.ts';
import { Residents } from './residents.ts';

const definition = { kind: 'thing', weight: () => 1 } as unknown as AnyActorDefinition;

function crowd(count: number): Residents {
  const residents = new Residents([definition], { actors: 10, weight: 1_000_000 });
  const kind = residents.kinds.get('thing')!;
  for (let n = 0; n < count; n++) residents.add(new Resident({ kind: 'thing', key: String(n) }, kind, 0, 1));
  return residents;
}

test('however many came at once, all idle actors above the bound leave, the longest unused first', () => {
  const residents = crowd(5_000);
  expect(residents.passivate()).toBe(4_990);
  expect(residents.all().map((resident) => resident.self.key)).toEqual(
    Array.from({ length: 10 }, (_, n) => String(4_990 + n)),
  );
});

test('busy actors stay, and only so many of them are passed over', () => {
  const residents = crowd(100);
  const busy = residents.all().slice(0, 50);
  for (const resident of busy) resident.pins = 1;
  expect(residents.passivate(20)).toBe(0);
  expect(residents.passivate(51)).toBe(50);
  expect(residents.all()).toEqual(busy);
});
