/** Operations on users and on oneself (api §3 to §5). */

import type { Answer, ApiClient, Query } from './client.ts';
import type { Items, Page, PageRequest, Schemas, Session, SignInOptions, User } from './shapes.ts';

export type UserInput = Schemas['UserInput'];

export type NewUserInput = Schemas['NewUserInput'];

export type SetupLink = Schemas['PasswordSetupLink'];

export type WithSetupLink = Schemas['UserWithSetupLink'];

export type ProfileInput = Schemas['ProfileInput'];

export type SessionInfo = Schemas['SessionInfo'];

export type TotpStatus = Schemas['TotpStatus'];

export type TotpEnrolment = Schemas['TotpEnrolment'];

export type RemovalProof = Schemas['TotpRemoval'];

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
    update: (body: ProfileInput): Promise<Answer<Schemas['Me']>> => client.put('/me', { body }),
    changePassword: (current: string, next: string): Promise<Answer<null>> =>
      client.put('/me/password', {
        body: { current_password: current, new_password: next } satisfies Schemas['PasswordChange'],
      }),
    sessions: (): Promise<Answer<Items<SessionInfo>>> => client.get('/me/sessions'),
    endSessions: (): Promise<Answer<null>> => client.delete('/me/sessions'),
    totp: (): Promise<Answer<TotpStatus>> => client.get('/me/totp'),
    beginTotp: (): Promise<Answer<TotpEnrolment>> => client.post('/me/totp'),
    confirmTotp: (code: string): Promise<Answer<Schemas['RecoveryCodes']>> =>
      client.post('/me/totp/confirmation', { body: { code } satisfies Schemas['TotpCode'] }),
    removeTotp: (proof: RemovalProof): Promise<Answer<null>> =>
      client.post('/me/totp/removal', { body: proof }),
    newRecoveryCodes: (code: string): Promise<Answer<Schemas['RecoveryCodes']>> =>
      client.post('/me/totp/recovery-codes', { body: { code } satisfies Schemas['TotpCode'] }),
  };
}

function setPassword(client: ApiClient) {
  return (token: string, password: string): Promise<Answer<null>> =>
    client.post('/password-setups', { body: { token, password } satisfies Schemas['PasswordSetup'] });
}

/** Operations on the caller's own session (api §3). */
export type SessionsApi = ReturnType<typeof createSessionsApi>;

export function createSessionsApi(client: ApiClient) {
  return {
    options: (): Promise<Answer<SignInOptions>> => client.get('/sign-in-options'),
    current: (): Promise<Answer<Session>> => client.get('/sessions/current'),
    signIn: (login: string, password: string): Promise<Answer<Session>> =>
      client.post('/sessions', { body: { login, password } satisfies Schemas['SignIn'], harmless: true }),
    secondFactor: (proof: Schemas['SecondFactor']): Promise<Answer<Session>> =>
      client.post('/sessions/current/totp', { body: proof, harmless: true }),
    signOut: (): Promise<Answer<null>> => client.delete('/sessions/current'),
  };
}

/** Accounts at messengers that belong to people of Tocsin (api §4.1, §5). */
export type Messenger = Schemas['ConnectionType'];
export type LinkMethod = LinkableConnection['link_methods'][number];

export type AccountLink = Schemas['AccountLink'];

export type LinkableConnection = Schemas['LinkableConnection'];

/** What the person brings to the bot: a text, a link that sends one, or both. Told once. */
export type LinkToken = Schemas['LinkToken'] | Schemas['LinkDeepLink'];

/** A code was sent to the account. */
export type LinkCode = Schemas['LinkCodeRequest'];

export type AccountLinksApi = ReturnType<typeof createAccountLinksApi>;

/** The links of one person. */
export interface LinksOf {
  list(): Promise<Answer<Items<AccountLink>>>;
  remove(id: string): Promise<Answer<null>>;
}

