/** Tests and previews of Destinations (delivery §13, webhooks §6, api §15). */
import * as v from 'valibot';
import type {
  PreviewItem,
  TrialRequest,
  TrialScenes,
  TrialSource,
  TrialStep,
} from '../../../actors/channels/interactive.ts';
import { newPublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid, notFound } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { publicId } from '../../schema/fields.ts';
import { HealthShape, itemsOf, request_log_run } from '../../schema/shapes.ts';
import { ErrorClass, FORMATS } from '../../schema/words.ts';
import { healthBody } from './common.ts';
import { DESTINATION_ID, type DestinationOperationsDeps, destinationId, provedToWork } from './saving.ts';

export interface DestinationTrialDeps
  extends Pick<DestinationOperationsDeps, 'store' | 'system' | 'interactive'> {
  readonly scenes: TrialScenes;
}

const TrialInput = d.named(
  'DestinationTrialInput',
  v.object({
    source: d.described(
      v.optional(
        v.nullable(
          v.object({
            kind: d.described(
              v.picklist(['example', 'alert_group']),
              '`example`: the built-in one; `alert_group`: an Alert Group.',
            ),
            alert_group_id: d.described(
              v.optional(v.nullable(publicId)),
              'Id of the Alert Group. Needed with `alert_group`.',
            ),
          }),
        ),
      ),
      'What the message is about. Null or left out: the built-in example.',
    ),
  }),
  'What to try with.',
);
type TrialInput = v.InferOutput<typeof TrialInput>;

const RequestShape = d.named(
  'TrialRequest',
  v.object({
    method: d.text('HTTP method.'),
    url: d.text('Address.'),
    headers: d.described(
      v.array(
        v.object({ name: d.text('Name of the header.'), value: d.text('Value of the header, masked.') }),
      ),
      'Headers in order.',
    ),
    body: d.textOrNull('Body, masked; null without one.'),
  }),
  'An HTTP request, with secrets masked.',
);

const StepShape = d.named(
  'DestinationTestStep',
  v.object({
    name: d.described(
      v.picklist(['message', 'press', 'copy', 'event', 'create']),
      '`message`: a message of a messenger; `press`: the bot of a chat server presses its button; `copy`: the post of a channel bot is forwarded into the discussion group; `event`: a webhook in events mode; `create`: the first request of a webhook in template mode.',
    ),
    request: d.described(v.nullable(RequestShape), 'What was sent; null when nothing was.'),
    response_status: d.described(v.nullable(v.number()), 'HTTP status of the answer; null without one.'),
    response_body: d.textOrNull('First 4,096 bytes of the answer, masked; null without one.'),
    extracted: d.described(
      v.nullable(v.record(v.string(), v.nullable(v.string()))),
      'Values found by the extraction rules, each null if not found; null without rules.',
    ),
    duration_ms: d.described(v.number(), 'Milliseconds it took.'),
    error_class: ErrorClass,
    error: d.textOrNull('What went wrong, masked, or what a `copy` that was not seen means; null otherwise.'),
  }),
  'One step of a test.',
);

const TestShape = d.named(
  'DestinationTest',
  v.object({
    steps: d.described(v.array(StepShape), 'The steps in order.'),
    health: d.described(HealthShape, 'Health after the test. One that succeeds ends Broken.'),
    request_log_run,
  }),
  'The outcome of a test.',
);

const PreviewName = d.words(
  'DestinationPreviewName',
  {
    message: 'A message of a messenger.',
    event: 'A webhook in events mode.',
    create: 'The first request of a webhook in template mode.',
    update: 'Its request when the Alert Group changed.',
    open_thread: 'Its request before the first reply.',
    reply_in_thread: 'Its request for a reply.',
  },
  'What would be sent.',
);

const PreviewShape = d.named(
  'DestinationPreview',
  v.object({
    name: PreviewName,
    format: d.words(
      'PreviewFormat',
      { ...FORMATS, json: 'JSON.', plain: 'Anything else.' },
      'Format of `text` or of the body.',
    ),
    text: d.textOrNull('The text of a message; null for requests.'),
    request: d.described(v.nullable(RequestShape), 'The request of a webhook; null for messages.'),
  }),
  'Something that would be sent.',
);

