/** What every search does with answers that do not match, and with proposals that fail. */
import { describe, expect, test } from '@jest/globals';
import { createGepa } from '../../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../../src/core/algorithms/gepa.js';
import { createUnpaired } from '../../../src/core/algorithms/gepa-live/state.js';
import { unpaired } from '../../../src/core/algorithms/gepa-live.js';
import { proposalsIn } from '../../../src/core/search/parts.js';
import type {
  ProposalAnswer,
  ProposalRequest,
  SearchAlgorithm,
  SearchRequest,
  SearchResponse,
} from '../../../src/core/search/protocol.js';
import { of } from './gepa/cases.js';
import { answer, config, driveSearch, proposed, type World } from './gepa/driver.js';

const level: World = { rollout: () => 0.5, propose: proposed };

/** A search of two evaluation seeds and two proposals at once. */
function subject<State>(search: SearchAlgorithm<State>, start: State) {
  return {
    /** The first request of a kind, and what applies answers to it. */
    at(kind: SearchRequest['kind']) {
      let state = start;
      while (search.next(state).kind !== kind) state = search.apply(state, answer(search.next(state), level)).state;
      return { request: search.next(state), apply: (answers: SearchResponse) => search.apply(state, answers) };
    },
    run(propose: (request: ProposalRequest) => Omit<ProposalAnswer, 'candidate'> = proposed) {
      const run = driveSearch(search, start, { ...level, propose });
      return {
        ...run,
        view: search.view(run.state),
        apply: (answers: SearchResponse) => search.apply(run.state, answers),
      };
    },
  };
}

const seeds = { trainSeeds: [0, 1, 2, 3, 4, 5], evaluationSeeds: [10, 11] };
const gepaConfig = config({ ...seeds, populationSize: 2, generations: 6, minibatchSize: 1 });
const subjects = {
  GEPA: subject(gepa, createGepa(gepaConfig)),
  'GEPA on live traffic': subject(unpaired, createUnpaired(gepaConfig)),
};

describe.each(Object.entries(subjects))('%s', (_, { at, run }) => {
  const rollouts = (...answers: [ordinal: number, reward: number | null][]): SearchResponse => ({
    kind: 'rollouts',
    answers: answers.map(([ordinal, reward]) => ({ ordinal, reward, infrastructure: false })),
  });
  const proposals = (...answers: Partial<ProposalAnswer>[]): SearchResponse => ({
    kind: 'proposals',
    answers: answers.map((answer, index) => ({ candidate: index + 1, outcome: 'proposed', ...answer })),
  });

  test.each<[string, SearchResponse, RegExp]>([
    ['answers of another kind', proposals(), /"proposals" does not fit .* "rollouts"/],
    ['missing answers', rollouts([0, 1]), /rollout 1 was asked for and not answered/],
    ['unrequested answers', rollouts([0, 1], [2, 1]), /rollout 2 was answered but is not among those asked for/],
    ['repeated answers', rollouts([0, 1], [1, 1], [1, 1]), /rollout 1 was answered twice/],
    ['the reward NaN', rollouts([0, 1], [1, NaN]), /rollout 1 was answered with reward NaN/],
    ['the reward Infinity', rollouts([0, Infinity], [1, 1]), /rollout 0 was answered with reward Infinity/],
  ])('refuses %s', (_, answers, message) => {
    expect(() => at('rollouts').apply(answers)).toThrow(message);
  });

  test('refuses answers to proposals that do not match', () => {
    const { request, apply } = at('proposals');
    const [first] = proposalsIn(request);
    const fine = { shown: first!.ordinals.slice(0, 1) };
    expect(fine.shown).toHaveLength(1);
    expect(() => apply(proposals(fine, fine))).not.toThrow();
    expect(() => apply(rollouts([0, 1]))).toThrow(/does not fit .* "proposals"/);
    expect(() => apply(proposals(fine))).toThrow('candidate 2 was asked for and not answered');
    expect(() => apply(proposals(fine, fine, fine))).toThrow('candidate 3 was answered but is not among');
    expect(() => apply(proposals(fine, { ...fine, candidate: 1 }))).toThrow('candidate 1 was answered twice');
    expect(() => apply(proposals({ shown: [99] }, {}))).toThrow('shown rollout 99, which was not offered');
    expect(() => apply(proposals({ parents: [7] }, {}))).toThrow('combines candidate 7, which was not asked for');
  });

  test('refuses answers after the end', () => {
    expect(() => run().apply(rollouts())).toThrow(/does not fit .* "done"/);
  });

  test('reports failed and duplicate proposals, which cost no rollouts', () => {
    const { decisions, requests, view } = run((request) => {
      const outcome = request.candidate === 1 ? 'failed' : request.candidate === 2 ? 'duplicate' : 'proposed';
      return { ...proposed(request), outcome, reason: `reason ${request.candidate}` };
    });
    expect(of({ decisions }, 'proposal_failed').slice(0, 2)).toMatchObject([
      { candidate: 1, generation: 1, reason: 'reason 1' },
      { candidate: 2, generation: 1, reason: expect.stringMatching(/^duplicate/) },
    ]);
    expect(requests.filter(({ candidate }) => candidate === 1 || candidate === 2)).toEqual([]);
    expect(view.candidates.map(({ candidate }) => candidate)).not.toContain(2);
  });

  test('fails if all proposals of two generations in a row fail; the baseline stays the best', () => {
    const { end, proposals, view } = run(({ candidate }) => ({ outcome: 'failed', reason: `reason ${candidate}` }));
    const { candidate } = proposals.at(-1)!;
    expect(end).toMatchObject({ kind: 'failed', code: 'proposer_failed' });
    expect(end).toMatchObject({ message: expect.stringContaining(`reason ${candidate}`) });
    expect(new Set(proposals.map(({ generation }) => generation))).toEqual(new Set([1, 2]));
    expect(view).toMatchObject({ bestCandidate: 0, bestReward: 0.5, generation: 2, verdict: null });
    expect(view.rolloutsPlanned).toBe(view.rolloutsCompleted);
  });

  test('ends by generations if all proposals are duplicates', () => {
    const { end, view } = run(() => ({ outcome: 'duplicate' }));
    expect(end).toEqual({ kind: 'done', stoppedBy: 'generations' });
    expect(view.candidates).toHaveLength(1);
  });
});
