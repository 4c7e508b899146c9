import { beforeEach, describe, expect, it } from 'vitest';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/log.ts';
import type { Sql } from '../postgres/records.ts';
import { createIntegrationTokens } from './tokens.ts';

/** What the database holds, how often it was asked, and a clock moved by hand. */
let rows: object[];
let queries: number;
let now: Micros;
let isHung: boolean;
let isTrusted: boolean;
let tokens: ReturnType<typeof createIntegrationTokens>;

const ROW = { id: 'NK0000000000AB', integration_id: 'NT0000000000AB' };
const FOUND = { tokenId: ROW.id, integrationId: ROW.integration_id };
const hash = (text: string) => Buffer.from(text);

beforeEach(() => {
  rows = [];
  queries = 0;
  now = 1_790_000_000_000_000;
  isHung = false;
  isTrusted = true;
  const sql = () => {
    queries += 1;
    return isHung ? new Promise(() => undefined) : Promise.resolve(rows);
  };
  tokens = createIntegrationTokens({
    sql: sql as unknown as Sql,
    clock: { now: () => now, after: () => ({ cancel: () => undefined }) },
    log: silentLog,
    isTrusted: () => isTrusted,
  });
});

describe('looking up Integration tokens', () => {
  it('asks once for a token that is known', async () => {
    rows = [ROW];
    expect(await tokens.find(hash('a'))).toEqual(FOUND);
    expect(await tokens.find(hash('a'))).toEqual(FOUND);
    expect(queries).toBe(1);
  });

  it('asks once for a token that comes many times at once', async () => {
    await Promise.all(Array.from({ length: 100 }, () => tokens.find(hash('a'))));
    expect(queries).toBe(1);
  });

  it('remembers for 5 s that a token is unknown', async () => {
    expect(await tokens.find(hash('a'))).toBeNull();
    now += 5 * SECOND - 1;
    expect(await tokens.find(hash('a'))).toBeNull();
    expect(queries).toBe(1);
    now += 1;
    await tokens.find(hash('a'));
    expect(queries).toBe(2);
  });

  it('knows a token at once that was created after it had been refused', async () => {
    expect(await tokens.find(hash('a'))).toBeNull();
    rows = [ROW];
    tokens.invalidate();
    expect(await tokens.find(hash('a'))).toEqual(FOUND);
  });

  it('does not take over an answer from before the tokens changed', async () => {
    const before = tokens.find(hash('a'));
    rows = [ROW];
    tokens.invalidate();
    const after = tokens.find(hash('a'));
    expect([await before, await after]).toEqual([null, FOUND]);
    expect(await tokens.find(hash('a'))).toEqual(FOUND);
  });

  it('forgets the oldest of more than 10,000 unknown tokens', async () => {
    for (let count = 0; count <= 10_000; count++) await tokens.find(hash(`t${count}`));
    await tokens.find(hash('t1'));
    expect(queries).toBe(10_001);
    await tokens.find(hash('t0'));
    expect(queries).toBe(10_002);
  });

  it('asks anew when a look-up has had no answer for 5 s', async () => {
    isHung = true;
    void tokens.find(hash('a'));
    isHung = false;
    rows = [ROW];
    now += 5 * SECOND;
    expect(await tokens.find(hash('a'))).toEqual(FOUND);
  });

  it('asks every time while it may not know of changes by other replicas', async () => {
    rows = [ROW];
    await tokens.find(hash('a'));
    isTrusted = false;
    expect(await tokens.find(hash('a'))).toEqual(FOUND);
    rows = [];
    expect(await tokens.find(hash('a'))).toBeNull();
    isTrusted = true;
    expect(await tokens.find(hash('a'))).toBeNull();
    expect(queries).toBe(3);
  });
});
