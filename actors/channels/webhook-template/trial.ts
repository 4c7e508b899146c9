/** Tests of outgoing webhooks: one event or one create, sent at once and never repeated (webhooks §6). */
import type { Micros } from '../../../runtime/clock.ts';
import type { Called } from '../../../runtime/outbound/caller.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import { createMask } from '../../../runtime/secrets/masking.ts';
import { INTERACTIVE_BUDGET } from '../../connection/tokens.ts';
import { newEventId } from '../../destination/messages.ts';
import type { SealedSettings, StoredDestination, TemplateSettings } from '../../destination/ports.ts';
import type { GroupScene } from '../../destination/sending/scene.ts';
import {
  type AskedTrial,
  type DestinationTrial,
  shownExchange,
  type TrialClass,
  type TrialName,
  type TrialStep,
} from '../interactive.ts';
import type { RefusedRequest } from '../webhook-events/opening.ts';
import { buildWebhookRequest, renderTestBody } from '../webhook-events/request.ts';
import { previewWebhook, type WebhookTrialDeps } from './preview.ts';
import { UPDATE } from './request-data.ts';
import {
  buildTemplateRequest,
  callReady,
  extractionOf,
  refusal,
  type SendableRequest,
  type WantedRequest,
} from './send-request.ts';

const NO_TOKEN = 'no token of the limiter within 5 s';

/** What is left of a step for its request when everything before took as long as it may. */
const LEAST_FOR_CALL: Micros = 100_000;

const TEST_TITLE = '🧪 Test message: ';

export function createWebhookTrial(deps: WebhookTrialDeps): DestinationTrial {
  return {
    async test(asked) {
      const name = modeOf(asked.destination) === 'template' ? 'create' : 'event';
      const step = new Step(deps, name, asked);
      const grant = await deps.tokens.take({ destinationId: asked.destination.id, connectionId: null });
      if (grant !== 'granted') {
        const { retryAfterSeconds } = grant;
        return tried(step.ended('limited', `${NO_TOKEN}, the next is due in ${retryAfterSeconds} s`));
      }
      return tried(await (name === 'event' ? sendEvent(deps, asked, step) : sendCreate(deps, asked, step)));
    },
    preview: (asked) => previewWebhook(deps, asked),
  };
}

function tried(step: TrialStep) {
  return { steps: [step], message: null };
}

async function sendEvent(deps: WebhookTrialDeps, asked: AskedTrial, step: Step): Promise<TrialStep> {
  const { clock, keyring, random, publicUrl } = deps;
  const { scene } = asked;
  const settings = required(await deps.settings.events(asked.destination.id));
  const now = clock.now();
  const group = await deps.views(scene);
  const text = renderTestBody({ actor: asked.by, at: now, group }, scene.data.number, publicUrl);
  const body = Buffer.from(text, 'utf8');
  const built = buildWebhookRequest({ settings, keyring, eventId: newEventId(random), body, now });
  if (built.outcome !== 'ready') return step.refused(built);
  await step.call(settings, { ...built, method: 'POST', body });
  return step.finished(null);
}

async function sendCreate(deps: WebhookTrialDeps, asked: AskedTrial, step: Step): Promise<TrialStep> {
  const { clock, keyring, random } = deps;
  const settings = required(await deps.settings.template(asked.destination.id));
  const wanted = testCreate(settings, asked.scene);
  const eventId = newEventId(random);
  const built = buildTemplateRequest(wanted, { sealed: settings, keyring, eventId, now: clock.now() });
  if (built.outcome !== 'ready') return step.refused(built);
  const called = await step.call(settings, built);
  if (called.verdict.class !== 'ok' || wanted.template.extract.length === 0) return step.finished(null);
  const mask = createMask(built.secrets);
  const { values } = extractionOf(wanted, called);
  const shown = wanted.template.extract.map(({ name }) => {
    const value = values[name];
    return [name, value === undefined ? null : mask(value)] as const;
  });
  return step.finished(Object.fromEntries(shown));
}

function testCreate({ template }: TemplateSettings, { data, settings }: GroupScene): WantedRequest {
  const group = { ...data, title: `${TEST_TITLE}${data.title}` };
  return {
    ...{ role: 'create', template: template.create, settings },
    ...{ subject: { kind: 'group', group }, telling: UPDATE, values: {} },
  };
}

/** One step of a test while it is made. */
class Step {
  readonly #deps: WebhookTrialDeps;
  readonly #name: Extract<TrialName, 'event' | 'create'>;
  readonly #asked: AskedTrial;
  readonly #begun: Micros;
  #record: RequestRecord | null = null;
  #called: Called | null = null;

  constructor(deps: WebhookTrialDeps, name: Extract<TrialName, 'event' | 'create'>, asked: AskedTrial) {
    this.#deps = deps;
    this.#name = name;
    this.#asked = asked;
    this.#begun = deps.clock.now();
  }

  async call(settings: SealedSettings, ready: SendableRequest): Promise<Called> {
    const left = this.#begun + INTERACTIVE_BUDGET - this.#deps.clock.now();
    const { destination, run } = this.#asked;
    const { called } = await callReady(this.#deps, settings, ready, this.#name, {
      class: 'interactive',
      timeout: Math.max(LEAST_FOR_CALL, left),
      about: {
        attempt: 1,
        destinationId: destination.id,
        alertGroupId: null,
        check: 'destination_test',
        checkRun: run,
      },
      observe: (record) => {
        this.#record = record;
      },
    });
    this.#called = called;
    return called;
  }

  finished(extracted: TrialStep['extracted']): TrialStep {
    const verdict = this.#called?.verdict;
    if (!verdict) throw new Error('a step of a test ended without its request');
    const error = verdict.class === 'ok' ? null : verdict.error;
    return { ...this.ended(classOf(verdict), error), extracted };
  }

  refused(built: RefusedRequest): TrialStep {
    const { class: errorClass, error } = refusal(this.#deps, built);
    return this.ended(errorClass, error);
  }

  ended(errorClass: TrialClass, error: string | null): TrialStep {
    const duration = this.#deps.clock.now() - this.#begun;
    const shown = shownExchange(this.#record);
    return { name: this.#name, ...shown, extracted: null, duration, errorClass, error };
  }
}

function classOf({ class: verdict }: Called['verdict']): TrialClass {
  switch (verdict) {
    case 'ok':
      return 'none';
    case 'gone':
      return 'fatal';
    case 'redirect':
      return 'unknown';
    default:
      return verdict;
  }
}

function modeOf({ fields, id }: StoredDestination): 'events' | 'template' {
  if (fields.type !== 'webhook') throw new Error(`Destination ${id} is no webhook`);
  return fields.mode;
}

/** A Destination that was deleted between two reads. */
function required<Settings>(settings: Settings | null): Settings {
  if (settings === null) throw new Error('the settings of a webhook are gone');
  return settings;
}
