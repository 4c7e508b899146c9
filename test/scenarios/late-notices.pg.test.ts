/** Notices that wait until they are no longer so, in the channel of a bridge and in a chat of requests (messages §7.1). */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startReferenceBridge } from '../fakes/reference-bridge.ts';
import { startTemplateReceiver } from '../fakes/template-receiver.ts';
import { Scenario } from './scenario.ts';
import { useWorld } from './world.ts';

const world = useWorld();
/** One call in an hour. */
const SLOW = { limit: 1, per_seconds: 3600 };

test('a notice that is sent once somebody has the Alert Group says so, and notifies nobody', async () => {
  const { admin } = world();
  // The bridge is not polled: business time makes leaps.
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const bridge = await startReferenceBridge({ push: { url: 'http://127.0.0.1:9/', secret } });
  const chat = await startTemplateReceiver();
  const connection = await admin.post('/connections', {
    ...{ type: 'bridge', name: 'bridge', base_url: bridge.url, bot_token: bridge.token },
    ...{ event_mode: 'push', push_secret: secret, proxy: { enabled: false } },
  });
  const s = await Scenario.open(world());
  const channel = { connection_id: connection.id, channel_id: 'alerts/prod' };
  const template = {
    create: { request: `POST ${chat.url}/messages\n\n{}`, extract: [{ name: 'id', path: '$.data.id' }] },
    update: { request: `PUT ${chat.url}/messages/{{ .Response.id }}\n\n{{ .AlertGroup.Status }}` },
    reply_in_thread: {
      request: `POST ${chat.url}/threads/t{{ .Response.id }}\n\n{{ .Event }} {{ .Notify }} {{ .Text }}`,
    },
  };
  const made = [
    await admin.post('/destinations', { type: 'bridge', name: 'channel', ...channel, limiter: SLOW }),
    await admin.post('/destinations', {
      ...{ type: 'webhook', name: 'chat', mode: 'template', template, limiter: SLOW },
    }),
  ].map(({ destination }) => destination.id);
  await s.edit((route) => ({ ...route, destination_ids: made }));

  await s.play('t0 +X1; t16; t20 Ann acknowledges #1; t59');
  const replies = () => bridge.messenger.posts.filter(({ kind }) => kind === 'reply');
  expect(replies()).toEqual([]);
  await s.play('t62');
  const late = /This notice is late: at \S+ \d\d:\d\d UTC #1 X had no owner\.\s+Owner: Ann/;
  expect(replies()).toMatchObject([{ notify: false, mentions: [], buttons: [] }]);
  expect(replies()[0]?.body.replaceAll('\\', '')).toMatch(late);
  const [told] = chat.of('reply_in_thread', '');
  expect(told?.body).toMatch(/^ack_timeout false /);
  expect(told?.body).toMatch(late);

  await s.close();
  for (const id of made) await admin.call('DELETE', `/destinations/${id}`);
  await world().settle();
  expect([bridge.refusals(), chat.faults]).toEqual([[], []]);
  await bridge.close();
  await chat.close();
});