export function destinationTrialOperations(deps: DestinationTrialDeps): readonly Operation[] {
  return [
    operation({
      id: 'testDestination',
      method: 'POST',
      path: '/destinations/{destination_id}/tests',
      tag: 'Destinations',
      summary: 'Send a test message, Quiet and outside every Thread; one that arrives ends Broken',
      description: '200 once anything was tried; the steps say what came of it.',
      needs: 'destinations:test',
      ids: DESTINATION_ID,
      body: TrialInput,
      bodyOptional: true,
      answers: { 200: { description: 'How it went, request by request', schema: TestShape } },
      handle: (call) => test(deps, call),
    }),

    operation({
      id: 'previewDestination',
      method: 'POST',
      path: '/destinations/{destination_id}/previews',
      tag: 'Destinations',
      summary: 'Show what would be sent; nothing is',
      description: 'Shows every message or request that the Destination would get.',
      needs: 'destinations:test',
      ids: DESTINATION_ID,
      body: TrialInput,
      bodyOptional: true,
      answers: { 200: { description: 'What would be sent', schema: itemsOf(PreviewShape) } },
      async handle(call) {
        const chosen = await choose(deps, call);
        if ('refuse' in chosen) return chosen.refuse;
        const { trial, ...asked } = chosen;
        const items = await trial.preview(asked);
        return { status: 200, body: { items: items.map(previewBody) } };
      },
    }),
  ];
}

async function test(deps: DestinationTrialDeps, call: Call<unknown, TrialInput>): Promise<Answer> {
  const chosen = await choose(deps, call);
  if ('refuse' in chosen) return chosen.refuse;
  const { trial, source, ...asked } = chosen;
  const { destination } = asked;
  const run = newPublicId('RN');
  const { steps, message } = await trial.test({ ...asked, run, by: call.principal() });
  await deps.store.tested(destination, { source, steps, message }, authorOf(call));
  const works = steps.every(({ errorClass }) => errorClass === 'none');
  const { health } = works ? await provedToWork(deps, destination, call.now) : destination;
  const wasSent = steps.some(({ request }) => request !== null);
  return {
    status: 200,
    body: {
      steps: steps.map(stepBody),
      health: healthBody(health),
      request_log_run: wasSent ? run : null,
    },
  };
}

/** What is tried, and on which Alert Group. */
async function choose(deps: DestinationTrialDeps, call: Call<unknown, TrialInput>) {
  const destination = await deps.store.read(destinationId(call));
  if (!destination) return { refuse: notFound() };
  const trial = deps.interactive[destination.fields.type]?.trial;
  if (!trial) throw new Error(`${destination.id} is of a type that is not served`);
  const source = sourceOf(call.body);
  if (!source) return { refuse: invalid([NO_GROUP]) };
  const scene = await deps.scenes(source, destination, call);
  return scene ? { destination, trial, source, scene } : { refuse: invalid([UNKNOWN_GROUP]) };
}

/** Null: an Alert Group is wanted, and none is named. */
function sourceOf({ source }: TrialInput): TrialSource | null {
  if (source?.kind !== 'alert_group') return { kind: 'example' };
  const groupId = source.alert_group_id ?? null;
  return groupId && { kind: 'alert_group', groupId };
}

function stepBody(step: TrialStep): v.InferOutput<typeof StepShape> {
  return {
    name: step.name,
    request: step.request && requestBody(step.request),
    response_status: step.responseStatus,
    response_body: step.responseBody,
    extracted: step.extracted && { ...step.extracted },
    duration_ms: Math.round(step.duration / 1000),
    error_class: step.errorClass,
    error: step.error,
  };
}

function previewBody({ name, format, text, request }: PreviewItem): v.InferOutput<typeof PreviewShape> {
  return { name, format, text, request: request && requestBody(request) };
}

function requestBody({ method, url, headers, body }: TrialRequest): v.InferOutput<typeof RequestShape> {
  return { method, url, headers: headers.map(([name, value]) => ({ name, value })), body };
}

const NO_GROUP: FieldError = {
  pointer: '/source/alert_group_id',
  code: 'required',
  detail: 'Name the Alert Group, or take the example.',
};

const UNKNOWN_GROUP: FieldError = {
  pointer: '/source/alert_group_id',
  code: 'unknown_id',
  detail: 'No Route of this Destination has such an Alert Group.',
};
