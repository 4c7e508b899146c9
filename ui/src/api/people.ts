/** Operations on users and on oneself (api §3–§5). */
import type { PageRequest } from './alert-groups.ts';
import type { Answer, ApiClient, Query } from './client.ts';
import type { Instant, Items, Page, User } from './shapes.ts';

export interface UserInput {
  readonly name: string;
  readonly email: string | null;
  readonly role: string;
}

export interface NewUserInput extends UserInput {
  readonly login: string;
}

export interface SetupLink {
  readonly url: string;
  readonly expires_at: Instant;
}

export interface WithSetupLink {
  readonly user: User;
  readonly password_setup_link: SetupLink;
}

export interface ProfileInput {
  readonly name: string;
  readonly time_zone: string | null;
  readonly language: string | null;
}

export interface SessionInfo {
  readonly id: string;
  readonly method: 'local' | 'oidc';
  readonly created_at: Instant;
  readonly last_used_at: Instant;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly current: boolean;
}

export interface TotpStatus {
  readonly enrolled: boolean;
  readonly enrolled_at: Instant | null;
  readonly enrolment_pending: boolean;
  readonly recovery_codes_remaining: number;
}

export interface TotpEnrolment {
  readonly secret: string;
  readonly otpauth_uri: string;
}

export type RemovalProof =
  | { readonly password: string }
  | { readonly totp_code: string }
  | { readonly recovery_code: string };

export type PeopleApi = ReturnType<typeof createPeopleApi>;

export function createPeopleApi(client: ApiClient) {
  return { users: users(client), me: me(client), setPassword: setPassword(client) };
}

function users(client: ApiClient) {
  const of = (id: string) => `/users/${id}`;
  return {
    list: (query: Query, page: PageRequest): Promise<Answer<Page<User>>> =>
      client.get('/users', { query: { ...query, ...page } }),
    create: (body: NewUserInput): Promise<Answer<WithSetupLink>> => client.post('/users', { body }),
    read: (id: string): Promise<Answer<User>> => client.get(of(id)),
    update: (id: string, body: UserInput, ifMatch: string): Promise<Answer<User>> =>
      client.put(of(id), { body, ifMatch }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
    disable: (id: string): Promise<Answer<User>> => client.post(`${of(id)}/disable`),
    enable: (id: string): Promise<Answer<User>> => client.post(`${of(id)}/enable`),
    resetTotp: (id: string): Promise<Answer<null>> => client.post(`${of(id)}/reset-totp`),
    convertToLocal: (id: string): Promise<Answer<WithSetupLink>> => client.post(`${of(id)}/convert-to-local`),
    createSetupLink: (id: string): Promise<Answer<SetupLink>> =>
      client.post(`${of(id)}/password-setup-links`),
  };
}

function me(client: ApiClient) {
  return {
    update: (body: ProfileInput): Promise<Answer<{ readonly user: User }>> => client.put('/me', { body }),
    changePassword: (current: string, next: string): Promise<Answer<null>> =>
      client.put('/me/password', { body: { current_password: current, new_password: next } }),
    sessions: (): Promise<Answer<Items<SessionInfo>>> => client.get('/me/sessions'),
    endSessions: (): Promise<Answer<null>> => client.delete('/me/sessions'),
    totp: (): Promise<Answer<TotpStatus>> => client.get('/me/totp'),
    beginTotp: (): Promise<Answer<TotpEnrolment>> => client.post('/me/totp'),
    confirmTotp: (code: string): Promise<Answer<{ readonly codes: readonly string[] }>> =>
      client.post('/me/totp/confirmation', { body: { code } }),
    removeTotp: (proof: RemovalProof): Promise<Answer<null>> =>
      client.post('/me/totp/removal', { body: proof }),
    newRecoveryCodes: (code: string): Promise<Answer<{ readonly codes: readonly string[] }>> =>
      client.post('/me/totp/recovery-codes', { body: { code } }),
  };
}

function setPassword(client: ApiClient) {
  return (token: string, password: string): Promise<Answer<null>> =>
    client.post('/password-setups', { body: { token, password } });
}
