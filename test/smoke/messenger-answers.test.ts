/** What people do in a messenger: the running service, a real database, and the reference bridge (bridge §7). */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { PEOPLE } from '../../runtime/cli/bridge-reference/messenger.ts';
import { type ReferenceBridge, startReferenceBridge } from '../fakes/reference-bridge.ts';
import { Api, type Json } from '../harness/api.ts';
import { attachChannel, repliesTo, rootsOf } from '../harness/bridge-channel.ts';
import { Sender } from '../harness/sender.ts';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const [ALICE, BOB] = PEOPLE.map(({ person }) => person);
if (!ALICE || !BOB) throw new Error('the reference bridge knows nobody');

let tocsin: Installation;
let api: Api;
let bridge: ReferenceBridge;
let sender: Sender;
let connectionId: string;

beforeAll(async () => {
  tocsin = new Installation();
  bridge = await startReferenceBridge();
  const ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  ({ connectionId } = await attachChannel(api, bridge));
});

afterEach(() => {
  expect(bridge.refusals()).toEqual([]);
});

afterAll(async () => {
  await tocsin.remove();
  await bridge.close();
});

/** The Root message of a group that was just posted, and the group. */
async function posted(name: string) {
  const alerts = [{ status: 'firing', labels: { alertname: name, severity: 'critical' } }] as const;
  expect(await sender.post({ groupKey: `{}:{alertname="${name}"}`, alerts })).toBe(202);
  const message = await until(`the message about ${name}`, async () => rootsOf(bridge, name)[0]);
  const { items } = await api.get(`/alert-groups?q=${name}`);
  return { message, id: items[0].id as string };
}

const groupOf = (id: string): Promise<Json> => api.get(`/alert-groups/${id}`);

/** What the bot said to one person, oldest first. */
function toldTo(person: string): readonly string[] {
  return bridge.messenger.posts.flatMap(({ kind, only_for, direct_with, body }) =>
    kind === 'answer' && (only_for === person || direct_with === person) ? [body] : [],
  );
}

async function toldNext(person: string, before: number): Promise<string | undefined> {
  await until('an answer', async () => toldTo(person).length > before);
  return toldTo(person).at(-1);
}

function press(
  message: { message_id: string; buttons: readonly { text: string; data: string }[] },
  name: string,
  person = ALICE,
) {
  const button = message.buttons.find(({ text }) => text === name);
  if (!button || !person) throw new Error(`there is no button ${name}`);
  bridge.acts.press(message.message_id, button.data, person);
}

test('a press of somebody whom Tocsin does not know is told where to link the account, and changes nothing', async () => {
  const { message, id } = await posted('Stranger');
  press(message, 'Ack', BOB);
  expect(await toldNext(BOB.external_id, 0)).toContain('/profile');
  expect((await groupOf(id)).status).toBe('firing');
});

test('an account is linked by a token in the direct chat; its presses act as that person', async () => {
  const { token } = await api.post('/me/account-links/bridge', {
    connection_id: connectionId,
    method: 'token',
  });
  bridge.acts.writeDirectly(0, token, ALICE);
  expect(await toldNext(ALICE.external_id, 0)).toMatch(/^Done, you are .* in Tocsin$/);
  const { items: links } = await api.get('/me/account-links');
  expect(links).toMatchObject([
    { external_id: ALICE.external_id, username: ALICE.username, last_used_at: null },
  ]);

  const { message, id } = await posted('Pressed');
  press(message, 'Ack');
  expect(await toldNext(ALICE.external_id, 1)).toBe('Done: Ack');
  await until('the edit', async () => message.heading?.status === 'acknowledged');
  const group = await groupOf(id);
  expect(group.status).toBe('acknowledged');
  expect(message.body).toContain(`Owner: ${ALICE.username}`);
  const { items } = await api.get(`/audit-log?action=alert_group.acknowledged&resource_id=${id}`);
  expect(items).toMatchObject([
    {
      ...{ actor: { kind: 'user', id: group.owner.id }, transport: 'bridge' },
      details: { external_id: ALICE.external_id, connection: { id: connectionId } },
    },
  ]);
  const answered = bridge.requests.findIndex(
    ({ operation, body }) => operation === 'answerEvent' && body.includes('Done: Ack'),
  );
  const edited = bridge.requests.findIndex(
    ({ operation, target }) =>
      operation === 'editMessage' && target.includes(encodeURIComponent(message.message_id)),
  );
  expect(answered).toBeLessThan(edited);
  expect((await api.get('/me/account-links')).items[0].last_used_at).not.toBeNull();

  press(message, 'Unack');
  expect(await toldNext(ALICE.external_id, 2)).toBe('Done: Unack');
  await until('the edit back', async () => message.heading?.status === 'firing');
});

test('words in the Thread become a Note, those of strangers do not', async () => {
  const { message, id } = await posted('Talked');
  bridge.acts.writeInThread(message.message_id, 'what is this?', BOB);
  bridge.acts.writeInThread(message.message_id, 'rolling back', ALICE);
  const notes = await until('the Note', async () => {
    const { items } = await api.get(`/alert-groups/${id}/notes`);
    return items.length > 0 ? items : null;
  });
  expect(notes).toMatchObject([{ body: 'rolling back', transport: 'bridge' }]);
  expect(repliesTo(bridge, message.message_id).filter(({ by }) => by === null)).toEqual([]);
});

test('a button of another message, and one that nobody signed, do nothing', async () => {
  const [one, other] = [await posted('One'), await posted('Other')];
  const before = toldTo(ALICE.external_id).length;
  const [button] = one.message.buttons;
  bridge.acts.press(other.message.message_id, button?.data ?? '', ALICE);
  expect(await toldNext(ALICE.external_id, before)).toBe('This button is not valid here, nothing happened');
  expect([(await groupOf(one.id)).status, (await groupOf(other.id)).status]).toEqual(['firing', 'firing']);
});

test('once the link is removed, a press is one of a stranger', async () => {
  const { items } = await api.get('/me/account-links');
  await api.call('DELETE', `/me/account-links/${items[0].id}`);
  const { message, id } = await posted('Unlinked');
  const before = toldTo(ALICE.external_id).length;
  press(message, 'Resolve');
  expect(await toldNext(ALICE.external_id, before)).toContain('does not know who you are here');
  expect((await groupOf(id)).status).toBe('firing');
});
