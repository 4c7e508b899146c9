/** Durations as texts. */

const SECOND = 1_000_000_000n;
const SMALL: readonly (readonly [size: bigint, unit: string])[] = [
  [1_000_000n, 'ms'],
  [1_000n, 'µs'],
  [1n, 'ns'],
];

/** As Go writes them: `1h2m3s`, `1.5s`, `0s`. */
export function durationText(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size < SECOND) {
    const [unit, name] = SMALL.find(([smallest]) => size >= smallest) ?? [1n, 'ns'];
    return `${sign}${fraction(size, unit)}${name}`;
  }
  const minutes = size / (60n * SECOND);
  const seconds = `${fraction(size % (60n * SECOND), SECOND)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  return `${sign}${hours > 0n ? `${hours}h` : ''}${minutes % 60n}m${seconds}`;
}

/** For people: `1d 2h 3m 4s` from the largest unit that is not zero down, below a second `12.5ms` (templates §6). */
export function humanDuration(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size < SECOND) return sign + (size === 0n ? '0s' : `${fraction(size, 1_000_000n)}ms`);
  const seconds = size / SECOND;
  const parts: readonly [bigint, string][] = [
    [seconds / 86_400n, 'd'],
    [(seconds / 3600n) % 24n, 'h'],
    [(seconds / 60n) % 60n, 'm'],
    [seconds % 60n, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0n);
  return (
    sign +
    parts
      .slice(first)
      .map(([count, unit]) => `${count}${unit}`)
      .join(' ')
  );
}

/** A quotient with as many digits behind the point as it has. */
function fraction(size: bigint, unit: bigint): string {
  const rest = (size % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return rest === '' ? `${size / unit}` : `${size / unit}.${rest}`;
}
