import { describe, expect, test } from '@jest/globals';
import { gepa } from '../../../../src/core/algorithms/gepa.js';
import type { RolloutRequest } from '../../../../src/core/search/protocol.js';
import { range } from '../../../support/range.js';
import { config, drive, proposed, type World } from './driver.js';

/** Outputs with reward 0.875 that no judge can judge on every third seed. */
const isUnverified = ({ seed }: Pick<RolloutRequest, 'seed'>) => seed % 3 === 0;
const shy: World = {
  rollout: (request) => (isUnverified(request) ? 'unverified' : request.candidate === 0 ? 0.875 : 0.9375),
  propose: (request) => proposed(request),
};
const seeds = { evaluationSeeds: range(0, 12), trainSeeds: range(12, 18), heldoutSeeds: range(30, 12) };

describe('outputs that the judge cannot score', () => {
  test('have no reward: means are over the others', () => {
    const { state, decisions } = drive(config({ ...seeds, generations: 1 }), shy);
    expect(gepa.view(state).history[0]).toEqual({ generation: 0, bestReward: 0.875 });
    expect(decisions.find(({ type }) => type === 'candidate_evaluated')).toMatchObject({
      reward: 0.875,
      seedsEvaluated: 8,
    });
  });

  test('are requested three times, and then not counted', () => {
    const { requests, decisions } = drive(config({ ...seeds, generations: 1 }), shy);
    const baseline = requests.filter(({ stage }) => stage === 'baseline');
    expect(baseline.filter(isUnverified)).toHaveLength(3 * 4);
    const dropped = decisions.flatMap((decision) => (decision.type === 'rollouts_repeated' ? decision.ordinals : []));
    expect(new Set(dropped)).toEqual(new Set(requests.filter(isUnverified).map(({ ordinal }) => ordinal)));
  });

  test('are left out of later stages', () => {
    const { state, requests } = drive(config({ ...seeds, generations: 6 }), shy);
    const later = requests.filter(({ stage }) => stage !== 'baseline' && stage !== 'heldout');
    for (const seed of new Set(later.filter(isUnverified).map(({ seed }) => seed))) {
      expect(seeds.evaluationSeeds).not.toContain(seed);
      expect(later.filter((request) => request.seed === seed)).toHaveLength(3);
    }
    expect(state.order.some((seed) => later.some((request) => isUnverified(request) && request.seed === seed))).toBe(
      false,
    );
  });

  test('leave the verdict to the seeds on which both are scored', () => {
    const { state } = drive(config({ ...seeds, generations: 1 }), shy);
    expect(gepa.view(state).verdict).toMatchObject({ basis: 'heldout', seeds: 8, baseline: 0.875, winner: 0.9375 });
  });

  test('fail a search whose baseline has no reward', () => {
    const { end } = drive(config(seeds), { ...shy, rollout: () => 'unverified' });
    expect(end).toMatchObject({ kind: 'failed', code: 'judgement_unusable' });
  });

  test('end neither the search nor its budget when the candidate alone is unverified', () => {
    const world: World = {
      ...shy,
      rollout: ({ candidate, stage }) => (candidate === 0 ? 0 : stage === 'evaluation' ? 'unverified' : 1),
    };
    const { state, end } = drive(config({ ...seeds, generations: 3, maxRollouts: 300 }), world);
    expect(end).toMatchObject({ kind: 'done' });
    expect(state.best).toEqual({ candidate: 0, reward: 0 });
  });
});
