/**
 * List, create, read, update and delete of a configuration resource, made from its shapes and its store (api §1, §4). What
 * differs between resources is what a {@link ConfigurationResource} says; If-Match, the refusals that every resource has,
 * answers, cursors and permissions are the same for all.
 */
import * as v from 'valibot';
import type { PublicId } from '../../runtime/public-id.ts';
import {
  type Answer,
  type AnswerShape,
  type Call,
  type Needs,
  type Operation,
  operation,
} from '../operation.ts';
import type { Permission } from '../permissions.ts';
import { conflict, notFound, type ProblemType, preconditionFailed } from '../problem.ts';
import type { Schema } from '../schema/described.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../schema/page.ts';
import { pageOf } from '../schema/shapes.ts';

type Words = readonly [summary: string, description: string];
type Refusals = NonNullable<Operation['refusals']>;
type Output<S extends Schema> = v.InferOutput<S>;

/** What came of saving: the item as it is now, or the answer that says why not. */
export type Saving<Item> =
  | { readonly saved: Item; readonly body?: unknown }
  | { readonly refuse: Answer }
  | 'unknown'
  | 'stale'
  | 'name_taken';

/** What came of deleting. */
export type Removing = 'unknown' | 'stale' | 'removed' | { readonly refuse: Answer };

export interface ConfigurationResource<Item, Query extends Schema, Input extends Schema> {
  /** As operation ids say it: `Connection`, `Connections`. */
  readonly names: readonly [one: string, many: string];
  readonly tag: string;
  /** Below /api/v1; names the Permissions `<path>:read` and `<path>:write`, too, unless {@link needs} is given. */
  readonly path: string;
  /** What reads and changes need in place of those Permissions. */
  readonly needs?: { readonly read: Needs; readonly write: Needs };
  /** Of changes: Permissions that the handler checks itself. */
  readonly mayAlsoNeed?: readonly Permission[];
  /** Its path parameter, and the prefix of its ids. */
  readonly id: readonly [parameter: string, prefix: string];
  /** In words, as the descriptions of answers say it: `Connection`. */
  readonly noun: string;
  readonly words: Readonly<Record<'create' | 'get' | 'update' | 'delete', Words>>;
  readonly shape: Schema;
  readonly input: Input;
  /** What a creation answers when that is more than the item. */
  readonly created?: AnswerShape;
  readonly refusals: Readonly<Partial<Record<'create' | 'update' | 'delete', Refusals>>>;
  readonly list?: Listing<Item, Query>;
  body(item: Item, call: Pick<Call, 'directory'>): unknown;
  read(id: PublicId, call: Call): Promise<Item | null>;
  create(call: Call<unknown, Output<Input>>): Promise<Saving<Item>>;
  /** Judges `If-Match` itself: stale before meaning (api §1.3). */
  update(call: Call<unknown, Output<Input>>, id: PublicId): Promise<Saving<Item>>;
  remove(call: Call, id: PublicId, isCurrent: IsCurrent): Promise<Removing>;
}

/** Null without `If-Match`. */
type IsCurrent = ((version: number) => boolean) | null;

interface Listing<Item, Query extends Schema> {
  readonly words: Words;
  /** Description of the answer. */
  readonly answer: string;
  readonly query: Query;
  /** The most of a page; 200 by default. */
  readonly most?: number;
  /** The place behind which a page begins, in a cursor. */
  readonly place: v.GenericSchema<readonly unknown[]>;
  /** What a cursor belongs to. */
  filters(query: Output<Query>): object;
  page(
    call: Call<Output<Query>>,
    after: readonly unknown[] | null,
    limit: number,
  ): Promise<{ readonly items: readonly Item[]; readonly next: readonly (string | number)[] | null }>;
}

interface Versioned {
  readonly id: PublicId;
  readonly version: number;
}

/** The query of a list without filters. */
export const PlainQuery = v.object(pageQuery);

/** The refusal of a name that another has, for the table of operations. */
export const NAME_REFUSAL = [409, 'conflict', 'name_taken'] as const satisfies readonly [
  number,
  ProblemType,
  string,
];

export function nameTaken(noun: string) {
  return conflict('name_taken', `Another ${noun} has this name. Choose a different one.`);
}

