import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { drawings } from '../runtime/cli/machines/draw.ts';
import { machinePages, machines } from './machines.ts';

const COMMITTED = path.join(import.meta.dirname, '../docs/machines');

describe('docs/machines', async () => {
  const fresh = await drawings(machines, machinePages);

  test('holds a drawing of every machine and nothing else', () => {
    expect(readdirSync(COMMITTED).sort()).toEqual([...fresh.keys()].sort());
  });

  test.each([...fresh.keys()])('%s is current (npm run machines writes it)', (file) => {
    expect(readFileSync(path.join(COMMITTED, file), 'utf8')).toBe(fresh.get(file));
  });

  test('is drawn the same every time', async () => {
    expect(await drawings(machines, machinePages)).toEqual(fresh);
  });
});
