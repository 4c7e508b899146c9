/** Saved views of the list of Alert Groups and their shapes: own ones and shared ones (ui §3, api §4.2). */
import * as v from 'valibot';
import {
  MOST_OWN_VIEWS,
  MOST_SHARED_VIEWS,
  type SavedViewFields,
  type SavedViewSaving,
  type SavedViewStore,
  type StoredSavedView,
} from '../../../actors/alert-group/saved-views.ts';
import { text } from '../../../actors/schemas.ts';
import { formatInstant } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { invalid, preconditionFailed } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { name, nameErrors, publicId } from '../../schema/fields.ts';
import { UserRef } from '../../schema/shapes.ts';
import {
  byAge,
  configurationOperations,
  NAME_REFUSAL,
  PLACE_BY_AGE,
  type PlaceByAge,
  PlainQuery,
  type Saving,
} from '../configuration.ts';
import { userRef } from './bodies.ts';
import { holds, mayNot } from './commands.ts';

/** Characters of a query string. */
const LONGEST_QUERY = 4_096;
const TAG = 'Saved views';

const SavedViewInput = d.named(
  'SavedViewInput',
  v.object({
    name,
    query: d.described(
      text(LONGEST_QUERY),
      'Query string of the list in the UI without `?`, up to 4,096 characters.',
    ),
    shared: d.flag('Whether everybody sees it.'),
  }),
  'A saved view as it is saved.',
);
type SavedViewInput = v.InferOutput<typeof SavedViewInput>;

const SavedViewShape = d.named(
  'SavedView',
  v.object({
    id: d.id('VW'),
    name: d.text('Its name; unique among those of its owner.'),
    query: d.text('Query string of the list in the UI, without `?`.'),
    shared: d.flag('Whether everybody sees it.'),
    owner: d.described(UserRef, 'Who made it.'),
    is_default: d.flag('Whether your list begins with it.'),
    created_at: d.CREATED_AT,
    etag: d.VERSION,
  }),
  'Named filters, order and label columns of the list of Alert Groups.',
);

const DefaultViewInput = d.named(
  'DefaultViewInput',
  v.object({ view_id: d.described(v.nullable(publicId), 'One that you see; null for none.') }),
  'The view with which your list begins.',
);

function savedViewBody(
  { id, version, ownerId, fields, isDefault, createdAt }: StoredSavedView,
  { directory }: Pick<Call, 'directory'>,
): v.InferOutput<typeof SavedViewShape> {
  return {
    id,
    ...fields,
    owner: userRef(directory, ownerId),
    is_default: isDefault,
    created_at: formatInstant(createdAt),
    etag: `"${version}"`,
  };
}

export function savedViewOperations(store: SavedViewStore): readonly Operation[] {
  return [
    ...configurationOperations({
      names: ['SavedView', 'SavedViews'],
      tag: TAG,
      path: '/saved-views',
      needs: { read: 'user', write: 'session' },
      mayAlsoNeed: ['alert-groups:note', 'organization:write'],
      id: ['saved_view_id', 'VW'],
      noun: 'saved view',
      words: {
        create: ['Create a saved view', 'At most 50 of your own. Sharing needs `alert-groups:note`.'],
        get: ['Read a saved view', 'One of your own, or a shared one.'],
        update: ['Update a saved view', 'A shared one of somebody else needs `organization:write`.'],
        delete: ['Delete a saved view', 'A shared one of somebody else needs `organization:write`.'],
      },
      shape: SavedViewShape,
      input: SavedViewInput,
      refusals: { create: [NAME_REFUSAL], update: [NAME_REFUSAL] },
      list: {
        words: ['List your saved views and shared ones, oldest first', 'Those of others only when shared.'],
        answer: 'Saved views',
        query: PlainQuery,
        place: PLACE_BY_AGE,
        filters: () => ({}),
        page: async (call, after, limit) =>
          byAge(await store.page(meOf(call), after as PlaceByAge | null, limit)),
      },
      body: savedViewBody,
      read: (id, call) => store.read(meOf(call), id),
      async create(call) {
        const refusal = refusalOf(call, null);
        if (refusal) return { refuse: refusal };
        return savingOf(await store.create(meOf(call), fieldsOf(call.body), authorOf(call)));
      },
      async update(call, id) {
        const decide = (current: StoredSavedView) => {
          if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
          const refusal = refusalOf(call, current);
          return refusal ? { refuse: refusal } : { save: fieldsOf(call.body) };
        };
        const saving = await store.update<Answer>(meOf(call), id, decide, authorOf(call));
        return saving.outcome === 'refused' ? { refuse: saving.refusal } : savingOf(saving);
      },
      async remove(call, id, isCurrent) {
        const decide = (current: StoredSavedView) => {
          if (isCurrent && !isCurrent(current.version)) return { refuse: preconditionFailed() };
          return mayChange(call, current) ? null : { refuse: mayNot('organization:write') };
        };
        return store.remove<{ readonly refuse: Answer }>(meOf(call), id, decide, authorOf(call));
      },
    }),

    operation({
      id: 'setDefaultView',
      method: 'PUT',
      path: '/me/default-view',
      tag: TAG,
      summary: 'Choose the view with which your list begins',
      description: 'One of your own, or a shared one; when it goes, the list begins with none.',
      needs: 'session',
      body: DefaultViewInput,
      answers: { 204: { description: 'Chosen' } },
      async handle(call) {
        if (await store.setDefault(meOf(call), call.body.view_id)) return { status: 204 };
        const detail = 'There is no such view.';
        return invalid([{ pointer: '/view_id', code: 'unknown_id', detail }]);
      },
    }),
  ];
}

function meOf({ identity }: Pick<Call, 'identity'>): PublicId {
  if (!identity) throw new Error('a person calls operations on saved views');
  return identity.id;
}

function mayChange(call: Pick<Call, 'identity'>, current: StoredSavedView): boolean {
  return current.ownerId === meOf(call) || holds(call, 'organization:write');
}

/** Rights before meaning; whoever stops sharing needs no right to share. */
function refusalOf(call: Call<unknown, SavedViewInput>, current: StoredSavedView | null): Answer | null {
  const { body } = call;
  if (current && !mayChange(call, current)) return mayNot('organization:write');
  if (body.shared && !holds(call, 'alert-groups:note')) return mayNot('alert-groups:note');
  const errors = nameErrors(body.name);
  return errors.length > 0 ? invalid(errors) : null;
}

const fieldsOf = ({ name, query, shared }: SavedViewInput): SavedViewFields => ({
  ...{ name: name.trim(), query, shared },
});

function savingOf(saving: SavedViewSaving): Saving<StoredSavedView> {
  switch (saving.outcome) {
    case 'saved':
      return { saved: saving.view };
    case 'too_many':
      return { refuse: tooMany('', `You can have at most ${MOST_OWN_VIEWS} views.`) };
    case 'too_many_shared':
      return { refuse: tooMany('/shared', `There can be at most ${MOST_SHARED_VIEWS} shared views.`) };
    default:
      return saving.outcome;
  }
}

function tooMany(pointer: string, detail: string): Answer {
  return invalid([{ pointer, code: 'too_long', detail }]);
}
