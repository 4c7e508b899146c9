/** What a template makes of a sample; nothing is stored (templates §10, api §16). */
import * as v from 'valibot';
import type { TemplatePreview, TemplatePreviewer } from '../../../actors/previews/preview.ts';
import { integer } from '../../../actors/schemas.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid, notFound } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { publicId } from '../../schema/fields.ts';
import { Language, MessageFormat, TemplateKind } from '../../schema/words.ts';

export interface TemplatePreviewDeps {
  readonly preview: TemplatePreviewer;
}

const PreviewInput = d.named(
  'TemplatePreviewInput',
  v.object({
    kind: TemplateKind,
    template: d.described(v.string(), 'The template. Empty for the built-in one.'),
    format: d.described(
      v.optional(v.nullable(MessageFormat)),
      'Format of the messenger; null or left out for `markdown`.',
    ),
    route_id: d.described(
      v.optional(v.nullable(publicId)),
      'Id of the Route it is for; null or left out for the Default route.',
    ),
    stored_snapshot_id: d.described(
      v.optional(v.nullable(publicId)),
      'Id of a Stored Snapshot to render it on.',
    ),
    alert_group_id: d.described(v.optional(v.nullable(publicId)), 'Id of an Alert Group to render it on.'),
    language: d.described(
      v.optional(v.nullable(Language)),
      'Language of the texts; null or left out for that of the Route.',
    ),
    length_limit: d.described(
      v.optional(v.nullable(integer(1, Number.MAX_SAFE_INTEGER))),
      'Characters of a message at most; null or left out for no limit.',
    ),
  }),
  'A template to render, on at most one of `stored_snapshot_id` and `alert_group_id`.',
);
type PreviewInput = v.InferOutput<typeof PreviewInput>;

const PreviewShape = d.named(
  'TemplatePreview',
  v.object({
    valid: d.flag('Whether it renders.'),
    output: d.textOrNull('What it gives, cut at 50,000 characters; null when it does not render.'),
    truncated: d.flag('Whether the output was cut or shortened to fit.'),
    format: d.described(
      v.nullable(MessageFormat),
      'Format of the output; null for a Link rule or a webhook request.',
    ),
    source: d.textOrNull('The built-in template when `template` was empty; null otherwise.'),
    sample: d.described(
      v.nullable(v.picklist(['stored_snapshot', 'alert_group', 'example'])),
      'What it was rendered on: `stored_snapshot`, `alert_group` or the built-in `example`; null: nothing.',
    ),
    errors: d.described(
      v.array(
        v.object({
          pointer: d.described(v.literal('/template'), 'Always the template.'),
          code: d.text('What is wrong: `template_syntax` or `unknown_function`.'),
          detail: d.text('What is wrong, as a sentence.'),
          line: v.optional(d.count('Line, from 1.')),
          column: v.optional(d.count('Column, from 1.')),
        }),
      ),
      'The mistakes found; empty when it renders.',
    ),
  }),
  'What a template gives.',
);

export function templatePreviewOperations({ preview }: TemplatePreviewDeps): readonly Operation[] {
  return [
    operation({
      id: 'previewTemplate',
      method: 'POST',
      path: '/template-previews',
      tag: 'Templates',
      summary: 'Render a template on a sample; nothing is stored',
      description: 'A mistake in the template is 200 with `valid` false.',
      needs: 'templates:preview',
      body: PreviewInput,
      answers: { 200: { description: 'What it gives, or the first mistake in it', schema: PreviewShape } },
      refusals: [[404, 'not-found', '']],
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
