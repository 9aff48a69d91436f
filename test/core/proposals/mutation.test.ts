import { describe, expect, test } from '@jest/globals';
import { mutationOf } from '../../../src/core/proposals/mutation.js';

const feedback = (turn: number) => ({ kind: 'rewrite', components: { selection: 'feedback', turn } });

describe('mutationOf', () => {
  test('rewrites prompts, with the candidate number as turn', () => {
    expect([1, 2, 3].map((candidate) => mutationOf(candidate, {}))).toEqual([1, 2, 3].map(feedback));
  });

  test('keeps the selection of the configuration', () => {
    expect(mutationOf(5, { componentSelection: 'all' })).toEqual({
      kind: 'rewrite',
      components: { selection: 'all', turn: 5 },
    });
  });

  test('rewrites the prompts of graphs in a restart or a compression', () => {
    const kinds = (['revise', 'restart', 'compress'] as const).map(
      (approach) => mutationOf(2, { editsStructure: true }, approach).kind,
    );
    expect(kinds).toEqual(['edit', 'rewrite', 'rewrite']);
  });

  test('alternates between rewrites and edits of graphs; only rewrites advance the turn', () => {
    const edit = { kind: 'edit' };
    expect([1, 2, 3, 4, 5].map((candidate) => mutationOf(candidate, { editsStructure: true }))).toEqual([
      feedback(0),
      edit,
      feedback(1),
      edit,
      feedback(2),
    ]);
  });
});
