import { describe, expect, test } from '@jest/globals';
import { candidateKey, mergeProposal, type MergeableCandidate } from '../../../src/core/graphs/candidate.js';
import { graphTexts } from '../../../src/core/graphs/components.js';
import { singleStepGraph } from '../../../src/core/graphs/single-step.js';

describe('candidateKey', () => {
  const demo = { component: null, seed: 1, ordinal: 1, input: 'i', output: 'o' };

  test('compares texts and what demonstrations show, not the rollouts that they come from', () => {
    const key = candidateKey({ texts: { system: 'a' }, demos: [demo], graph: null });
    expect(candidateKey({ texts: { system: 'a' }, demos: [{ ...demo, seed: 2, ordinal: 7 }], graph: null })).toBe(key);
    expect(candidateKey({ texts: { system: 'a' }, demos: [], graph: null })).not.toBe(key);
    expect(candidateKey({ texts: { system: 'b' }, demos: [demo], graph: null })).not.toBe(key);
  });
});

describe('mergeProposal', () => {
  const base = 'First rule.\n\nSecond rule.\n\nThird rule.';
  const ours = base.replace('First', 'Our');
  const theirs = base.replace('Third', 'Their');
  const pool = (texts: string[], parents: number[][]): Map<number, MergeableCandidate> =>
    new Map(
      texts.map((system, candidate) => [
        candidate,
        { candidate, parents: parents[candidate]!, texts: { system }, graph: null },
      ]),
    );

  test('combines the changes to the common parent', () => {
    expect(mergeProposal(pool([base, ours, theirs], [[], [0], [0]]), [1, 2])).toEqual({
      ok: true,
      graph: null,
      texts: { system: ours.replace('Third', 'Their') },
      parents: [1, 2],
    });
  });

  describe('of graphs', () => {
    const graphWith = (system: string, step = 'solve') => {
      const graph = singleStepGraph([{ role: 'system', content: system }], ['question']);
      return { ...graph, steps: graph.steps.map((each) => ({ ...each, id: step })), output: `${step}.answer` };
    };
    const graphs = (all: ReturnType<typeof graphWith>[]): Map<number, MergeableCandidate> =>
      new Map(
        all.map((graph, candidate) => [
          candidate,
          { candidate, parents: candidate === 0 ? [] : [0], texts: graphTexts(graph), graph },
        ]),
      );

    test('puts the merged texts into the graph', () => {
      const merged = mergeProposal(graphs([graphWith(base), graphWith(ours), graphWith(theirs)]), [1, 2]);
      expect(merged).toMatchObject({ ok: true, graph: graphWith(ours.replace('Third', 'Their')), parents: [1, 2] });
    });

    test('refuses graphs that differ in structure', () => {
      const merged = mergeProposal(graphs([graphWith(base), graphWith(ours), graphWith(theirs, 'other')]), [1, 2]);
      expect(merged).toEqual({ ok: false, reason: expect.stringContaining('structure') });
    });
  });

  test.each([
    ['without a common parent', pool([base, ours, theirs], [[], [0], [1]]), 'no parent in common'],
    ['that contradict each other', pool([base, ours, base.replace('First', 'X')], [[], [0], [0]]), 'different ways'],
  ])('refuses candidates %s', (_, candidates, reason) => {
    expect(mergeProposal(candidates, [1, 2])).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});
