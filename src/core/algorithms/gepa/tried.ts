/**
 * What a proposer is shown beside the failures of its parent: right answers, and what was tried.
 */
import { isSolved, mean } from '../../math/rewards.js';
import { seedRng, shuffle } from '../../math/random.js';
import type { TriedCandidate } from '../../proposals/tried-candidate.js';
import { shownOfMany } from './config.js';
import { showsMany } from '../../proposals/approach.js';
import type { ProposalRequest } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { GepaState } from './state.js';
import { tipFor } from '../../proposals/tips.js';

/** Right answers beside few failures. */
const besideFew = 3;
const maxTried = 8;
/** Lower streams belong to the search and to the draws of failures. */
const solvedDraws = 2_000_000;
const tipDraws = 5_000_000;

/** The request with solved rollouts, the earlier children of its parent, and a guide. */
export function withHistory(state: GepaState, model: RewardModel, request: ProposalRequest): ProposalRequest {
  if (request.kind !== 'rewrite' || request.approach === 'compress') return request;
  const solved = solvedRollouts(state, model, request);
  const tried = triedOn(state, model, request.parent);
  return {
    ...request,
    ...(solved.length > 0 && { solved }),
    ...(tried.length > 0 && { tried }),
    ...(state.config.isGuided && {
      guide: { tip: tipFor(seedRng(state.config.rngSeed, tipDraws + request.candidate)) },
    }),
  };
}

/** Rollouts of the parent's lineage with the full reward, drawn for the candidate. */
function solvedRollouts(
  { order, config }: GepaState,
  model: RewardModel,
  { candidate, parent, approach }: ProposalRequest,
): number[] {
  const solved = order.flatMap((seed) => {
    const posterior = model.posterior(parent, seed);
    return posterior !== null && isSolved(posterior.latest) && isSolved(posterior.mean) ? [posterior.ordinal] : [];
  });
  const [drawn] = shuffle(seedRng(config.rngSeed, solvedDraws + candidate), solved);
  return drawn.slice(0, showsMany(approach) ? shownOfMany.solved : besideFew);
}

function triedOn({ candidates, results }: GepaState, model: RewardModel, parent: number): TriedCandidate[] {
  const children = candidates.filter(({ parents }) => parents.length === 1 && parents[0] === parent);
  return children
    .slice(-maxTried)
    .reverse()
    .map(({ candidate, status }) => {
      const gains = Object.entries(results[candidate] ?? {}).flatMap(([seed, own]) => {
        const expected = model.prior(candidate, Number(seed));
        return expected === null ? [] : [mean(own.map(([, reward]) => reward))! - expected.mean];
      });
      return { candidate, status, gain: mean(gains), seeds: gains.length };
    });
}
