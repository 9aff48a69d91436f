import { Ratchet, type CreateEvaluation } from '../../src/client/index.js';
import type { TestService } from '../support/service.js';

/** A client of a test service. */
export function clientOf({ url, apiKey }: TestService, more: { url?: string; maxRetries?: number } = {}): Ratchet {
  return new Ratchet({ url, apiKey, ...more });
}

export const policy = { provider: 'local', model: 'local' };

/** Rows with sums; the local model answers some of them. */
export const sums = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ input: `${n} + 1`, expected: `${n + 1}` }));

/** An evaluation of a prompt on sums. */
export function evaluationOf(count: number, more: Partial<CreateEvaluation> = {}): CreateEvaluation {
  return {
    dataset: { rows: sums(count) },
    scorer: 'exact',
    policy,
    candidate: { messages: [{ role: 'user', content: '{{input}}' }] },
    ...more,
  };
}
