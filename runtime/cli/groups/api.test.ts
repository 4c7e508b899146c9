import { expect, test } from 'vitest';
import { openApi } from './api.ts';

const env = { SVC_API_TOKEN: 'token', HOME: '/nowhere' };

test('an address with a login is refused without repeating it', () => {
  const open = () => openApi({ url: 'http://ada:s3cret@127.0.0.1:8080' }, env);
  expect(open).toThrow('The address of the API holds no login');
  expect(open).not.toThrow(/s3cret/);
});

test.each(['127.0.0.1:8080', 'ftp://127.0.0.1', ''])('%j is no address of the API', (url) => {
  expect(() => openApi({ url }, env)).toThrow(/address|where the API is/);
});
