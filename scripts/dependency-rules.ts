/**
 * Which way dependencies point (docs/architecture.md): `http → actors → runtime`; `storage` implements the ports that
 * runtime and actors declare; the composition root alone sees everything. Judged by `house.ts`.
 */

import type { IConfiguration, IRegularForbiddenRuleType } from 'dependency-cruiser';

/** The composition root: it may import from every folder. */
const ROOT = '^runtime/(main\\.ts$|compose/|cli/)';

const only = (
  name: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
  comment?: string,
): IRegularForbiddenRuleType => ({ name, severity: 'error', from, to, ...(comment ? { comment } : {}) });

/** A package, or a module of Node.js, that only some files may import at run time; its types are free. */
const keptBehind = (name: string, module: string, keepers: string | string[]) =>
  only(
    `kept-behind: ${name}`,
    { path: '^(runtime|actors|storage|http)/', pathNot: keepers },
    { path: module, dependencyTypesNot: ['type-only'] },
    'One place opens connections of this kind, so that its policy, limits and tests hold for all of them.',
  );

/** Layers of the composition root, the lowest first: each imports from those below it. */
const LAYERS = [
  '(ground|ports|readiness|database)',
  '(engine|actors|performer|placement|broadcast)',
  '(channels|connections|messages|templates)',
  '(http|resources|oidc)',
  '(service|leader|housekeeping|every-metric)',
] as const;

const layerRules = LAYERS.slice(0, -1).map((layer, index) =>
  only(
    `compose-layer-${index + 1}`,
    { path: `^runtime/compose/${layer}\\.ts$` },
    { path: `^runtime/compose/(${LAYERS.slice(index + 1).join('|')})\\.ts$` },
    'A layer is made of what the layers below it return; the other way leads through a port (runtime/compose/ports.ts).',
  ),
);

const OUTBOUND = '^runtime/(outbound/|cli/bridge-|cli/groups/)';
/** Files that take from a module of Node.js what opens nothing: isIP, STATUS_CODES. */
const OPENS_NOTHING = [
  '^runtime/redis/link\\.ts$',
  '^runtime/cli/doctor/',
  '^http/server/exchange-uws\\.ts$',
];

/** Who may import a channel's folder besides the folder itself, its registry and the composition root. */
const KNOW_A_CHANNEL = [
  // What a bridge says of itself is stored with its Connection and decides how accounts are linked.
  '^actors/connection/ports\\.ts$',
  '^actors/account-links/link\\.ts$',
  // The API describes Connections and template webhooks in the channel's own words (api §14, §15).
  '^http/resources/connections/types/',
  '^http/resources/destinations/webhook\\.ts$',
];

const WEBHOOKS = '^actors/channels/webhook-(events|template)/';

/**
 * Files of actors that take more at run time than the turn brings: hashes, pauses between steps of long work, and what
 * an answer of another side means. The list only shrinks.
 */
const IMPURE = [
  '^actors/access/api-tokens\\.ts$',
  '^actors/access/oidc/claims\\.ts$',
  '^actors/access/oidc/provider\\.ts$',
  '^actors/access/oidc/provider-access\\.ts$',
  '^actors/access/oidc/sign-in\\.ts$',
  '^actors/access/passwords\\.ts$',
  '^actors/access/session\\.ts$',
  '^actors/access/throttle\\.ts$',
  '^actors/account-links/link\\.ts$',
  '^actors/channels/bridge/answer\\.ts$',
  '^actors/channels/bridge/push-receiver\\.ts$',
  '^actors/channels/(channel-bot|chat-server)/(answer|receiver)\\.ts$',
  '^actors/channels/inbound\\.ts$',
  '^actors/channels/polling\\.ts$',
  '^actors/channels/signature\\.ts$',
  '^actors/channels/webhook-template/request-data\\.ts$',
  '^actors/destination/sending/scene\\.ts$',
  '^actors/feed/alert-mapper\\.ts$',
  '^actors/feed/body\\.ts$',
  '^actors/feed/identity\\.ts$',
  '^actors/feed/prepare\\.ts$',
  '^actors/feed/snapshot\\.ts$',
  '^actors/integration/snippets\\.ts$',
  '^actors/links/evaluate\\.ts$',
  '^actors/messages/root\\.ts$',
  '^actors/previews/preview\\.ts$',
  '^actors/previews/samples\\.ts$',
  '^actors/previews/template-checks\\.ts$',
  '^actors/proxy-config\\.ts$',
  '^actors/route/evaluate\\.ts$',
  '^actors/system/outgoing-heartbeat\\.ts$',
] as const;

