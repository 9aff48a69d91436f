import { describe, expect, test } from '@jest/globals';
import type { ProposalRequest } from '../../../../src/core/search/protocol.js';
import { range } from '../../../support/range.js';
import { config, drive, proposed, type World } from './driver.js';

const seeds = { trainSeeds: range(0, 12), evaluationSeeds: range(20, 6), minibatchSize: 2 };
const search = config({ ...seeds, editsStructure: true, populationSize: 1, generations: 30, maxRollouts: 200 });

/**
 * Candidate 1 solves all seeds by three steps, at three times the cost. Its `count` graphs without
 * a step cost less; `solves` tells on which seeds.
 */
function worldOf(count: number, solves: (ablation: number, seed: number) => boolean): World {
  const ablations = new Map<number, number>();
  return {
    rollout({ candidate, seed }) {
      const ablation = ablations.get(candidate);
      if (ablation !== undefined) return solves(ablation, seed) ? 1 : 0;
      return candidate === 0 ? 0 : 1;
    },
    cost: ({ candidate }) => (candidate === 0 ? 1 : ablations.has(candidate) ? 2 : 3),
    propose(request: ProposalRequest) {
      const { kind, candidate, parent, ablation } = request;
      if (kind !== 'ablate') return proposed(request);
      if (parent !== 1 || ablation! >= count) return { outcome: 'failed', reason: 'no further step' };
      ablations.set(candidate, ablation!);
      return { outcome: 'proposed', removed: [] };
    },
  };
}
const ablationsIn = ({ proposals }: { proposals: ProposalRequest[] }) =>
  proposals.filter(({ kind }) => kind === 'ablate').map(({ parent, ablation }) => [parent, ablation]);

describe('ablation at the end of a graph search', () => {
  test('drops a step without which nothing is lost, and evaluates the winner', () => {
    const run = drive(
      search,
      worldOf(2, (ablation) => ablation === 1),
    );
    const [first, second] = run.proposals.filter(({ kind }) => kind === 'ablate');
    expect([first, second]).toMatchObject([{ ablation: 0 }, { ablation: 1 }]);
    expect(run.state.best).toEqual({ candidate: second!.candidate, reward: 1 });
    expect(run.decisions).toContainEqual(
      expect.objectContaining({ type: 'candidate_accepted', candidate: second!.candidate, reason: 'cheaper' }),
    );
    expect(run.end).toMatchObject({ kind: 'done', stoppedBy: 'solved' });
  });

  test('keeps a step that some seeds need, after as many rollouts as an evaluation at most', () => {
    const run = drive(
      search,
      worldOf(1, (_, seed) => seed % 4 !== 3),
    );
    expect(run.state.best).toEqual({ candidate: 1, reward: 1 });
    const [{ candidate }] = run.proposals.filter(({ kind }) => kind === 'ablate') as [ProposalRequest];
    const tested = run.requests.filter((request) => request.candidate === candidate);
    expect(tested.length).toBeLessThanOrEqual(2 + seeds.evaluationSeeds.length);
  });

  test('tries each step once, and its end is no failure of the proposer', () => {
    const run = drive(
      search,
      worldOf(3, () => false),
    );
    expect(ablationsIn(run)).toEqual([0, 1, 2, 3].map((ablation) => [1, ablation]));
    expect(run.decisions.filter(({ type }) => type === 'proposal_failed')).toEqual([]);
  });

  test('needs a winner that costs more than the first graph', () => {
    expect(ablationsIn(drive(search, { ...worldOf(2, () => true), cost: () => 1 }))).toEqual([]);
    expect(
      ablationsIn(
        drive(
          { ...search, editsStructure: false },
          worldOf(2, () => true),
        ),
      ),
    ).toEqual([]);
  });

  test('stays within the budget', () => {
    for (const maxRollouts of range(24, 40)) {
      const run = drive(
        { ...search, maxRollouts },
        worldOf(2, (_, seed) => seed % 3 === 0),
      );
      expect(run.requests.length).toBeLessThanOrEqual(maxRollouts);
      expect(run.end.kind).toBe('done');
    }
  });
});
