import { describe, expect, it } from 'vitest';
import { readMetadata } from './provider-access.ts';

function document(issuer: string, changes: Readonly<Record<string, string>> = {}) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    ...changes,
  };
}

const ISSUER = 'https://id.example.org';

describe('a discovery document', () => {
  it('is of the issuer of the settings, one slash at the end aside', () => {
    expect(readMetadata(document(`${ISSUER}/`), ISSUER)).toMatchObject({ issuer: `${ISSUER}/` });
    expect(readMetadata(document(ISSUER), 'https://other.example.org')).toMatch('another issuer');
  });

  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
    'of an issuer with https names no %s in the clear',
    (name) => {
      const clear = { [name]: 'http://id.example.org/clear' };
      expect(readMetadata(document(ISSUER, clear), ISSUER)).toBe(
        `the discovery document names a ${name} without https`,
      );
    },
  );

  it('of an issuer in the clear may lead anywhere', () => {
    const issuer = 'http://id.example.org';
    const found = readMetadata(document(issuer, { jwks_uri: 'https://keys.example.org' }), issuer);
    expect(found).toMatchObject({ jwks_uri: 'https://keys.example.org' });
  });

  it.each(['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri'])('lacks no %s', (name) => {
    const { [name]: _, ...lacking } = document(ISSUER) as Record<string, string>;
    expect(readMetadata(lacking, ISSUER)).toBe(`the discovery document lacks a usable ${name}`);
  });
});