export const RULES: IConfiguration = {
  forbidden: [
    only('no-cycle', {}, { circular: true }, 'Modules that need each other are one module, or lack a third.'),
    only(
      'runtime-imports-nothing-above',
      { path: '^runtime/', pathNot: ROOT },
      { path: '^(actors|storage|http|ui)/' },
      'The engine knows nothing about alerts.',
    ),
    only('actors-import-runtime-only', { path: '^actors/' }, { path: '^(storage|http|ui)/' }),
    only('storage-implements-ports', { path: '^storage/' }, { path: '^(http|ui)/' }),
    only('http-imports-actors-and-runtime', { path: '^http/' }, { path: '^(storage|ui)/' }),
    only(
      'engine-through-its-index',
      { path: '^(runtime|actors|storage|http)/', pathNot: '^runtime/actor/' },
      { path: '^runtime/actor/', pathNot: '^runtime/actor/index\\.ts$' },
      'What actors see of the engine is runtime/actor/index.ts.',
    ),
    only(
      'channels-through-the-registry',
      { path: '^(runtime|actors|storage|http|ui)/', pathNot: [ROOT, '^actors/channels/', ...KNOW_A_CHANNEL] },
      { path: '^actors/channels/[^/]+/' },
      'A channel is a folder behind actors/channels/channel.ts; nothing else knows its wire format.',
    ),
    only(
      'channels-know-no-other-channel',
      { path: '^actors/channels/([^/]+)/', pathNot: WEBHOOKS },
      { path: '^actors/channels/[^/]+/', pathNot: '^actors/channels/$1/' },
    ),
    only(
      'webhooks-share-with-webhooks',
      { path: WEBHOOKS },
      { path: '^actors/channels/[^/]+/', pathNot: WEBHOOKS },
      'Both modes of a webhook open its Secrets, sign and read answers alike.',
    ),
    only(
      'machines-are-pure',
      { path: '^actors/.*/machine\\.ts$' },
      {
        path: '(^|node_modules/)(undici|postgres|ioredis|uWebSockets\\.js)(/|$)|^(node:)?(fs|net|http|https|crypto|timers|child_process)(/|$)',
      },
      'A machine decides; clock, chance, network and storage come in with the turn.',
    ),
    ...layerRules,
    only(
      'actors-pure',
      { path: '^actors/', pathNot: [...IMPURE] },
      { path: '^runtime/(outbound/|log\\.ts$)', dependencyTypesNot: ['type-only'] },
      'An actor decides; what it needs of the world comes in with the turn.',
    ),
    only(
      'actors-pure-of-node',
      { path: '^actors/', pathNot: [...IMPURE] },
      { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
    ),
    keptBehind('uWebSockets.js', 'node_modules/uWebSockets\\.js/', '^http/'),
    keptBehind('undici', 'node_modules/undici/', '^runtime/outbound/'),
    keptBehind('socks', 'node_modules/socks/', OUTBOUND),
    keptBehind('postgres', 'node_modules/postgres/', '^storage/'),
    keptBehind('otplib', 'node_modules/otplib/', '^actors/access/totp\\.ts$'),
    keptBehind('eta', 'node_modules/eta/', ['^runtime/documents\\.ts$', '^runtime/cli/bridge-reference/']),
    keptBehind('ioredis', 'node_modules/ioredis/', '^runtime/redis/'),
    keptBehind('HTTP', '^(node:)?(http|https|http2)$', [
      OUTBOUND,
      '^http/server/node-app\\.ts$',
      ...OPENS_NOTHING,
    ]),
    keptBehind('sockets', '^(node:)?(net|tls)$', [
      '^runtime/(outbound/|cli/bridge-)',
      '^storage/postgres/driver-socket\\.ts$',
      '^http/server/front\\.ts$',
      ...OPENS_NOTHING,
    ]),
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.(test|fixture)\\.ts$' },
    enhancedResolveOptions: { extensions: ['.ts', '.svelte', '.js'] },
  },
};
