/** Notes on an Alert Group (Alert Group chapter §6.5, api §12). */
import * as v from 'valibot';
import { type Operation, operation } from '../operation.ts';
import { pageQuery } from '../page.ts';
import { notFound } from '../problem.ts';
import { pageOf } from '../shapes.ts';
import { askGroup, blank } from './alert-groups-commands.ts';
import { type AlertGroupOperationsDeps, GROUP_IDS, groupIdOf, TAG } from './alert-groups-deps.ts';
import { isBlank, noteText } from './alert-groups-note-text.ts';
import { pageAnswer } from './alert-groups-pages.ts';
import { NoteShape } from './alert-groups-shapes.ts';
import { noteBody } from './alert-groups-timeline-body.ts';

export function noteOperations(deps: AlertGroupOperationsDeps): readonly Operation[] {
  const { reader } = deps;
  return [
    operation({
      id: 'listNotes',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/notes',
      tag: TAG,
      summary: 'List the Notes of an Alert Group, newest first',
      needs: 'alert-groups:read',
      ids: GROUP_IDS,
      query: v.object(pageQuery),
      answers: { 200: { description: 'A page of Notes', schema: pageOf(NoteShape) } },
      handle: (call) =>
        pageAnswer(deps, call, {
          list: 'notes',
          filters: {},
          read: (asked) => reader.notes(asked),
          body: (note) => noteBody(note, call.directory),
        }),
    }),

    operation({
      id: 'addNote',
      method: 'POST',
      path: '/alert-groups/{alert_group_id}/notes',
      tag: TAG,
      summary: 'Add a Note to an Alert Group',
      needs: 'alert-groups:note',
      ids: GROUP_IDS,
      body: v.object({ body: noteText }),
      validatesFirst: true,
      command: 'add_note',
      answers: { 201: { description: 'The Note', schema: NoteShape } },
      async handle(call) {
        const id = groupIdOf(call);
        const { body } = call.body;
        if (isBlank(body)) return (await reader.read(id)) ? blank('/body') : notFound();
        const outcome = await askGroup(deps, call, id, { name: 'add_note', body });
        if (outcome.outcome !== 'done' || !outcome.noteId) return notFound();
        const note = await reader.note(id, outcome.noteId);
        return note ? { status: 201, body: noteBody(note, call.directory) } : notFound();
      },
    }),
  ];
}
