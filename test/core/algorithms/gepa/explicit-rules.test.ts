import { describe, expect, test } from '@jest/globals';
import type { ProposalRequest } from '../../../../src/core/search/protocol.js';
import { range } from '../../../support/range.js';
import { of } from './cases.js';
import { config, drive, proposed, type Run, type World } from './driver.js';

/** Every candidate fails on seeds 0 to 3 alone; the baseline on all. */
const seeds = { trainSeeds: range(0, 12), evaluationSeeds: range(20, 6), minibatchSize: 3 };
const search = config({ ...seeds, populationSize: 1, generations: 200, maxRollouts: 400 });
const rollout: World['rollout'] = ({ candidate, seed }) => (candidate > 0 && seed > 3 ? 1 : 0);

/** The questions after the last run of a parent on further seeds. */
function stalledQuestions({ turns }: Run): ProposalRequest[] {
  const last = turns.findLastIndex(({ work }) => work.kind === 'rollouts' && work.requests[0]!.stage === 'minibatch');
  const questions = turns.slice(last).flatMap(({ work }) => (work.kind === 'proposals' ? work.requests : []));
  return questions.filter(({ approach }) => approach !== undefined);
}

const duplicate = { outcome: 'duplicate' } as const;

/** Candidate 1 gains; the answers to a stalled search are `answer`'s. */
const stalling = (answer: (request: ProposalRequest) => ReturnType<World['propose']>): World => ({
  rollout,
  propose: (request) => (request.approach || request.candidate > 1 ? answer(request) : proposed(request)),
});
const exhausted = (request: ProposalRequest) => ({ ...duplicate, shown: [...request.ordinals] });

describe('a stalled search', () => {
  test('asks for revisions and restarts in turn, once for a compression, and draws the failures', () => {
    const run = drive(search, stalling(exhausted));
    const asked = stalledQuestions(run);
    const count = (approach: string) => asked.filter((request) => request.approach === approach).length;
    expect([count('revise'), count('restart'), count('compress')]).toEqual([15, 8, 1]);
    const shown = asked.filter(({ parent, approach }) => parent === 1 && approach !== 'compress');
    const questions = new Set(shown.map(({ ordinals }) => [...ordinals].sort().join()));
    expect(questions.size).toBeGreaterThan(6);
    for (const { ordinals, pick } of shown) {
      expect(ordinals.length).toBeLessThanOrEqual(3);
      expect(pick).toEqual({ size: ordinals.length, index: 0, of: 1 });
    }
  });

  test('gives the questions of a generation different failures', () => {
    const run = drive({ ...search, populationSize: 8, generations: 60 }, stalling(exhausted));
    const [first] = stalledQuestions(run);
    const asked = run.proposals.filter(({ generation }) => generation === first!.generation);
    expect(new Set(asked.map(({ ordinals }) => [...ordinals].sort().join())).size).toBeGreaterThan(4);
  });

  test.each([
    [1, 24, 24],
    [4, 24, 6],
    [8, 48, 6],
  ])('population %i: ends after %i questions in %i generations without a candidate', (populationSize, count, turns) => {
    const run = drive({ ...search, populationSize, generations: 60 }, stalling(exhausted));
    const asked = stalledQuestions(run);
    expect([asked.length, new Set(asked.map(({ generation }) => generation)).size]).toEqual([count, turns]);
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'generations' });
    expect(run.state.best).toEqual({ candidate: 1, reward: 1 });
  });

  test('goes on as long as there are new candidates', () => {
    let questions = 0;
    const run = drive(
      search,
      stalling((request) =>
        ++questions % 20 === 0 && request.approach !== 'compress' ? proposed(request) : exhausted(request),
      ),
    );
    expect(questions).toBeGreaterThan(100);
    expect(of(run, 'candidate_proposed').filter(({ approach }) => approach !== undefined).length).toBeGreaterThan(5);
  });
});

test('a search whose texts are all too long ends with its best after 24 questions', () => {
  let questions = 0;
  const run = drive(search, {
    rollout,
    propose(request) {
      if (request.candidate === 1) return proposed(request);
      questions += 1;
      return { outcome: 'refused', reason: 'too long', shown: [...request.ordinals] };
    },
  });
  expect(run.end).toEqual({ kind: 'done', stoppedBy: 'generations' });
  expect([questions, run.state.best]).toEqual([24, { candidate: 1, reward: 1 }]);
  expect(of(run, 'proposal_failed')).toHaveLength(24);
});

describe('a compression', () => {
  const compressing = (rolloutOf: World['rollout']): World => ({
    ...stalling((request) => (request.approach === 'compress' ? proposed(request) : exhausted(request))),
    rollout: rolloutOf,
  });
  const compressionIn = (run: ReturnType<typeof drive>) =>
    run.proposals.find(({ approach }) => approach === 'compress')!.candidate;

  test('that loses nothing is accepted as shorter and wins the tie, as one of its own does', () => {
    const run = drive({ ...search, maxRollouts: 120 }, compressing(rollout));
    const candidate = compressionIn(run);
    expect(of(run, 'candidate_accepted')).toContainEqual(expect.objectContaining({ candidate, reason: 'shorter' }));
    const accepted = of(run, 'candidate_accepted').filter(({ reason }) => reason === 'shorter');
    expect(accepted.length).toBeGreaterThan(1);
    expect(run.state.best).toEqual({ candidate: accepted.at(-1)!.candidate, reward: 1 });
    const tested = run.requests.filter((request) => request.candidate === candidate && request.stage === 'gate');
    expect(tested.length).toBe(8);
  });

  test('that loses one of the solved seeds is rejected', () => {
    let compressed = Infinity;
    const run = drive(search, {
      ...compressing(({ candidate, seed, ...rest }) =>
        candidate === compressed && seed === 9 ? 0 : rollout({ candidate, seed, ...rest }),
      ),
      propose: (request) => {
        if (request.approach === 'compress') compressed = request.candidate;
        return request.approach && request.approach !== 'compress' ? exhausted(request) : proposed(request);
      },
    });
    expect(of(run, 'candidate_rejected').map(({ candidate }) => candidate)).toContain(compressed);
    expect(run.state.best!.candidate).toBe(1);
  });

  test('costs at most a quarter of the rollouts left', () => {
    const run = drive({ ...search, maxRollouts: 56 }, compressing(rollout));
    expect(stalledQuestions(run).length).toBeGreaterThan(3);
    expect(of(run, 'candidate_accepted').map(({ candidate }) => candidate)).toEqual([1]);
  });
});
