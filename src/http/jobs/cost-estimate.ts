import type { z } from 'zod';
import { priceOf } from '../../clients/models/cost.js';
import type { estimateSchema } from '../../contracts/common.js';
import { renderPrompt } from '../../core/prompts/demos.js';
import type { BudgetSpec, EvaluationSpec, Message, PolicySpec, SessionSpec } from '../../core/jobs/spec.js';
import { algorithmOf, type SearchSettings } from '../../core/algorithms/index.js';
import type { Levels, SearchEstimate } from '../../core/algorithms/estimate.js';
import { evaluationRollouts, heldoutRollouts } from '../../core/search/config.js';

export type Estimate = z.output<typeof estimateSchema>;
export type Range = Levels;

/**
 * What is assumed where nothing is known, in tokens: how long a container's prompt, an input, an answer and a rollout's feedback are. A
 * rollout is taken to make one call. Known texts count a token for every four characters.
 */
export const assumed = {
  prompt: 400,
  input: { low: 50, likely: 300, high: 1_500 },
  answer: { low: 20, likely: 150, high: 1_000 },
  feedback: { low: 20, likely: 100, high: 500 },
  /** What the proposer is told beside examples, and what it thinks and says beside the new prompt. */
  instruction: 300,
  thinking: { low: 0, likely: 200, high: 4_000 },
  /** After how many of the generations the most promising candidate is evaluated, beside baseline and winner. */
  evaluated: { low: 0, likely: 0.5, high: 1 },
  /** How many of the demonstrations that a prompt may have it has. */
  demos: { low: 0, likely: 0.5, high: 1 },
} as const;

const levels = ['low', 'likely', 'high'] as const;

/** What a session will ask for and cost; the cost is null where a price is not known. */
export function sessionEstimate(spec: SessionSpec): Estimate {
  const { search, budget, policy, proposer, initialPrompt } = spec;
  const isLive = spec.rollouts === 'caller';
  const components = Math.max(1, initialPrompt?.length ?? 1);
  const expected = algorithmOf(search).estimate(search, { isLive, components });
  const prompt = promptTokens(initialPrompt);
  return searchCost(search, expected, budget, (level) => {
    // Live traffic is paid for anyway.
    const demos =
      Math.ceil(assumed.demos[level] * expected.maxDemos) * (assumed.input[level] + answerTokens(policy, level));
    const perRollout = isLive ? 0 : rolloutPrice(policy, prompt + demos, level);
    const shown = assumed.input[level] + answerTokens(policy, level) + assumed.feedback[level];
    const perProposal = priceOf(
      proposer.provider,
      proposer.model,
      prompt + assumed.instruction + expected.shownRollouts * shown,
      Math.min(prompt + assumed.thinking[level], limitOf(proposer)),
    );
    return { perRollout, perProposal };
  });
}

/** The rollouts and the cost of a search from the price of a rollout and of a proposal; null: unknown. */
export function searchCost(
  search: SearchSettings,
  { maxRollouts, generations, proposals, testRollouts }: SearchEstimate,
  { maxCostUsd }: BudgetSpec,
  priceAt: (level: keyof Range) => { perRollout: number | null; perProposal: number | null },
): Estimate {
  const cost = range((level) => {
    const { perRollout, perProposal } = priceAt(level);
    if (perRollout === null || perProposal === null) return null;
    const evaluations = 2 + assumed.evaluated[level] * (generations - 1);
    const evaluated = Math.ceil(evaluations * evaluationRollouts(search) + heldoutRollouts(search));
    const rollouts = level === 'high' ? maxRollouts : Math.min(maxRollouts, evaluated + testRollouts[level]);
    // A budget of rollouts limits proposals too.
    const perTest = Math.max(1, testRollouts[level] / proposals);
    const made = Math.min(proposals, Math.ceil(rollouts / perTest));
    return Math.min(rollouts * perRollout + made * perProposal, maxCostUsd ?? Infinity);
  });
  return { rollouts: maxRollouts, cost_usd: cost };
}

/** What an evaluation will ask for and cost; the cost is null where the price is not known. */
export function evaluationEstimate({ seeds, policy, candidate }: EvaluationSpec): Estimate {
  const prompt = promptTokens(candidate && renderPrompt(candidate.messages, candidate.demos ?? []));
  return {
    rollouts: seeds.length,
    cost_usd: range((level) => {
      const price = rolloutPrice(policy, prompt, level);
      return price === null ? null : seeds.length * price;
    }),
  };
}

function rolloutPrice(policy: PolicySpec, prompt: number, level: keyof Range): number | null {
  const { provider, model } = policy;
  return priceOf(provider, model, prompt + assumed.input[level], answerTokens(policy, level));
}

/** How long an answer is taken to be. */
export function answerTokens(policy: PolicySpec, level: keyof Range): number {
  return Math.min(assumed.answer[level], limitOf(policy));
}

/** How long the policy lets answers be, in tokens. */
export function limitOf({ params }: PolicySpec): number {
  const named = [params['max_tokens'], params['max_completion_tokens']];
  return Math.min(Infinity, ...named.filter((limit): limit is number => typeof limit === 'number' && limit > 0));
}

function promptTokens(messages: Message[] | null): number {
  return messages ? textTokens(messages.reduce((sum, { content }) => sum + content.length, 0)) : assumed.prompt;
}

/** Tokens of a text of so many characters. */
export function textTokens(chars: number): number {
  return Math.ceil(chars / 4);
}

function range(of: (level: keyof Range) => number | null): Range | null {
  const [low, likely, high] = levels.map(of);
  if (low == null || likely == null || high == null) return null;
  return { low, likely, high };
}
