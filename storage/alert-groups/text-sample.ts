/** What the server knows of titles and summaries: some of them, as `analyze` met them. */
import type { Transaction } from '../records.ts';
import { rareParts, type SampledText, type WordLetters } from './rare-parts.ts';

/** The half of the groups that an index of text is of. */
export type Half = 'open' | 'resolved';

/** Of each half, the parts of a text that its index is asked for. */
export type TextParts = Readonly<Record<Half, readonly string[]>>;

const INDEX = { open: 'alert_groups_open_text', resolved: 'alert_groups_resolved_text' } as const;

interface SampledHalf {
  readonly index_name: string;
  /** How the server tells letters from other characters. */
  readonly ctype: string;
  readonly common: readonly string[] | null;
  readonly common_shares: readonly number[] | null;
  /** Others, each as good as any: their share is what is left, in equal parts. */
  readonly others: readonly string[] | null;
}

/** The rare parts of a text, and all of it where there are none. */
export async function textParts(tx: Transaction, text: string): Promise<TextParts> {
  const halves = await tx<SampledHalf[]>`
    select
      tablename as index_name, most_common_vals::text::text[] as common, most_common_freqs as common_shares,
      histogram_bounds::text::text[] as others,
      (select datctype from pg_database where datname = current_database()) as ctype
    from pg_stats
    where schemaname = current_schema() and tablename in (${INDEX.open}, ${INDEX.resolved})`;
  const partsIn = (half: Half) => {
    const found = halves.find(({ index_name }) => index_name === INDEX[half]);
    return (found && rareParts(text, sampleOf(found), lettersOf(found))) ?? [text];
  };
  return { open: partsIn('open'), resolved: partsIn('resolved') };
}

function sampleOf({ common, common_shares, others }: SampledHalf): readonly SampledText[] {
  const shares = common_shares ?? [];
  const left = 1 - shares.reduce((sum, share) => sum + share, 0);
  return [
    ...(common ?? []).map((text, index) => ({ text, share: shares[index] ?? 0 })),
    ...(others ?? []).map((text, _, { length }) => ({ text, share: left / length })),
  ];
}

function lettersOf({ ctype }: SampledHalf): WordLetters {
  return ctype === 'C' || ctype === 'POSIX' ? 'ascii' : 'any';
}
