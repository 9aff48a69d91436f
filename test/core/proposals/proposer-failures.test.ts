import { describe, expect, test } from '@jest/globals';
import { noProposals, recordProposals } from '../../../src/core/proposals/proposer-failures.js';
import type { ProposalAnswer } from '../../../src/core/search/protocol.js';

/** Generations of outcomes (p, d or f) -> the generation that fails the search, or null. */
function failsIn(...generations: string[]): number | null {
  const names = { p: 'proposed', d: 'duplicate', f: 'failed' } as const;
  let record = noProposals;
  for (const [generation, outcomes] of generations.entries()) {
    const answers = [...outcomes].map((letter, candidate): ProposalAnswer => {
      return { candidate, outcome: names[letter as 'p' | 'd' | 'f'] };
    });
    const result = recordProposals(record, answers);
    if (result.failure !== null) return generation + 1;
    record = result.record;
  }
  return null;
}

describe('recordProposals', () => {
  test.each<[number | null, string[]]>([
    // Two consecutive generations without proposals.
    [2, ['f', 'f']],
    [2, ['fff', 'ff']],
    [null, ['ff', 'fp', 'ff', 'pf']],
    [null, ['ff', 'd', 'ff']],
    // Six consecutive failures that include a whole generation.
    [1, ['ffffff']],
    [null, ['fffff']],
    [2, ['pfffff', 'f']],
    // A generation with a proposal or duplicate.
    [null, ['pffffff', 'p']],
    [null, ['ffffffd']],
  ])('fails the search in generation %p of %j', (expected, generations) => {
    expect(failsIn(...generations)).toBe(expected);
  });

  test('reports the last reason', () => {
    const answers = [1, 2].map((candidate): ProposalAnswer => {
      return { candidate, outcome: 'failed', reason: `reason ${candidate}` };
    });
    const { record } = recordProposals(noProposals, answers);
    const { failure } = recordProposals(record, answers);
    expect(failure).toMatch(/4 times in a row\. The last reason: reason 2\./);
  });
});
