/** What a template makes of a sample; nothing is stored (seed 2 §2.12, templates §10, api §16). */
import * as v from 'valibot';
import type { TemplatePreview, TemplatePreviewer } from '../../actors/previews/preview.ts';
import { integer } from '../../actors/schemas.ts';
import { publicId } from '../fields.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { type FieldError, invalid, notFound } from '../problem.ts';

export interface TemplatePreviewDeps {
  readonly preview: TemplatePreviewer;
}

const FORMATS = ['markdown', 'html', 'commonmark'] as const;

const PreviewInput = v.object({
  kind: v.picklist(['root_message', 'line', 'ack_timeout_notice', 'link_rule', 'webhook_request']),
  template: v.string(),
  format: v.optional(v.nullable(v.picklist(FORMATS))),
  route_id: v.optional(v.nullable(publicId)),
  stored_snapshot_id: v.optional(v.nullable(publicId)),
  alert_group_id: v.optional(v.nullable(publicId)),
  language: v.optional(v.nullable(v.picklist(['en', 'ru']))),
  length_limit: v.optional(v.nullable(integer(1, Number.MAX_SAFE_INTEGER))),
});
type PreviewInput = v.InferOutput<typeof PreviewInput>;

const PreviewShape = v.object({
  valid: v.boolean(),
  output: v.nullable(v.string()),
  truncated: v.boolean(),
  format: v.nullable(v.picklist(FORMATS)),
  source: v.nullable(v.string()),
  sample: v.nullable(v.picklist(['stored_snapshot', 'alert_group', 'example'])),
  errors: v.array(
    v.object({
      pointer: v.literal('/template'),
      code: v.string(),
      detail: v.string(),
      line: v.optional(v.number()),
      column: v.optional(v.number()),
    }),
  ),
});

export function templatePreviewOperations({ preview }: TemplatePreviewDeps): readonly Operation[] {
  return [
    operation({
      id: 'previewTemplate',
      method: 'POST',
      path: '/template-previews',
      tag: 'Templates',
      summary: 'Render a template on a sample; nothing is stored',
      needs: 'templates:preview',
      body: PreviewInput,
      answers: { 200: { description: 'What it gives, or the first mistake in it', schema: PreviewShape } },
      handle: (call) => answer(preview, call),
    }),
  ];
}

async function answer(preview: TemplatePreviewer, call: Call<unknown, PreviewInput>): Promise<Answer> {
  const { kind, template, ...rest } = call.body;
  const alertGroupId = rest.alert_group_id ?? null;
  const storedSnapshotId = rest.stored_snapshot_id ?? null;
  if (alertGroupId !== null && storedSnapshotId !== null) return invalid([ONE_SAMPLE]);
  const asked = {
    kind,
    template,
    format: rest.format ?? 'markdown',
    routeId: rest.route_id ?? null,
    sample: { alertGroupId, storedSnapshotId },
    language: rest.language ?? null,
    lengthLimit: rest.length_limit ?? null,
  } as const;
  const previewed = await preview(asked, call);
  if (previewed === 'unknown_snapshot') return invalid([UNKNOWN_SNAPSHOT]);
  if (previewed === 'unknown') return notFound();
  return { status: 200, body: body(previewed) };
}

function body({ error, ...previewed }: TemplatePreview): v.InferOutput<typeof PreviewShape> {
  if (error === null) return { valid: true, ...previewed, errors: [] };
  const { code, message: detail, line, column } = error;
  const place = line === null || column === null ? {} : { line, column };
  return { valid: false, ...previewed, errors: [{ pointer: '/template', code, detail, ...place }] };
}

const ONE_SAMPLE: FieldError = {
  pointer: '',
  code: 'one_of_required',
  detail: 'Name a Stored Snapshot or an Alert Group as the sample, not both.',
};

const UNKNOWN_SNAPSHOT: FieldError = {
  pointer: '/stored_snapshot_id',
  code: 'unknown_id',
  detail: 'There is no such Stored Snapshot; it may be older than they are kept.',
};
