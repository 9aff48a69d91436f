/** What an answer's status and headers say about repeating the request: one rule for all peers. */
import { retryAfterMs } from './bounded.js';

/** Headers by their names in lower case, as Node has them. */
export type Headers = Readonly<Record<string, unknown>>;

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

/**
 * The advice in an answer's headers. `now`: milliseconds since 1970. Only `hide` sees their texts,
 * which may have a secret.
 */
export function retryAdvice(headers: Headers, now: number, hide: (text: string) => string = String): RetryAdvice {
  const read: ReadHeader = (name) => {
    const value = headers[name];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === 'string' || typeof first === 'number' ? hide(String(first)).trim() : null;
  };
  const advice = read('x-should-retry')?.toLowerCase();
  return {
    shouldRetry: advice === 'true' ? true : advice === 'false' ? false : null,
    retryAfter: retryAfterOf(Object.keys(headers), read, now),
  };
}

/** Null: absent. */
type ReadHeader = (name: string) => string | null;

function retryAfterOf(names: readonly string[], read: ReadHeader, now: number): string | null {
  const ms = read('retry-after-ms') ?? '';
  if (/^\d+(\.\d+)?$/.test(ms)) return seconds(Number(ms));
  const after = read('retry-after') ?? '';
  if (retryAfterMs(after, now) !== null) return after;
  const spelled = untilReset(after, now);
  if (spelled !== null) return seconds(spelled);
  const reset = resetMs(names, read, now);
  return reset === null ? null : seconds(reset);
}

const seconds = (ms: number) => String(Math.round(ms) / 1_000);

/** A reset of a limit; Anthropic names the limit before the field. */
const resetName = /^((?:x-|anthropic-)?ratelimit)-(?:reset(?:-(.+))?|(.+)-reset)$/;
const counted = ['requests', 'tokens'];
const spans = counted.flatMap((what) => ['minute', 'hour', 'day'].map((span) => `${what}-${span}`));
const limited = new Set(['after', ...counted, 'input-tokens', 'output-tokens', ...spans]);

/** When the last used-up limit resets; a limit without a rest counts as used up. */
function resetMs(names: readonly string[], read: ReadHeader, now: number): number | null {
  const waits = names.flatMap((name) => {
    const [, prefix, after, before] = resetName.exec(name) ?? [];
    const what = after ?? before;
    if (prefix === undefined || (what !== undefined && !limited.has(what))) return [];
    const remaining =
      what === undefined
        ? read(`${prefix}-remaining`)
        : (read(`${prefix}-remaining-${what}`) ?? read(`${prefix}-${what}-remaining`));
    if (remaining !== null && Number(remaining) > 0) return [];
    return untilReset(read(name) ?? '', now) ?? [];
  });
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
    const parts = [...value.matchAll(/(?<!\d)(\d+(?:\.\d+)?)(ms|[dhms])/g)];
    return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit!]!, 0);
  }
  return retryAfterMs(value, now);
}
