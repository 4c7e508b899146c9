/** Where the service may connect to (outbound-http §2, api §9). */
import * as v from 'valibot';
import type { Authorship } from '../../../actors/audit.ts';
import type { HintBus } from '../../../actors/effects.ts';
import {
  alwaysBlockedTexts,
  type OutboundPolicy,
  parsePolicyEntry,
} from '../../../runtime/outbound/address-policy.ts';
import { type Answer, authorOf, type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid, preconditionFailed } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { duplicates } from '../../schema/fields.ts';

export interface OutboundPolicyOperationsDeps {
  readonly store: OutboundPolicySource;
  readonly hints: HintBus;
  /** Puts a saved policy in force. */
  readonly client: { setPolicy(policy: OutboundPolicy): void };
}

export interface OutboundPolicySource {
  read(): Promise<VersionedPolicy>;
  update(
    policy: OutboundPolicy,
    isCurrent: (version: number) => boolean,
    author: Authorship,
  ): Promise<
    | { readonly outcome: 'saved' | 'unchanged'; readonly stored: VersionedPolicy }
    | { readonly outcome: 'stale' }
  >;
}

interface VersionedPolicy {
  readonly version: number;
  readonly policy: OutboundPolicy;
}

const MOST_ENTRIES = 200;
const PATH = '/organization/outbound-policy';

const PolicyInput = d.named(
  'OutboundPolicyInput',
  v.object({
    policy: d.described(
      v.picklist(['standard', 'strict']),
      '`standard`: private addresses are allowed; `strict`: only those in `allowed`.',
    ),
    allowed: d.described(v.array(v.string()), 'Host names, addresses and networks (CIDR) that are allowed.'),
    denied: d.described(v.array(v.string()), 'Those that are refused, whatever is allowed.'),
  }),
  'Where the service may connect to, as it is saved.',
);
type PolicyInput = v.InferOutput<typeof PolicyInput>;

const PolicyShape = d.extending(
  PolicyInput,
  'OutboundPolicy',
  v.object({
    ...PolicyInput.entries,
    always_blocked: d.described(v.array(v.string()), 'Networks that are refused, whatever the policy.'),
    etag: d.VERSION,
  }),
  'Where the service may connect to.',
);
const OF_POLICY = { description: 'The outbound policy', schema: PolicyShape, etag: true } as const;

export function outboundPolicyOperations(deps: OutboundPolicyOperationsDeps): readonly Operation[] {
  const { store, hints, client } = deps;
  return [
    operation({
      id: 'getOutboundPolicy',
      method: 'GET',
      path: PATH,
      tag: 'Organization',
      summary: 'Read where the service may connect to',
      description: 'It holds for messengers, webhooks, identity providers and Heartbeats.',
      needs: 'organization:read',
      answers: { 200: OF_POLICY },
      handle: async () => policyAnswer(await store.read()),
    }),

    operation({
      id: 'updateOutboundPolicy',
      method: 'PUT',
      path: PATH,
      tag: 'Organization',
      summary: 'Change where the service may connect to; it counts at once',
      description: 'Requests to addresses that it forbids fail as `blocked`.',
      needs: 'organization:write',
      ifMatch: 'required',
      body: PolicyInput,
      answers: { 200: OF_POLICY },
      async handle(call) {
        const matches = (version: number) => call.ifMatch?.matches(version) ?? false;
        const errors = [...entryErrors('allowed', call.body), ...entryErrors('denied', call.body)];
        if (errors.length > 0) {
          const { version } = await store.read();
          return matches(version) ? invalid(errors) : preconditionFailed();
        }
        const update = await store.update(normalised(call.body), matches, authorOf(call));
        if (update.outcome === 'stale') return preconditionFailed();
        if (update.outcome === 'saved') {
          client.setPolicy(update.stored.policy);
          hints.send({ type: 'organization', id: null });
        }
        return policyAnswer(update.stored);
      },
    }),
  ];
}

function policyAnswer({ version, policy }: VersionedPolicy): Answer {
  const body = { ...policy, always_blocked: alwaysBlockedTexts(), etag: `"${version}"` };
  return { status: 200, body, etag: version };
}

function entryErrors(list: 'allowed' | 'denied', body: PolicyInput): readonly FieldError[] {
  const entries = body[list];
  if (entries.length > MOST_ENTRIES) {
    return [
      { pointer: `/${list}`, code: 'too_long', detail: `At most ${MOST_ENTRIES} entries are possible.` },
    ];
  }
  const texts = entries.map((entry) => parsePolicyEntry(entry)?.text ?? null);
  const unreadable = texts.flatMap((text, index): FieldError[] => {
    if (text !== null) return [];
    const detail = 'Write a network, an address, a host name or *.domain.';
    return [{ pointer: `/${list}/${index}`, code: 'invalid_format', detail }];
  });
  const distinct = texts.map((text, index) => text ?? index);
  return [...unreadable, ...duplicates(distinct, `/${list}`)];
}

function normalised({ policy, allowed, denied }: PolicyInput): OutboundPolicy {
  const texts = (entries: readonly string[]) =>
    entries.flatMap((entry) => parsePolicyEntry(entry)?.text ?? []);
  return { policy, allowed: texts(allowed), denied: texts(denied) };
}
