/** Headers that every answer of the app listener carries (api §1.2.8, ui §1.1). */

export type HeaderList = readonly (readonly [name: string, value: string])[];

const UI_CSP = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const API_CSP = "default-src 'none'; frame-ancestors 'none'";

export interface SecurityHeaders {
  /** For answers of the API; never cached. */
  readonly api: HeaderList;
  /** For files of the UI; caching is the file's own business. */
  readonly ui: HeaderList;
}

/** @param publicUrl people's address of the service; https turns Strict-Transport-Security on */
export function securityHeaders(publicUrl: string): SecurityHeaders {
  const common: HeaderList = [
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'no-referrer'],
    ['X-Frame-Options', 'DENY'],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ...(publicUrl.startsWith('https:') ? ([['Strict-Transport-Security', 'max-age=31536000']] as const) : []),
  ];
  return {
    api: [...common, ['Content-Security-Policy', API_CSP]],
    ui: [...common, ['Content-Security-Policy', UI_CSP]],
  };
}
