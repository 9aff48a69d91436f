import type { z } from 'zod';
import { priceOf } from '../../models/client/cost.js';
import { judgesOf } from '../../scorers/index.js';
import type { estimateSchema } from '../../contracts/common.js';
import { renderPrompt, roomForDemos } from '../../core/prompts/demos.js';
import { budgetOf, type BudgetSpec, type EvaluationSpec, type SessionSpec } from '../../core/jobs/spec.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import type { Message } from '../../core/prompts/message.js';
import { estimateSearch, type SearchSettings } from '../../core/algorithms/index.js';
import type { Levels, SearchEstimate } from '../../core/algorithms/estimate.js';
import { evaluationRollouts, heldoutRollouts } from '../../core/search/config.js';

export type Estimate = z.output<typeof estimateSchema>;
export type Range = Levels;

/**
 * Assumptions for unknown sizes, in tokens; a rollout makes one call. Known texts count one token
 * per four characters.
 */
export const assumptions = {
  prompt: 400,
  input: { low: 50, likely: 300, high: 1_500 },
  answer: { low: 20, likely: 150, high: 1_000 },
  feedback: { low: 20, likely: 100, high: 500 },
  /** The proposer's instructions, and its reasoning besides the new prompt. */
  instruction: 300,
  thinking: { low: 0, likely: 200, high: 4_000 },
  /** Fraction of generations that evaluate a candidate, besides baseline and winner. */
  evaluated: { low: 0, likely: 0.5, high: 1 },
  /** Fraction of the allowed demonstrations that a prompt has. */
  demos: { low: 0, likely: 0.5, high: 1 },
} as const;

type PricedSpec = Pick<SessionSpec | EvaluationSpec, 'policy' | 'rows'>;

const levels = ['low', 'likely', 'high'] as const;

/** Rollouts and cost of a session; cost null: an unknown price. */
export function sessionEstimate(spec: SessionSpec): Estimate {
  const { search, budget, policy, proposer, initialPrompt } = spec;
  const isLive = spec.rollouts === 'caller';
  const expected = estimateSearch(search, isLive);
  const prompt = promptTokens(initialPrompt);
  return searchCost(search, expected, budget, (level) => {
    // Live traffic costs the job nothing: its callers pay anyway.
    const perDemo = assumptions.input[level] + answerTokens(policy, level);
    const { labeled, good } = expected.demos;
    const most = Math.max(good, Math.min(labeled, roomForDemos([perDemo])));
    const demos = Math.ceil(assumptions.demos[level] * most) * perDemo;
    const perRollout = isLive ? 0 : rolloutPrice(spec, prompt + demos, level);
    const shown = assumptions.input[level] + answerTokens(policy, level) + assumptions.feedback[level];
    const perProposal = priceOf(
      proposer.provider,
      proposer.model,
      prompt + assumptions.instruction + expected.shownRollouts[level] * shown,
      Math.min(prompt + assumptions.thinking[level], answerLimit(proposer)),
    );
    return { perRollout, perProposal };
  });
}

/** Rollouts and cost of a search, from the prices of a rollout and a proposal; null: unknown. */
export function searchCost(
  search: SearchSettings,
  { maxRollouts, generations, proposals, testRollouts }: SearchEstimate,
  { maxCostUsd }: BudgetSpec,
  priceAt: (level: keyof Range) => { perRollout: number | null; perProposal: number | null },
): Estimate {
  const cost = range((level) => {
    const { perRollout, perProposal } = priceAt(level);
    if (perRollout === null || perProposal === null) return null;
    const evaluations = 2 + assumptions.evaluated[level] * (generations - 1);
    const evaluated = Math.ceil(evaluations * evaluationRollouts(search) + heldoutRollouts(search));
    const rollouts = level === 'high' ? maxRollouts : Math.min(maxRollouts, evaluated + testRollouts[level]);
    // A rollout budget also limits proposals.
    const perTest = Math.max(1, testRollouts[level] / proposals);
    const made = Math.min(proposals, Math.ceil(rollouts / perTest));
    return Math.min(rollouts * perRollout + made * perProposal, maxCostUsd ?? Infinity);
  });
  return { rollouts: maxRollouts, cost_usd: cost };
}

/** Rollouts and cost of an evaluation; cost null: an unknown price. */
export function evaluationEstimate(spec: EvaluationSpec): Estimate {
  const { seeds, candidate } = spec;
  const { maxCostUsd } = budgetOf(spec);
  const prompt = promptTokens(candidate && renderPrompt(candidate.messages, candidate.demos ?? []));
  return {
    rollouts: seeds.length,
    cost_usd: range((level) => {
      const price = rolloutPrice(spec, prompt, level);
      return price === null ? null : Math.min(seeds.length * price, maxCostUsd ?? Infinity);
    }),
  };
}

/** One answer of the policy, and one of each judge of a job on a data set. */
function rolloutPrice({ policy, rows }: PricedSpec, prompt: number, level: keyof Range): number | null {
  const input = assumptions.input[level];
  const { provider, model } = policy;
  const prices = [
    priceOf(provider, model, prompt + input, answerTokens(policy, level)),
    ...(rows ? judgesOf(rows.scorer) : []).map((judge) => {
      const shown = assumptions.instruction + input + answerTokens(policy, level);
      return priceOf(judge.provider, judge.model, shown, assumptions.feedback[level]);
    }),
  ];
  return prices.reduce((sum, price) => (sum === null || price === null ? null : sum + price), 0);
}

/** Assumed tokens of an answer. */
export function answerTokens(policy: PolicySpec, level: keyof Range): number {
  return Math.min(assumptions.answer[level], answerLimit(policy));
}

/** The policy's limit of answer tokens. */
export function answerLimit({ params }: PolicySpec): number {
  const named = [params['max_tokens'], params['max_completion_tokens']];
  return Math.min(Infinity, ...named.filter((limit): limit is number => typeof limit === 'number' && limit > 0));
}

function promptTokens(messages: Message[] | null): number {
  return messages ? textTokens(messages.reduce((sum, { content }) => sum + content.length, 0)) : assumptions.prompt;
}

/** Tokens of a text with this number of characters. */
export function textTokens(chars: number): number {
  return Math.ceil(chars / 4);
}

function range(of: (level: keyof Range) => number | null): Range | null {
  const [low, likely, high] = levels.map(of);
  if (low == null || likely == null || high == null) return null;
  return { low, likely, high };
}
