/** Operations on the caller's own session (api §3). */
import type { Answer, ApiClient } from './client.ts';
import type { Session, SignInOptions } from './shapes.ts';

export type SessionsApi = ReturnType<typeof createSessionsApi>;

export function createSessionsApi(client: ApiClient) {
  return {
    options: (): Promise<Answer<SignInOptions>> => client.get('/sign-in-options'),
    current: (): Promise<Answer<Session>> => client.get('/sessions/current'),
    signIn: (login: string, password: string): Promise<Answer<Session>> =>
      client.post('/sessions', { body: { login, password } }),
    secondFactor: (
      proof: { readonly totp_code: string } | { readonly recovery_code: string },
    ): Promise<Answer<Session>> => client.post('/sessions/current/totp', { body: proof }),
    signOut: (): Promise<Answer<null>> => client.delete('/sessions/current'),
  };
}
