import { randomBytes, timingSafeEqual } from 'node:crypto';

/** A link in a log must not sign in for as long as the process runs. */
const lifeMs = 15 * 60_000;

/** Login links of this process: each signs one browser in, within 15 minutes. */
export interface LoginTokens {
  /** A new token. */
  issue(): string;
  /** The API key, once for each token; null: unknown, used or expired. */
  exchange(token: string): string | null;
}

export function createLoginTokens(apiKey: string, now: () => number = Date.now): LoginTokens {
  /** Unused tokens, with the time at which they expire. */
  const unused = new Map<string, number>();
  return {
    issue() {
      const token = randomBytes(24).toString('base64url');
      unused.set(token, now() + lifeMs);
      return token;
    },
    exchange(token) {
      const found = [...unused].find(([each]) => isSame(each, token));
      if (found === undefined) return null;
      const [used, expiresAt] = found;
      unused.delete(used);
      return now() < expiresAt ? apiKey : null;
    },
  };
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
