/** What a key may do; no scope includes another. */
export const scopes = ['read', 'write', 'infer', 'admin'] as const;
