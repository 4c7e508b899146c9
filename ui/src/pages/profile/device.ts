/** A browser and a system in a few words, as far as a user agent gives them away. */

/** The first that fits: many browsers also name those they descend from. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\/|\bEdgiOS\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Null when nothing is known. */
export function deviceOf(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const named = [BROWSERS, SYSTEMS].flatMap(
    (known) => known.find(([sign]) => sign.test(userAgent))?.[1] ?? [],
  );
  return named.length > 0 ? named.join(', ') : userAgent.slice(0, 60);
}
