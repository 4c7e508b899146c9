import { expect, test } from 'vitest';
import { startReferenceBridge } from '../../test/fakes/reference-bridge.ts';
import { bridgeReference } from './bridge-reference.ts';
import { runCommandLine } from './command.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';

test.each([
  ['no token', [], '--token is needed'],
  ['one token twice', ['--token', 'a,a'], 'names a token twice'],
  ['a port that is none', ['--token', 'a', '--port', '70000'], '--port is'],
  ['a push without a secret', ['--token', 'a', '--push-url', 'http://a.example/'], 'go together'],
  ['a push to nowhere', ['--token', 'a', '--push-url', 'a', '--push-secret', SECRET], '--push-url is'],
  [
    'a weak secret',
    ['--token', 'a', '--push-url', 'http://a.example/', '--push-secret', 'whsec_YQ=='],
    '--push-secret is',
  ],
  ['something unknown to do without', ['--token', 'a', '--without', 'coffee'], 'knows no "coffee"'],
  ['no way for events', ['--token', 'a', '--without', 'poll'], 'no way for events'],
  ['an edit window of a second', ['--token', 'a', '--edit-max-age', '1'], 'at least 60'],
])('%s is wrong usage', async (_name, words, message) => {
  const said: string[] = [];
  const io = {
    env: {},
    out: (line: string) => void said.push(line),
    err: (line: string) => void said.push(line),
  };
  expect(await runCommandLine(['bridge-reference', ...words], [bridgeReference], io)).toBe(2);
  expect(said.join('\n')).toContain(message);
});

test('a body above 1 MiB is refused over the network, and a lost answer ends the connection', async () => {
  const bridge = await startReferenceBridge();
  try {
    const headers = { authorization: `Bearer ${bridge.token}`, 'idempotency-key': 'key' };
    const body = 'x'.repeat(1024 * 1024 + 1);
    const long = await fetch(`${bridge.url}/v1/messages`, { method: 'POST', headers, body });
    expect(long.status).toBe(413);
    const faults = JSON.stringify([{ operation: 'getInfo', drop_answer: true }]);
    const json = { 'content-type': 'application/json' };
    await fetch(`${bridge.url}/_sim/faults`, { method: 'PUT', headers: json, body: faults });
    await expect(fetch(`${bridge.url}/v1/info`, { headers })).rejects.toThrow();
    expect((await fetch(`${bridge.url}/v1/info`, { headers })).status).toBe(200);
  } finally {
    await bridge.close();
  }
});

test('the fake counts what broke the protocol, and declares what it is told', async () => {
  const bridge = await startReferenceBridge();
  try {
    const headers = { authorization: `Bearer ${bridge.token}` };
    bridge.offer('buttons', false);
    const info = await (await fetch(`${bridge.url}/v1/info`, { headers })).json();
    expect(info).toMatchObject({ capabilities: { buttons: false, private_answers: false, delete: true } });
    expect(bridge.refusals()).toEqual([]);
    await fetch(`${bridge.url}/v1/messages`, { method: 'POST', headers, body: '{}' });
    expect(bridge.refusals()).toMatchObject([{ operation: 'postMessage', status: 400, body: '{}' }]);
  } finally {
    await bridge.close();
  }
});
