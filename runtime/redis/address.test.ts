import { expect, test } from 'vitest';
import { describeAddress, parseRedisUrl, type RedisAddress } from './address.ts';

const NOBODY = { username: null, password: null };
const PLAIN: RedisAddress = {
  hosts: [{ host: 'r.example', port: 6379 }],
  tls: false,
  credentials: NOBODY,
  database: 0,
  sentinel: null,
};
const GUARDED: RedisAddress = {
  ...PLAIN,
  hosts: [
    { host: 's1', port: 26_379 },
    { host: 's2', port: 5000 },
  ],
  sentinel: { master: 'mymaster', credentials: NOBODY },
};

test.each<[string, RedisAddress]>([
  ['redis://r.example', PLAIN],
  ['redis://r.example/', PLAIN],
  ['redis://r.example:7000/3', { ...PLAIN, hosts: [{ host: 'r.example', port: 7000 }], database: 3 }],
  [
    'rediss://:s%40fe:x@r.example',
    { ...PLAIN, tls: true, credentials: { username: null, password: 's@fe:x' } },
  ],
  ['redis://ann:pw@r.example', { ...PLAIN, credentials: { username: 'ann', password: 'pw' } }],
  ['redis://ann@r.example', { ...PLAIN, credentials: { username: 'ann', password: null } }],
  ['redis://[fd00::5]:7000', { ...PLAIN, hosts: [{ host: 'fd00::5', port: 7000 }] }],
  ['redis+sentinel://s1,s2:5000/mymaster', GUARDED],
  [
    'rediss+sentinel://s1,s2:5000/my%20master/2',
    { ...GUARDED, tls: true, database: 2, sentinel: { master: 'my master', credentials: NOBODY } },
  ],
  [
    'redis+sentinel://ann:pw@s1,s2:5000/mymaster',
    {
      ...GUARDED,
      credentials: { username: 'ann', password: 'pw' },
      sentinel: { master: 'mymaster', credentials: { username: 'ann', password: 'pw' } },
    },
  ],
  [
    'redis+sentinel://ann:pw@s1,s2:5000/mymaster?sentinel_password=other',
    {
      ...GUARDED,
      credentials: { username: 'ann', password: 'pw' },
      sentinel: { master: 'mymaster', credentials: { username: null, password: 'other' } },
    },
  ],
  [
    'redis+sentinel://ann:pw@s1,s2:5000/mymaster?sentinel_user=&sentinel_password=',
    {
      ...GUARDED,
      credentials: { username: 'ann', password: 'pw' },
      sentinel: { master: 'mymaster', credentials: NOBODY },
    },
  ],
])('%s', (text, address) => {
  expect(parseRedisUrl(text)).toEqual(address);
});

test.each([
  'http://r',
  'redis://',
  'redis:///0',
  'r.example:6379',
  'redis://a,b',
  'redis://r:0',
  'redis://r:65536',
  'redis://r:x',
  'redis://r/one',
  'redis://r/0/1',
  'redis://r/-1',
  'redis://r?tls=true',
  'redis://r#x',
  'redis://a:%zz@r',
  'redis://a:b/c@r',
  'redis+sentinel://s1',
  'redis+sentinel://s1/',
  'redis+sentinel://s1//0',
  'redis+sentinel://s1,/mymaster',
  'redis+sentinel://s1/mymaster/x',
  'redis+sentinel://s1/mymaster/0/1',
  'redis+sentinel://s1/%zz',
  'redis+sentinel://s1/mymaster?name=x',
  'redis+cluster://r',
])('refused: %s', (text) => {
  expect(parseRedisUrl(text)).toBeNull();
});

test.each([
  ['redis://ann:hunter2@r.example', 'r.example:6379'],
  ['redis://[fd00::5]', '[fd00::5]:6379'],
  [
    'redis+sentinel://ann:hunter2@s1,s2/group?sentinel_password=hunter2',
    'group (Sentinels s1:26379, s2:26379)',
  ],
])('%s is described without its secrets', (text, words) => {
  const address = parseRedisUrl(text);
  expect(address && describeAddress(address)).toBe(words);
});
