/** Tokens, Service accounts, Roles and the Organization's settings, kept while the mock runs. */

import type {
  OrganizationInput,
  OrganizationSettings,
  OutboundPolicy,
  OutboundPolicyInput,
} from '../src/api/organization.ts';
import type { ApiToken, ApiTokenInput, ServiceAccount, ServiceAccountInput } from '../src/api/people.ts';
import type { MockAnswer, MockRequest } from './mock-api.ts';

type Handler = (request: MockRequest, params: readonly string[]) => MockAnswer;

const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const bump = (etag: string) => `"${Number(etag.slice(1, -1)) + 1}"`;
const NOTHING: MockAnswer = { status: 204 };
const notFound: MockAnswer = {
  status: 404,
  body: { type: 'https://tocsin.invalid/problems/not-found', title: 'not-found', status: 404 },
};
const refused = (pointer: string, code: string): MockAnswer => ({
  status: 422,
  body: {
    ...{ type: 'https://tocsin.invalid/problems/validation-failed', title: 'validation-failed', status: 422 },
    errors: [{ pointer, code, detail: `Refused: ${code}.` }],
  },
});

type Permissions = NonNullable<ApiToken['permissions']>;

const VIEWER: Permissions = [
  'alert-groups:read',
  'alerts:read',
  'integrations:read',
  'routes:read',
  'destinations:read',
];
const RESPONDER: Permissions = [
  ...VIEWER,
  'alert-groups:acknowledge',
  'alert-groups:resolve',
  'alert-groups:note',
];
const ADMIN: Permissions = [
  ...RESPONDER,
  'routes:write',
  'users:read',
  'users:write',
  'organization:write',
  'audit-log:read',
];

const LATELY: Pick<ApiToken, 'created_at' | 'last_used_at' | 'last_used_address'> = {
  created_at: daysFromNow(-40),
  last_used_at: daysFromNow(-0.01),
  last_used_address: '203.0.113.9',
};

const SETTINGS: OrganizationSettings = {
  ...{ id: 'RG000000000000', name: 'Example', time_zone: 'Europe/Berlin', workday_start: '09:00' },
  ...{ week_start: 'monday', severity_label: 'severity' },
  severity_mapping: [
    { value: 'critical', level: 'critical' },
    { value: 'warning', level: 'warning' },
    { value: 'info', level: 'info' },
    { value: 'none', level: 'info' },
  ],
  severity_styles: [
    { level: 'critical', emoji: '🟥', color: '#d32f2f' },
    { level: 'warning', emoji: '🟧', color: '#f57c00' },
    { level: 'info', emoji: '🟦', color: '#1976d2' },
  ],
  critical_is_urgent: true,
  instance_labels: ['pod', 'instance', 'container', 'endpoint'],
  retention: {
    stored_snapshots_days: 14,
    alert_details_days: 90,
    alert_group_summaries_days: 730,
    audit_log_days: 365,
  },
  totp_required: 'nobody',
  oidc_token_grace_seconds: 604_800,
  outgoing_heartbeat: {
    url_status: { set: true, updated_at: daysFromNow(-3) },
    proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
  },
  etag: '"1"',
};

