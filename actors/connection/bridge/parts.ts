/** Pieces of the bridge protocol's shapes (bridge protocol §2, bridge §3.2). */
import * as v from 'valibot';
import { codePoints } from '../../text.ts';

/** A text of so many code points. */
export function characters(least: number, most: number) {
  return v.pipe(
    v.string(),
    v.check((text) => {
      const length = codePoints(text);
      return length >= least && length <= most;
    }),
  );
}

/** An absolute http or https URL with a host. */
export function webAddress(most: number) {
  return v.pipe(
    characters(1, most),
    v.check((text) => {
      if (!URL.canParse(text)) return false;
      const { protocol, hostname } = new URL(text);
      return (protocol === 'http:' || protocol === 'https:') && hostname !== '';
    }),
  );
}

/** Opaque ids of messages, channels, Threads and accounts. The database has no zero character. */
export const externalId = v.pipe(
  characters(1, 512),
  v.check((id) => !id.includes('\0')),
);

/** A name that is only shown. */
const nameOf = (most: number) => v.pipe(characters(1, most), v.transform(withoutZeros));

/** A text as the database can hold it. */
export function withoutZeros(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

const absent = <Value>(schema: v.GenericSchema<unknown, Value>) => v.optional(v.nullable(schema), null);

export const PersonShape = v.object({
  external_id: externalId,
  username: absent(nameOf(320)),
  display_name: absent(nameOf(200)),
  bot: v.optional(v.nullable(v.boolean(), false), false),
});

/** An account of the messenger. */
export type Person = v.InferOutput<typeof PersonShape>;

/** Ids of events, as they may stand in a header. */
export const EVENT_ID = /^[!-~]{1,200}$/;
