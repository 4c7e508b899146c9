import { type Mask, maskShapes, maskUrl } from '../secrets/masking.ts';

/**
 * What an answer with a redirect status says for people (outbound-http §1.3): its target, resolved against the
 * request's URL and masked. Redirects are never followed.
 */
export function redirectText(requested: URL, location: string | undefined, mask: Mask = maskShapes): string {
  if (location === undefined || location === '') return 'redirect without Location';
  if (!URL.canParse(location, requested.href)) return 'redirect without a usable Location';
  return `redirect to ${maskUrl(new URL(location, requested), mask)} not followed`;
}