export function mockAccess(): Readonly<Record<string, Handler>> {
  let settings = SETTINGS;
  let policy: OutboundPolicy = {
    ...{ policy: 'standard', allowed: [], denied: ['10.9.0.0/16'] },
    ...{ always_blocked: ['169.254.0.0/16', 'fe80::/10', '0.0.0.0/8'], etag: '"1"' },
  };
  let accounts: ServiceAccount[] = [
    account('SA000000000001', 'terraform', 'admin', 'active'),
    account('SA000000000002', 'status-page', 'viewer', 'disabled'),
  ];
  const tokens = new Map<string, ApiToken[]>([
    [
      'me',
      [
        { id: 'PT000000000001', name: 'laptop', permissions: VIEWER, expires_at: daysFromNow(20), ...LATELY },
        {
          ...{ id: 'PT000000000002', name: 'night script', permissions: ADMIN, expires_at: null },
          ...{ created_at: daysFromNow(-300), last_used_at: null, last_used_address: null },
        },
        { id: 'PT000000000003', name: 'old', permissions: VIEWER, expires_at: daysFromNow(-1), ...LATELY },
      ],
    ],
    ['SA000000000001', [{ id: 'ST000000000001', name: 'ci', expires_at: daysFromNow(60), ...LATELY }]],
  ]);
  let sequence = 10;
  const of = (owner: string) => tokens.get(owner) ?? [];
  const counted = (one: ServiceAccount): ServiceAccount => ({ ...one, token_count: of(one.id).length });
  const withAccount = (id: string | undefined, answer: (one: ServiceAccount) => MockAnswer): MockAnswer => {
    const one = accounts.find((each) => each.id === id);
    return one ? answer(one) : notFound;
  };
  const store = (one: ServiceAccount): MockAnswer => {
    accounts = accounts.map((each) => (each.id === one.id ? one : each));
    return { status: 200, body: counted(one), etag: one.etag };
  };
  const create = (owner: string, body: unknown): MockAnswer => {
    const input = body as ApiTokenInput;
    if (input.name.trim() === '') return refused('/name', 'required');
    sequence += 1;
    const token: ApiToken = {
      ...{ name: input.name, expires_at: input.expires_at },
      ...{ id: `PT0000000000${sequence}`, created_at: daysFromNow(0) },
      ...(input.permissions
        ? { permissions: ADMIN.filter((name) => input.permissions?.includes(name)) }
        : {}),
      ...{ last_used_at: null, last_used_address: null },
    };
    tokens.set(owner, [token, ...of(owner)]);
    return { status: 201, body: { token, value: `svc_pat_${'k3v7q2ma'.repeat(6)}abcd` } };
  };
  const revoke = (owner: string, id: string | undefined): MockAnswer => {
    tokens.set(
      owner,
      of(owner).filter((token) => token.id !== id),
    );
    return NOTHING;
  };

  return {
    'GET /roles': () => ({
      status: 200,
      body: {
        items: [
          { name: 'admin', permissions: ADMIN },
          { name: 'responder', permissions: RESPONDER },
          { name: 'viewer', permissions: VIEWER },
        ],
      },
    }),
    'GET /me/personal-access-tokens': () => ({ status: 200, body: { items: of('me') } }),
    'POST /me/personal-access-tokens': ({ body }) => create('me', body),
    'DELETE /me/personal-access-tokens/:id': (_, [id]) => revoke('me', id),

    'GET /service-accounts': () => ({
      status: 200,
      body: { items: accounts.map(counted), next_cursor: null },
    }),
    'POST /service-accounts': ({ body }) => {
      const { name, role } = body as ServiceAccountInput;
      if (name.trim() === '') return refused('/name', 'required');
      sequence += 1;
      const one = account(`SA0000000000${sequence}`, name, role, 'active');
      accounts = [...accounts, one];
      return { status: 201, body: one, etag: one.etag };
    },
    'GET /service-accounts/:id': (_, [id]) =>
      withAccount(id, (one) => ({ status: 200, body: counted(one), etag: one.etag })),
    'PUT /service-accounts/:id': ({ body }, [id]) =>
      withAccount(id, (one) => store({ ...one, ...(body as ServiceAccountInput), etag: bump(one.etag) })),
    'DELETE /service-accounts/:id': (_, [id]) => {
      accounts = accounts.filter((one) => one.id !== id);
      return NOTHING;
    },
    'POST /service-accounts/:id/disable': (_, [id]) =>
      withAccount(id, (one) => store({ ...one, status: 'disabled' })),
    'POST /service-accounts/:id/enable': (_, [id]) =>
      withAccount(id, (one) => store({ ...one, status: 'active' })),
    'GET /service-accounts/:id/tokens': (_, [id]) => ({ status: 200, body: { items: of(id ?? '') } }),
    'POST /service-accounts/:id/tokens': ({ body }, [id]) => create(id ?? '', body),
    'DELETE /service-accounts/:id/tokens/:token': (_, [id, token]) => revoke(id ?? '', token),

    'GET /organization': () => ({ status: 200, body: settings, etag: settings.etag }),
    'PUT /organization': ({ body }) => {
      const { outgoing_heartbeat, ...input } = body as OrganizationInput;
      if (input.name.trim() === '') return refused('/name', 'required');
      const { url } = outgoing_heartbeat;
      const url_status =
        url === undefined
          ? settings.outgoing_heartbeat.url_status
          : { set: url !== null, updated_at: daysFromNow(0) };
      const heartbeat = { ...settings.outgoing_heartbeat, url_status };
      settings = { ...settings, ...input, outgoing_heartbeat: heartbeat, etag: bump(settings.etag) };
      return { status: 200, body: settings, etag: settings.etag };
    },
    'GET /organization/severity-values': () => ({
      status: 200,
      body: {
        items: [
          { value: 'warning', count: 128, level: 'warning', mapped: true },
          { value: 'page', count: 41, level: 'warning', mapped: false },
          { value: 'critical', count: 9, level: 'critical', mapped: true },
        ],
        window_days: 14,
      },
    }),
    'GET /organization/outbound-policy': () => ({ status: 200, body: policy, etag: policy.etag }),
    'PUT /organization/outbound-policy': ({ body }) => {
      policy = { ...policy, ...(body as OutboundPolicyInput), etag: bump(policy.etag) };
      return { status: 200, body: policy, etag: policy.etag };
    },
  };
}

function account(
  id: string,
  name: string,
  role: ServiceAccount['role'],
  status: ServiceAccount['status'],
): ServiceAccount {
  return { id, name, role, status, token_count: 0, created_at: daysFromNow(-90), etag: '"1"' };
}
