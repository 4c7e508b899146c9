/** The platform's `fetch`, as it was before tests replace it by one that checks answers. Imports nothing. */
export const plainFetch: typeof fetch = globalThis.fetch;
