/** A responder at a terminal: `tocsin groups` against a running service. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../../runtime/cli/command.ts';
import { groupsCommands } from '../../runtime/cli/groups/commands.ts';
import { Api, type Json } from '../harness/api.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const tocsin = new Installation();
const home = mkdtempSync(path.join(tmpdir(), 'tocsin-home-'));
let admin: Api;
let group: Json;
let url = '';
let token = '';

async function run(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCommandLine(['groups', ...words], groupsCommands, {
    env: { HOME: home, SVC_API_URL: url, SVC_API_TOKEN: token, ...env },
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  });
  return { code, out, err: err.join('\n') };
}

beforeAll(async () => {
  const ready = await tocsin.start();
  url = ready.app_url;
  admin = await Api.signIn(ready);
  const permissions = ['acknowledge', 'resolve', 'snooze', 'note'].map((verb) => `alert-groups:${verb}`);
  const made = await admin.post('/me/personal-access-tokens', {
    name: 'terminal',
    permissions: ['alert-groups:read', ...permissions],
  });
  token = made.value;
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const labels = { alertname: 'Disk\u001b[2J\u202eFull', severity: 'warning' };
  expect(await sender.post({ groupKey: '{}:{alertname="DiskFull"}', alerts: [{ labels }] })).toBe(202);
  group = await until('the Alert Group', async () => (await admin.get('/alert-groups')).items[0]);
});

afterAll(async () => {
  await tocsin.remove();
  rmSync(home, { recursive: true, force: true });
});

test('lists and shows groups, without what a terminal would obey', async () => {
  const { code, out } = await run(['list']);
  expect([code, out.length]).toEqual([0, 2]);
  expect(out[0]).toMatch(/^GROUP +STATUS +SEVERITY +URGENT +STARTED +ROUTE +OWNER +TITLE$/);
  expect(out[1]).toMatch(/^#1 +firing +warning +- +\d{4}-\d\d-\d\d \d\d:\d\d +Default\b.* +- +Disk.*Full$/);
  expect(out.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  const shown = await run(['show', '#1']);
  expect([shown.code, shown.out[0]]).toEqual([0, expect.stringMatching(/^#1 {2}Disk.*Full$/)]);
  const json = JSON.parse((await run(['show', group.id, '--json'])).out.join(''));
  expect(json).toEqual(await admin.get(`/alert-groups/${group.id}`));
  expect(JSON.parse((await run(['list', '--json'])).out.join('')).items).toHaveLength(1);
});

test('acknowledges, snoozes, notes and resolves, as the person of the token from a terminal', async () => {
  expect((await run(['acknowledge', '#1'])).out).toEqual(['#1: done, now acknowledged']);
  expect((await run(['list', '--mine', '--status', 'acknowledged'])).out).toHaveLength(2);
  expect((await run(['unacknowledge', '1'])).out).toEqual(['#1: done, now firing']);
  expect((await run(['snooze', '#1', '--for', '2h'])).out).toEqual(['#1: done, now snoozed']);
  expect((await run(['list'])).out[1]).toMatch(/ snoozed until \d{4}-\d\d-\d\d \d\d:\d\d /);
  expect((await run(['unsnooze', '#1'])).out).toEqual(['#1: done, now firing']);
  expect((await run(['note', '#1', 'Looking.'])).out).toEqual(['Added.']);
  const resolved = JSON.parse((await run(['resolve', '#1', '--note', 'Fixed.', '--json'])).out.join(''));
  expect(resolved).toMatchObject({ outcome: 'done', alert_group: { status: 'resolved' } });
  const { items } = await admin.get('/audit-log?action=alert_group.resolved');
  expect(items[0]).toMatchObject({ transport: 'cli', token_name: 'terminal' });
  expect((await admin.get(`/alert-groups/${group.id}/notes`)).items).toHaveLength(2);
});

test('says what is refused and exits with 1', async () => {
  const again = await run(['resolve', '#1']);
  expect([again.code, again.out, again.err]).toEqual([1, [], expect.stringContaining('resolved')]);
  expect(await run(['show', '#99'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('no Alert Group #99'),
  });
  expect(await run(['show', 'nonsense'])).toMatchObject({ code: 1 });
  expect(await run(['list'], { SVC_API_TOKEN: 'svc_pat_wrong' })).toMatchObject({ code: 1 });
  expect(await run(['list'], { SVC_API_URL: 'http://127.0.0.1:1' })).toMatchObject({
    code: 1,
    err: expect.stringContaining('does not answer'),
  });
});

test('wrong words are told with exit code 2', async () => {
  expect(await run(['show'])).toMatchObject({ code: 2 });
  expect(await run(['snooze', '#1'])).toMatchObject({ code: 2, err: expect.stringContaining('exactly one') });
  expect(await run(['snooze', '#1', '--for', 'ever'])).toMatchObject({ code: 2 });
  for (const words of [
    ['--status', 'foo'],
    ['--limit', '600'],
    ['--limit', 'x'],
  ])
    expect(await run(['list', ...words])).toMatchObject({ code: 2, err: expect.stringContaining('takes') });
  expect(await run(['snooze', '#1', '--preset', 'ever'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('one of tomorrow, week_start'),
  });
  expect(await run(['melt', '#1'])).toMatchObject({ code: 2, err: expect.stringContaining('groups list') });
});

test('takes address and token from a file that only its owner may read', async () => {
  const folder = path.join(home, '.config', 'tocsin');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'cli.json');
  writeFileSync(file, JSON.stringify({ api_url: url, token }), { mode: 0o600 });
  const unset = { SVC_API_URL: '', SVC_API_TOKEN: '' };
  expect((await run(['list', '--status', 'resolved'], unset)).out).toHaveLength(2);
  chmodSync(file, 0o644);
  expect(await run(['list'], unset)).toMatchObject({ code: 1, err: expect.stringContaining('chmod 600') });
});
