/** What the server knows of titles and summaries: some of them, as `analyze` met them. */
import { MINUTE, type Micros, type Monotonic } from '../../runtime/clock.ts';
import type { Transaction } from '../records.ts';
import {
  type PlainSample,
  plainSample,
  rareParts,
  type SampledText,
  type WordLetters,
} from './rare-parts.ts';

/** How long what was read is taken for what there is: `analyze` comes by a few times a day. */
const KNOWN_FOR: Micros = MINUTE;

/** The half of the groups that an index of text is of. */
export type Half = 'open' | 'resolved';

/** Of each half, the rare parts of a text; null where there is no telling that it is rare. */
export type TextParts = Readonly<Record<Half, readonly string[] | null>>;

const INDEX = { open: 'alert_groups_open_text', resolved: 'alert_groups_resolved_text' } as const;

interface SampledHalf {
  /** Null where the server has a sample of neither. */
  readonly index_name: string | null;
  /** How the server tells letters from other characters. */
  readonly ctype: string;
  readonly common: readonly string[] | null;
  readonly common_shares: readonly number[] | null;
  /** Others, each as good as any: their share is what is left, in equal parts. */
  readonly others: readonly string[] | null;
}

interface Known {
  readonly until: Micros;
  readonly isThere: boolean;
  readonly open: PlainSample | null;
  readonly resolved: PlainSample | null;
}

/** The indexes of titles and summaries. Whether there are any depends on what the database server offers. */
export class TextIndexes {
  readonly #monotonic: Monotonic;
  #known: Known | null = null;

  constructor(monotonic: Monotonic) {
    this.#monotonic = monotonic;
  }

  async areThere(tx: Transaction): Promise<boolean> {
    return (await this.#read(tx)).isThere;
  }

  async partsOf(tx: Transaction, text: string): Promise<TextParts> {
    const { open, resolved } = await this.#read(tx);
    return { open: open && rareParts(text, open), resolved: resolved && rareParts(text, resolved) };
  }

  async #read(tx: Transaction): Promise<Known> {
    const now = this.#monotonic();
    if (this.#known !== null && now < this.#known.until) return this.#known;
    const rows = await tx<(SampledHalf & { readonly is_there: boolean })[]>`
      select
        to_regclass(${INDEX.open}) is not null as is_there, tablename as index_name,
        most_common_vals::text::text[] as common, most_common_freqs as common_shares,
        histogram_bounds::text::text[] as others,
        (select datctype from pg_database where datname = current_database()) as ctype
      from (values (0)) as one
      left join pg_stats on schemaname = current_schema() and tablename in (${INDEX.open}, ${INDEX.resolved})`;
    const sampleIn = (half: Half) => {
      const found = rows.find(({ index_name }) => index_name === INDEX[half]);
      return found === undefined ? null : plainSample(sampleOf(found), lettersOf(found));
    };
    this.#known = {
      until: now + KNOWN_FOR,
      isThere: rows[0]?.is_there ?? false,
      open: sampleIn('open'),
      resolved: sampleIn('resolved'),
    };
    return this.#known;
  }
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