export function createAccountLinksApi(client: ApiClient) {
  const of = (path: string): LinksOf => ({
    list: () => client.get(path),
    remove: (id) => client.delete(`${path}/${id}`),
  });
  const mine = '/me/account-links';
  const at = (messenger: Messenger) => `${mine}/${messenger.replace('_', '-')}`;
  return {
    mine: of(mine),
    ofUser: (id: string): LinksOf => of(`/users/${id}/account-links`),
    connections: (): Promise<Answer<Items<LinkableConnection>>> => client.get(`${mine}/connections`),
    requestToken: ({ id, messenger }: LinkableConnection): Promise<Answer<LinkToken>> =>
      client.post(at(messenger), {
        body:
          messenger === 'bridge'
            ? ({ connection_id: id, method: 'token' } satisfies Schemas['BridgeLinkStart'])
            : ({ connection_id: id } satisfies Schemas['ChannelBotLinkStart']),
        long: true,
      }),
    sendCode: ({ id, messenger }: LinkableConnection, handle: string): Promise<Answer<LinkCode>> =>
      client.post(at(messenger), {
        body:
          messenger === 'bridge'
            ? ({ connection_id: id, method: 'code', handle } satisfies Schemas['BridgeLinkStart'])
            : ({ connection_id: id, username: handle } satisfies Schemas['ChatServerLinkStart']),
        long: true,
      }),
    confirm: (messenger: Messenger, requestId: string, code: string): Promise<Answer<AccountLink>> =>
      client.post(`${at(messenger)}/confirmation`, {
        body: { request_id: requestId, code } satisfies Schemas['LinkConfirmation'],
        long: true,
      }),
  };
}

/** Personal access tokens, Service accounts and Roles (api §4, §5, §8). */
export const ROLES = ['admin', 'responder', 'viewer'] as const;
export type RoleName = Schemas['Role'];

export type ApiToken = Schemas['ApiToken'] & Partial<Pick<Schemas['PersonalAccessToken'], 'permissions'>>;

export type CreatedApiToken = Schemas['CreateServiceAccountTokenAnswer' | 'CreatePersonalAccessTokenAnswer'];

export type ApiTokenInput = Schemas['ApiTokenInput' | 'PersonalAccessTokenInput'];

/** The tokens of one owner. */
export interface TokensApi {
  list(): Promise<Answer<Items<ApiToken>>>;
  create(input: ApiTokenInput): Promise<Answer<CreatedApiToken>>;
  revoke(id: string): Promise<Answer<null>>;
}

export type ServiceAccountInput = Schemas['ServiceAccountInput'];

export type ServiceAccount = Schemas['ServiceAccount'];

export type Role = Schemas['ListRolesAnswer']['items'][number];

export type AccessApi = ReturnType<typeof createAccessApi>;

export function createAccessApi(client: ApiClient) {
  const of = (id: string) => `/service-accounts/${id}`;
  return {
    roles: (): Promise<Answer<Items<Role>>> => client.get('/roles'),
    personalTokens: tokensAt(client, '/me/personal-access-tokens'),
    accountTokens: (id: string) => tokensAt(client, `${of(id)}/tokens`),
    accounts: {
      list: (page: PageRequest): Promise<Answer<Page<ServiceAccount>>> =>
        client.get('/service-accounts', { query: { ...page } }),
      create: (body: ServiceAccountInput): Promise<Answer<ServiceAccount>> =>
        client.post('/service-accounts', { body }),
      read: (id: string): Promise<Answer<ServiceAccount>> => client.get(of(id)),
      update: (id: string, body: ServiceAccountInput, ifMatch: string): Promise<Answer<ServiceAccount>> =>
        client.put(of(id), { body, ifMatch }),
      delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
      disable: (id: string): Promise<Answer<ServiceAccount>> => client.post(`${of(id)}/disable`),
      enable: (id: string): Promise<Answer<ServiceAccount>> => client.post(`${of(id)}/enable`),
    },
  };
}

function tokensAt(client: ApiClient, path: string): TokensApi {
  return {
    list: () => client.get(path),
    create: (body) => client.post(path, { body }),
    revoke: (id) => client.delete(`${path}/${id}`),
  };
}

/** Told to people before they type; the service decides. */
export const PASSWORD_MIN_LENGTH = 12;
