/** Which master keys an installation knows, who holds them, and which may go (secrets §5). */

/** What database and replicas say of keys. */
export interface KeysKnown {
  /** Null on a database that was never started on. */
  readonly activeKeyId: string | null;
  /** How many sealed values each key id opens; ids without any are absent. */
  readonly sealedWith: ReadonlyMap<string, number>;
  /** How many open Root messages have buttons that each key signed; ids without any are absent. */
  readonly signedWith: ReadonlyMap<string, number>;
  /** Live ones, one entry each. */
  readonly replicas: readonly { readonly id: string; readonly keyIds: readonly string[] }[];
}

export interface KeyEntry {
  readonly id: string;
  readonly active: boolean;
  /** Ids of live replicas. */
  readonly heldBy: readonly string[];
  readonly missingOn: readonly string[];
  /** Active, or something is sealed or a button signed with it, or nothing else is held. */
  readonly needed: boolean;
  readonly removable: boolean;
}

/** The active key first, then by id. */
export function keyEntries({
  activeKeyId,
  sealedWith,
  signedWith,
  replicas,
}: KeysKnown): readonly KeyEntry[] {
  const held = new Set(replicas.flatMap(({ keyIds }) => keyIds));
  const used = new Set([...sealedWith.keys(), ...signedWith.keys()]);
  const known = new Set([...(activeKeyId === null ? [] : [activeKeyId]), ...used, ...held]);
  const entries = [...known].sort().map((id): KeyEntry => {
    const isOnlyHeld = held.size === 1 && held.has(id);
    const needed = id === activeKeyId || used.has(id) || isOnlyHeld;
    const [heldBy, missingOn] = holders(id, replicas);
    return { id, active: id === activeKeyId, heldBy, missingOn, needed, removable: !needed };
  });
  return [...entries.filter(({ active }) => active), ...entries.filter(({ active }) => !active)];
}

function holders(id: string, replicas: KeysKnown['replicas']): [held: string[], missing: string[]] {
  const names = (holds: boolean) =>
    replicas.filter(({ keyIds }) => keyIds.includes(id) === holds).map((replica) => replica.id);
  return [names(true), names(false)];
}

/** As the API and `tocsin keys status --json` show it. */
export function keyringBody(entries: readonly KeyEntry[]) {
  return {
    keys: entries.map(({ id, active, heldBy, missingOn, needed, removable }) => ({
      ...{ id, active, held_by: [...heldBy], missing_on: [...missingOn], needed, removable },
    })),
  };
}
