/**
 * Waits for statements that were handed to one transaction at once. Unlike `Promise.all` it returns only when all of
 * them are settled: a statement that a part issues after the transaction was rolled back would take effect on its own.
 * @throws the error that came first
 */
export async function together<T extends readonly unknown[]>(
  ...parts: { readonly [Index in keyof T]: Promise<T[Index]> }
): Promise<T> {
  let first: { readonly error: unknown } | null = null;
  const values = await Promise.all(
    parts.map((part) =>
      part.catch((error: unknown) => {
        first ??= { error };
      }),
    ),
  );
  if (first !== null) throw (first as { readonly error: unknown }).error;
  return values as unknown as T;
}
