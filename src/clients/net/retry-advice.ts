/** What an answer's status and headers say about repeating the request: one rule for all peers. */
import { retryAfterMs } from './bounded.js';

/** Reads a header by its name in lower case; null: absent. */
export type ReadHeader = (name: string) => string | null;

/** A server's advice. `retryAfter`: as a `Retry-After` header has it. */
export interface RetryAdvice {
  shouldRetry: boolean | null;
  retryAfter: string | null;
}

/** Passing statuses below 500, as OpenAI's clients have them; 498 is Groq's, 499 nginx's. */
const passing = new Set([408, 409, 425, 429, 498, 499]);

/** A method or a version of HTTP that the server does not have. */
const lasting = new Set([501, 505]);

/** Whether the same request may succeed later: `x-should-retry` decides, else the status. */
export function mayPass(status: number, { shouldRetry }: Pick<RetryAdvice, 'shouldRetry'>): boolean {
  return shouldRetry ?? (passing.has(status) || (status >= 500 && !lasting.has(status)));
}

/** Whether a status asks for fewer calls: limits of rate (429, 498) and of capacity (503, 529). */
export function isPushback(status: number): boolean {
  return status === 429 || status === 498 || status === 503 || status === 529;
}

/** The advice in an answer's headers. `now`: milliseconds since 1970. */
export function retryAdvice(header: ReadHeader, now: number): RetryAdvice {
  const advice = header('x-should-retry')?.trim().toLowerCase();
  return {
    shouldRetry: advice === 'true' ? true : advice === 'false' ? false : null,
    retryAfter: retryAfterOf(header, now),
  };
}

function retryAfterOf(header: ReadHeader, now: number): string | null {
  const ms = header('retry-after-ms')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(ms)) return seconds(Number(ms));
  const after = header('retry-after')?.trim() ?? '';
  if (retryAfterMs(after, now) !== null) return after;
  const spelled = untilReset(after, now);
  if (spelled !== null) return seconds(spelled);
  const reset = resetMs(header, now);
  return reset === null ? null : seconds(reset);
}

const seconds = (ms: number) => String(Math.round(ms) / 1_000);

/** Prefixes of the headers `…-remaining-<what>` and `…-reset-<what>`. */
const prefixes = ['x-ratelimit', 'anthropic-ratelimit', 'ratelimit'];
const counted = ['requests', 'tokens'];
const spans = counted.flatMap((what) => ['minute', 'hour', 'day'].map((span) => `${what}-${span}`));
const limited = ['', 'after', ...counted, 'input-tokens', 'output-tokens', ...spans];

/** When the last used-up limit resets; a limit without a rest counts as used up. */
function resetMs(header: ReadHeader, now: number): number | null {
  const waits = prefixes.flatMap((prefix) =>
    limited.flatMap((what) => {
      const [reset, remaining] = ['reset', 'remaining'].map(
        (field) =>
          // Anthropic names the limit before the field.
          header(what === '' ? `${prefix}-${field}` : `${prefix}-${field}-${what}`) ??
          header(`${prefix}-${what}-${field}`),
      );
      if (reset == null || (remaining != null && Number(remaining) > 0)) return [];
      return untilReset(reset, now) ?? [];
    }),
  );
  return waits.length === 0 ? null : Math.max(...waits);
}

const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** A reset as seconds, as a time since 1970 (seconds, milliseconds), as `6m0.5s`, or as a date. */
function untilReset(text: string, now: number): number | null {
  const value = text.trim();
  if (/^\d+(\.\d+)?$/.test(value)) {
    const number = Number(value);
    if (number > 1e12) return Math.max(0, number - now);
    return number > 1e9 ? Math.max(0, number * 1_000 - now) : number * 1_000;
  }
  if (/^(\d+(\.\d+)?(ms|[dhms]))+$/.test(value)) {
    const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)];
    return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit!]!, 0);
  }
  return retryAfterMs(value, now);
}
