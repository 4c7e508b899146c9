/** What the beat script answers, in the shape of {@link Picture}. */
import * as v from 'valibot';
import { SHARDS } from '../actor/index.ts';
import type { Member, Picture } from '../placement/coordination.ts';

const Shard = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(SHARDS - 1));

const Replica = v.pipe(
  v.tuple([v.string(), v.string(), v.string(), v.picklist([0, 1])]),
  v.transform(([id, boot, version, draining]) => ({ id, boot, version, isDraining: draining === 1 })),
);

const MemberText = v.pipe(v.string(), v.transform(memberOf));

const Round = v.pipe(
  v.tuple([
    v.literal('ok'),
    v.array(Replica),
    v.nullable(MemberText),
    v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    v.nullable(v.pipe(v.array(v.nullable(v.string())), v.length(SHARDS))),
    v.array(Shard),
  ]),
  v.transform(
    ([, replicas, leader, generation, targets, granted]): Picture => ({
      replicas: replicas.sort((one, other) => (one.id < other.id ? -1 : 1)),
      leader,
      generation,
      targets,
      granted,
    }),
  ),
);

/** The picture, `duplicate` when another boot of this id has a lease. */
export const BeatAnswer = v.union([
  v.pipe(
    v.tuple([v.literal('duplicate')]),
    v.transform(() => 'duplicate' as const),
  ),
  Round,
]);

/** The other way of {@link memberText}. */
function memberOf(text: string): Member {
  const [id = '', boot = ''] = text.split('/');
  return { id, boot };
}
