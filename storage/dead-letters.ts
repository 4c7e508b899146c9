import { addressText, type DeadLetterRecorded } from '../runtime/actor/index.ts';
import { numberArray, textArray } from './array-literals.ts';
import { jsonTexts } from './json-text.ts';
import type { RecordWriter } from './records.ts';

/** Keeps messages that were set aside, so that somebody can look at them. */
export const deadLetters: RecordWriter = {
  types: ['dead_letter.recorded'],
  async write(tx, effects) {
    const letters = effects as readonly DeadLetterRecorded[];
    await tx`
      insert into dead_letters (at, receiver_kind, receiver_key, sender, message, error)
      select at, kind, key, sender, message::jsonb, error
      from rows from (
        unnest(${numberArray(letters.map(({ at }) => at))}::bigint[]),
        unnest(${textArray(letters.map(({ to }) => to.kind))}::text[]),
        unnest(${textArray(letters.map(({ to }) => to.key))}::text[]),
        unnest(${textArray(letters.map(({ from }) => (from === null ? null : addressText(from))))}::text[]),
        unnest(string_to_array(${jsonTexts(letters.map(({ message }) => message))}, chr(1))),
        unnest(${textArray(letters.map(({ error }) => error.replaceAll('\0', '\ufffd')))}::text[])
      ) as letter (at, kind, key, sender, message, error)`;
  },
};
