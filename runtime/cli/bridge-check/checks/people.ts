/** F, M and A: findPerson, sendDirectMessage and answerEvent without an event (bridge §2.1). */
import { demand, isObject } from '../client.ts';
import { expectClass, expectCreated, expectReplay, expectStatus, isId } from '../expect.ts';
import { answerEvent, findPerson, given, newKey, sendDirectly } from '../requests.ts';
import type { Check, Run } from '../run.ts';

const LONGEST_HANDLE = 320;
const LONGEST_DIRECT = 2000;
const LONGEST_ANSWER = 500;
const NOBODY = 'no-such-person';

/** The one account that the operator named. @returns its external_id */
async function namedPerson(run: Run): Promise<string> {
  const answer = await findPerson(run, given(run, 'handle'));
  expectStatus(answer, 200);
  const { items } = answer.fields;
  demand(Array.isArray(items) && items.length === 1, 'items does not hold exactly one person');
  const id: unknown = isObject(items[0]) ? items[0].external_id : undefined;
  demand(isId(id), 'external_id is not a string of 1 to 512 characters');
  return id;
}

export const PEOPLE_CHECKS: readonly Check[] = [
  {
    ...{
      id: 'F1',
      needs: ['user_lookup', 'handle'],
      level: 'must',
      text: 'findPerson finds the one person with a handle',
    },
    run: async (run) => void (await namedPerson(run)),
  },
  {
    ...{
      id: 'F2',
      needs: ['user_lookup', 'unknown-handle'],
      level: 'must',
      text: 'nobody is found for an unknown handle',
    },
    async run(run) {
      const answer = await findPerson(run, given(run, 'unknownHandle'));
      expectStatus(answer, 200);
      const { items } = answer.fields;
      demand(Array.isArray(items) && items.length === 0, 'items is not an empty array');
    },
  },
  {
    ...{
      id: 'F3',
      needs: ['user_lookup'],
      level: 'must',
      text: 'an empty handle and one of 321 characters are invalid',
    },
    async run(run) {
      expectClass(await findPerson(run, ''), 'invalid');
      expectClass(await findPerson(run, 'h'.repeat(LONGEST_HANDLE + 1)), 'invalid');
    },
  },
  {
    ...{
      id: 'F4',
      needs: ['user_lookup', 'handle'],
      level: 'must',
      text: 'the id of a person is the same every time',
    },
    async run(run) {
      const first = await namedPerson(run);
      demand((await namedPerson(run)) === first, 'external_id differs');
    },
  },
  {
    ...{
      id: 'M1',
      needs: ['bot_can_start', 'user_lookup', 'handle'],
      level: 'must',
      text: 'a direct message is sent, and replayed by its key',
    },
    async run(run) {
      const user_external_id = await namedPerson(run);
      const key = newKey(run);
      const body = { user_external_id, body: 'Bridge check: this is a direct message\\.' };
      const first = expectCreated(await sendDirectly(run, body, key));
      expectReplay(first.replayed, false);
      expectReplay(expectCreated(await sendDirectly(run, body, key)).replayed, true);
    },
  },
  {
    ...{ id: 'M2', needs: ['bot_can_start'], level: 'must', text: 'a direct message to nobody is forbidden' },
    run: async (run) =>
      expectClass(await sendDirectly(run, { user_external_id: NOBODY, body: 'Bridge check' }), 'forbidden'),
  },
  {
    ...{ id: 'M3', needs: ['bot_can_start'], level: 'must' },
    text: 'a direct message of 2,001 characters and an empty one are invalid',
    async run(run) {
      const isFindable = run.given.handle !== null && run.declared.userLookup !== 'none';
      const user_external_id = isFindable ? await namedPerson(run) : NOBODY;
      expectClass(
        await sendDirectly(run, { user_external_id, body: 'x'.repeat(LONGEST_DIRECT + 1) }),
        'invalid',
      );
      expectClass(await sendDirectly(run, { user_external_id, body: '' }), 'invalid');
    },
  },
  {
    ...{
      id: 'A1',
      needs: [],
      level: 'must',
      text: 'the answer to an event that the bridge does not know is gone',
    },
    run: async (run) =>
      expectClass(await answerEvent(run, { event_id: 'no-such-event', text: 'Bridge check' }), 'gone'),
  },
  {
    ...{ id: 'A2', needs: [], level: 'must' },
    text: 'an answer of 501 characters and an event_id with a space are invalid',
    async run(run) {
      const long = { event_id: 'no-such-event', text: 'x'.repeat(LONGEST_ANSWER + 1) };
      expectClass(await answerEvent(run, long), 'invalid');
      expectClass(await answerEvent(run, { event_id: 'no such event', text: 'Bridge check' }), 'invalid');
    },
  },
];
