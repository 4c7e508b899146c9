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
  '^http/resources/connections/(checks|shapes)\\.ts$',
  '^http/resources/destinations/webhook\\.ts$',
];

const WEBHOOKS = '^actors/channels/webhook-(events|template)/';

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
    keptBehind('uWebSockets.js', 'node_modules/uWebSockets\\.js/', '^http/'),
    keptBehind('undici', 'node_modules/undici/', '^runtime/outbound/'),
    keptBehind('socks', 'node_modules/socks/', OUTBOUND),
    keptBehind('postgres', 'node_modules/postgres/', '^storage/'),
    keptBehind('otplib', 'node_modules/otplib/', '^actors/access/totp\\.ts$'),
    keptBehind('eta', 'node_modules/eta/', ['^runtime/documents\\.ts$', '^runtime/cli/bridge-reference/']),
    keptBehind('ioredis', 'node_modules/ioredis/', '^runtime/redis/'),
    keptBehind('HTTP', '^(node:)?(http|https|http2)$', [OUTBOUND, ...OPENS_NOTHING]),
    keptBehind('sockets', '^(node:)?(net|tls)$', [
      '^runtime/(outbound/|cli/bridge-)',
      '^storage/postgres/driver-socket\\.ts$',
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
