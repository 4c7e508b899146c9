/** The form of template mode: the requests that people write, and what is sent of them. */
import type { ExtractionRule, RequestTemplate, TemplateInput } from '../../api/shapes.ts';

export const ROLES = ['create', 'update', 'open_thread', 'reply_in_thread'] as const;
export type Role = (typeof ROLES)[number];

export interface RequestDraft {
  request: string;
  extract: ExtractionRule[];
}

export type TemplateDraft = Record<Role, RequestDraft | null>;

/** Roles whose answers values are taken from. */
export function extracts(role: Role): boolean {
  return role === 'create' || role === 'open_thread';
}

export function isRequired(role: Role): boolean {
  return role === 'create' || role === 'update';
}

const HEAD = 'Authorization: Bearer {{ .Secrets.token }}\n\n';
const STORM = '{{ printf "%d new Alert Groups: %s" .Storm.AlertGroupCount .Storm.URL | toJson }}';
const told = (text: string) => `${HEAD}{"text": {{ if .Storm }}${STORM}{{ else }}${text}{{ end }}}`;

/** Something to begin with, for a chat with an interface of the usual kind. */
const STARTERS: Readonly<Record<Role, string>> = {
  create: `POST https://chat.example.org/messages\n${told('{{ printf "#%d %s" .AlertGroup.Number .AlertGroup.Title | toJson }}')}`,
  update: `PUT https://chat.example.org/messages/{{ .Response.id }}\n${told('{{ printf "#%d %s: %s %s" .AlertGroup.Number .AlertGroup.Title .AlertGroup.Status .Final | toJson }}')}`,
  open_thread: `POST https://chat.example.org/messages/{{ .Response.id }}/thread\n${HEAD.trim()}`,
  reply_in_thread: `POST https://chat.example.org/messages/{{ .Response.id }}/replies\n${HEAD}{"text": {{ toJson .Text }}}`,
};

export function starter(role: Role): RequestDraft {
  const extract = role === 'create' ? [{ name: 'id', path: '$.id' }] : [];
  return { request: STARTERS[role], extract };
}

export function toTemplateDraft(template: TemplateInput | null | undefined): TemplateDraft {
  if (!template) {
    return { create: starter('create'), update: starter('update'), open_thread: null, reply_in_thread: null };
  }
  const { create, update, open_thread, reply_in_thread } = template;
  return {
    create: requestDraft(create),
    update: requestDraft(update),
    open_thread: requestDraft(open_thread),
    reply_in_thread: requestDraft(reply_in_thread),
  };
}

function requestDraft(request: RequestTemplate | null): RequestDraft | null {
  return request && { request: request.request, extract: [...(request.extract ?? [])] };
}

/** Rows without anything in them are left out. */
export function fromTemplateDraft(draft: TemplateDraft): TemplateInput {
  const { create, update } = draft;
  if (!create || !update) throw new Error('create and update cannot be taken away');
  return {
    create: extracting(create),
    update: { request: update.request },
    open_thread: draft.open_thread && extracting(draft.open_thread),
    reply_in_thread: draft.reply_in_thread && { request: draft.reply_in_thread.request },
  };
}

function extracting({ request, extract }: RequestDraft): RequestTemplate {
  return { request, extract: extract.filter(({ name, path }) => name !== '' || path !== '') };
}
