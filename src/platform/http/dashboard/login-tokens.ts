import { randomBytes, timingSafeEqual } from 'node:crypto';

/** A link in a log must not sign in for as long as the process runs. */
const lifeMs = 15 * 60_000;

/** Login links of this process: each signs one browser in, within 15 minutes. */
export interface LoginTokens {
  /** A new token. */
  issue(): string;
  /** Whether the token was issued and neither used nor expired. */
  isUnused(token: string): boolean;
  /** Whether any token is. */
  anyUnused(): boolean;
  /** The API key, once for each token; null: unknown, used or expired. */
  exchange(token: string): string | null;
}

export function createLoginTokens(apiKey: string, now: () => number = Date.now): LoginTokens {
  /** Unused tokens, with the time at which they expire. */
  const unused = new Map<string, number>();
  const dropExpired = () => {
    for (const [token, expiresAt] of unused) if (now() >= expiresAt) unused.delete(token);
  };
  const find = (token: string) => {
    dropExpired();
    return [...unused.keys()].find((each) => isSame(each, token));
  };
  return {
    isUnused: (token) => find(token) !== undefined,
    anyUnused() {
      dropExpired();
      return unused.size > 0;
    },
    issue() {
      const token = randomBytes(24).toString('base64url');
      unused.set(token, now() + lifeMs);
      return token;
    },
    exchange(token) {
      const found = find(token);
      if (found === undefined) return null;
      unused.delete(found);
      return apiKey;
    },
  };
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