export function configurationOperations<Item extends Versioned, Query extends Schema, Input extends Schema>(
  resource: ConfigurationResource<Item, Query, Input>,
): readonly Operation[] {
  const { names, tag, path, id, noun, words, shape, input, refusals } = resource;
  const [one] = names;
  const name = path.slice(1);
  const { read: reads, write: writes } = resource.needs ?? {
    read: `${name}:read` as Permission,
    write: `${name}:write` as Permission,
  };
  const mayAlsoNeed = resource.mayAlsoNeed ? { mayAlsoNeed: resource.mayAlsoNeed } : {};
  const [parameter, prefix] = id;
  const ofOne = { path: `${path}/{${parameter}}`, tag, ids: { [parameter]: prefix } } as const;
  const answered = { description: `The ${noun}`, schema: shape, etag: true } as const;
  const idOf = (call: Pick<Call, 'params'>) => call.params[parameter] as PublicId;
  const answer = (status: number, item: Item, call: Pick<Call, 'directory'>): Answer => ({
    status,
    body: resource.body(item, call),
    etag: item.version,
  });
  const said = ([summary, description]: Words) => ({ summary, description });
  const refusedAs = (saving: Exclude<Saving<Item>, { saved: Item }>): Answer => {
    if (saving === 'unknown') return notFound();
    if (saving === 'stale') return preconditionFailed();
    return saving === 'name_taken' ? nameTaken(noun) : saving.refuse;
  };

  return [
    ...(resource.list ? [listOperation(resource, resource.list, reads)] : []),

    operation({
      id: `create${one}`,
      method: 'POST',
      path,
      tag,
      ...said(words.create),
      needs: writes,
      ...mayAlsoNeed,
      body: input as Schema,
      answers: { 201: resource.created ?? answered },
      ...(refusals.create ? { refusals: refusals.create } : {}),
      async handle(call) {
        const saving = await resource.create(call as Call<unknown, Output<Input>>);
        if (typeof saving === 'string' || 'refuse' in saving) return refusedAs(saving);
        const { saved, body = resource.body(saved, call) } = saving;
        return { status: 201, body, etag: saved.version, location: `/api/v1${path}/${saved.id}` };
      },
    }),

    operation({
      id: `get${one}`,
      method: 'GET',
      ...ofOne,
      ...said(words.get),
      needs: reads,
      answers: { 200: answered },
      async handle(call) {
        const item = await resource.read(idOf(call), call);
        return item ? answer(200, item, call) : notFound();
      },
    }),

    operation({
      id: `update${one}`,
      method: 'PUT',
      ...ofOne,
      ...said(words.update),
      needs: writes,
      ...mayAlsoNeed,
      ifMatch: 'required',
      body: input as Schema,
      answers: { 200: answered },
      ...(refusals.update ? { refusals: refusals.update } : {}),
      async handle(call) {
        const saving = await resource.update(call as Call<unknown, Output<Input>>, idOf(call));
        if (typeof saving === 'string' || 'refuse' in saving) return refusedAs(saving);
        return answer(200, saving.saved, call);
      },
    }),

    operation({
      id: `delete${one}`,
      method: 'DELETE',
      ...ofOne,
      ...said(words.delete),
      needs: writes,
      ...mayAlsoNeed,
      ifMatch: 'optional',
      answers: { 204: { description: 'Deleted' } },
      ...(refusals.delete ? { refusals: refusals.delete } : {}),
      async handle(call) {
        const { ifMatch } = call;
        const isCurrent = ifMatch && ((version: number) => ifMatch.matches(version));
        const removing = await resource.remove(call, idOf(call), isCurrent);
        return removing === 'removed' ? { status: 204 } : refusedAs(removing);
      },
    }),
  ];
}

function listOperation<Item extends Versioned, Query extends Schema, Input extends Schema>(
  { names, tag, path, shape, body }: ConfigurationResource<Item, Query, Input>,
  { words, answer, query, most, place, filters, page }: Listing<Item, Query>,
  needs: Needs,
): Operation {
  const kind = path.slice(1);
  return operation({
    id: `list${names[1]}`,
    method: 'GET',
    path,
    tag,
    summary: words[0],
    description: words[1],
    needs,
    query: query as Schema,
    answers: { 200: { description: answer, schema: pageOf(shape) } },
    async handle(call) {
      const asked = call as Call<Output<Query>>;
      const { cursor, limit = most ?? DEFAULT_LIMIT } = call.query as v.InferOutput<typeof PlainQuery>;
      const within = filters(asked.query);
      const after = cursor === undefined ? null : v.safeParse(place, decodeCursor(kind, within, cursor));
      if (after && !after.success) return INVALID_CURSOR;
      const found = await page(asked, after?.output ?? null, Math.min(limit, most ?? limit));
      return {
        status: 200,
        body: {
          items: found.items.map((item) => body(item, call)),
          next_cursor: found.next && encodeCursor(kind, within, found.next),
        },
      };
    },
  });
}

/** The place of an item in a list by age. */
export const PLACE_BY_AGE = v.tuple([v.number(), v.string()]);
export type PlaceByAge = v.InferOutput<typeof PLACE_BY_AGE>;

/** The page of a list by age, from a store that says whether there are more. */
export function byAge<Item extends { readonly createdAt: number; readonly id: PublicId }>({
  items,
  more,
}: {
  readonly items: readonly Item[];
  readonly more: boolean;
}) {
  const last = more ? items.at(-1) : undefined;
  return { items, next: last ? ([last.createdAt, last.id] as const) : null };
}
