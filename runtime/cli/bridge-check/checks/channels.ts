/** C: checkChannel (bridge protocol §4). */
import { type Check, demand } from '../check.ts';
import { expectClass, expectSame, expectStatus } from '../expect.ts';
import { checkChannel, given, part } from '../requests.ts';

/** An id that a bridge which decodes twice, or not at all, gets wrong. */
const AWKWARD = 'a/b?c#d%2F';

export const CHANNEL_CHECKS: readonly Check[] = [
  {
    ...{
      id: 'C1',
      needs: ['channel'],
      level: 'must',
      text: 'checkChannel answers the channel with its id and a name',
    },
    async run(run) {
      const channel = given(run, 'channel');
      const answer = await checkChannel(run, channel);
      expectStatus(answer, 200);
      expectSame(String(answer.fields.channel_id), channel, 'channel_id');
      const { name } = answer.fields;
      demand(typeof name === 'string' && name !== '', 'name is missing or empty');
    },
  },
  {
    ...{ id: 'C2', needs: ['missing-channel'], level: 'must' },
    text: 'a channel that does not exist is forbidden, and the detail says why',
    async run(run) {
      const answer = await checkChannel(run, given(run, 'missingChannel'));
      expectClass(answer, 'forbidden');
      const { detail } = answer.fields;
      demand(typeof detail === 'string' && detail !== '', 'detail is missing or empty');
    },
  },
  {
    ...{ id: 'C3', needs: [], level: 'must' },
    text: 'an id with a slash, a question mark and percent signs is one path segment',
    async run(run) {
      const answer = await checkChannel(run, AWKWARD);
      if (answer.status !== 200) return expectClass(answer, 'forbidden');
      expectSame(String(answer.fields.channel_id), AWKWARD, 'channel_id');
    },
  },
  {
    ...{ id: 'C4', needs: ['channel', 'person'], level: 'must', text: 'checkChannel posts nothing' },
    async run(run) {
      const person = part(run, 'person');
      const before = await person.look();
      expectStatus(await checkChannel(run, given(run, 'channel')), 200);
      const isQuiet = await person.confirms(
        `The channel ${given(run, 'channel')} was just checked. Did nothing new appear in it?`,
        (messages) => messages.length === before?.length,
      );
      demand(isQuiet, 'something appeared in the channel');
    },
  },
];
