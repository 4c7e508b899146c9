/** The form of template mode: the requests that people write, and what is sent of them. */
import type { ExtractionRule, RequestTemplate, TemplateInput } from '../../api/shapes.ts';
import { same } from '../../forms/pointers.ts';

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

/** Something to begin with, for an interface of the usual kind. */
const STARTERS = {
  chat: {
    create: `POST https://chat.example.org/messages\n${told('{{ printf "#%d %s" .AlertGroup.Number .AlertGroup.Title | toJson }}')}`,
    update: `PUT https://chat.example.org/messages/{{ .Response.id }}\n${told('{{ printf "#%d %s: %s %s" .AlertGroup.Number .AlertGroup.Title .AlertGroup.Status .Final | toJson }}')}`,
    open_thread: `POST https://chat.example.org/messages/{{ .Response.id }}/thread\n${HEAD.trim()}`,
    reply_in_thread: `POST https://chat.example.org/messages/{{ .Response.id }}/replies\n${HEAD}{"text": {{ toJson .Text }}}`,
  },
  issues: {
    create: `POST https://tracker.example.org/api/issues\n${HEAD}{"title": {{ if .Storm }}${STORM}{{ else }}{{ toJson .AlertGroup.Title }}{{ end }},
 "description": {{ if .Storm }}{{ toJson .Storm.URL }}{{ else }}{{ printf "%s\\n%s" .AlertGroup.Summary .AlertGroup.URL | toJson }}{{ end }}}`,
    update: `PATCH https://tracker.example.org/api/issues/{{ .Response.id }}\n${HEAD}{"state": {{ if eq .Status "resolved" }}"closed"{{ else }}"open"{{ end }}}`,
    open_thread: null,
    reply_in_thread: `POST https://tracker.example.org/api/issues/{{ .Response.id }}/comments\n${HEAD}{"body": {{ toJson .Text }}}`,
  },
  status_page: {
    create: `POST https://status.example.org/api/incidents\n${HEAD}{"name": {{ if .Storm }}${STORM}{{ else }}{{ toJson .AlertGroup.Title }}{{ end }}, "status": "investigating"}`,
    update: `PATCH https://status.example.org/api/incidents/{{ .Response.id }}\n${HEAD}{"status": {{ if eq .Status "resolved" }}"resolved"{{ else if .Storm }}"investigating"{{ else if .AlertGroup.Owner }}"identified"{{ else }}"investigating"{{ end }}}`,
    open_thread: null,
    reply_in_thread: null,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<Role, string | null>>>>;

export type Example = keyof typeof STARTERS;
export const EXAMPLES = Object.keys(STARTERS) as readonly Example[];

/** The requests of an example, for what the receiver is. */
export function exampleOf(name: Example): TemplateDraft {
  const { create, update, open_thread, reply_in_thread } = STARTERS[name];
  return {
    create: { request: create, extract: [{ name: 'id', path: '$.id' }] },
    update: { request: update, extract: [] },
    open_thread: open_thread === null ? null : { request: open_thread, extract: [] },
    reply_in_thread: reply_in_thread === null ? null : { request: reply_in_thread, extract: [] },
  };
}

/** The example that a draft still is, word for word; null once somebody wrote something. */
export function untouched(draft: TemplateDraft): Example | null {
  if (same(fromTemplateDraft(draft), fromTemplateDraft(toTemplateDraft(null)))) return 'chat';
  return EXAMPLES.find((name) => same(fromTemplateDraft(draft), fromTemplateDraft(exampleOf(name)))) ?? null;
}

export function starter(role: Role): RequestDraft {
  const extract = role === 'create' ? [{ name: 'id', path: '$.id' }] : [];
  return { request: STARTERS.chat[role], extract };
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
