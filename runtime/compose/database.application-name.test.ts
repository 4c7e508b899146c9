import { expect, test } from 'vitest';
import { applicationName } from './database.ts';

test('a connection says what it is for and whose it is', () => {
  expect(applicationName('commits', 'tocsin-7d9f-x2x4z')).toBe('tocsin commits tocsin-7d9f-x2x4z');
});

test('of a long id the end is kept, and PostgreSQL has nothing left to cut', () => {
  const id = `${'a'.repeat(40)}-of-tocsin-0123456789ab`;
  expect(applicationName('ingestion', id)).toHaveLength(63);
  expect(applicationName('ingestion', id)).toMatch(/^tocsin ingestion a+-of-tocsin-0123456789ab$/);
});
