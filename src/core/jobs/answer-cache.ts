/** Which model calls may use the answers of earlier calls. */

/** `deterministic`: calls with temperature 0; `sampled`: all calls. */
export type AnswerCache = 'deterministic' | 'sampled';

/** An earlier answer is used at most once in this, and never where the model gave it. */
export type CacheScope = 'rollout' | 'job';

/**
 * The scope of a request's cached answer; null: call the model. A job shares no sampled answer
 * among its rollouts: repetitions measure noise.
 */
export function cacheScope(cache: AnswerCache | null, request: Record<string, unknown>): CacheScope | null {
  if (cache === null) return null;
  if (isDeterministic(request)) return 'rollout';
  return cache === 'sampled' ? 'job' : null;
}

/** Without a temperature, the provider's default samples. */
export function isDeterministic(params: Record<string, unknown>): boolean {
  return params['temperature'] === 0;
}
