import { randomBytes, timingSafeEqual } from 'node:crypto';

/** Login links of this process: each signs one browser in. */
export interface LoginTokens {
  /** A new token. */
  issue(): string;
  /** The API key, once for each token; null: unknown or used. */
  exchange(token: string): string | null;
}

export function createLoginTokens(apiKey: string): LoginTokens {
  const unused = new Set<string>();
  return {
    issue() {
      const token = randomBytes(24).toString('base64url');
      unused.add(token);
      return token;
    },
    exchange(token) {
      const found = [...unused].find((each) => isSame(each, token));
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
