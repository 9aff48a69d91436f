import type { z } from 'zod';
import { priceOf } from '../clients/cost.js';
import type { estimateSchema } from '../contracts/common.js';
import type { EvaluationSpec, Message, PolicySpec, SessionSpec } from '../contracts/spec.js';
import { estimateRollouts, type GepaConfig } from '../core/gepa/config.js';
import { evaluationRollouts, heldoutRollouts, minibatchOf } from '../core/search/config.js';
import { createUnpaired } from '../core/gepa/unpaired/state.js';
import { unpaired } from '../core/gepa/unpaired/step.js';

type Estimate = z.output<typeof estimateSchema>;
type Range = Record<'low' | 'likely' | 'high', number>;

/**
 * What is assumed where nothing is known, in tokens: how long a container's prompt, an input, an answer and a rollout's feedback are. A
 * rollout is taken to make one call. Known texts count a token for every four characters.
 */
const assumed = {
  prompt: 400,
  input: { low: 50, likely: 300, high: 1_500 },
  answer: { low: 20, likely: 150, high: 1_000 },
  feedback: { low: 20, likely: 100, high: 500 },
  /** What the proposer is told beside examples, and what it thinks and says beside the new prompt. */
  instruction: 300,
  thinking: { low: 0, likely: 200, high: 4_000 },
  /** After how many of the generations the most promising candidate is evaluated, beside baseline and winner. */
  evaluated: { low: 0, likely: 0.5, high: 1 },
  /** On how many minibatches a proposal is tried, the parent's included. */
  minibatches: { low: 1, likely: 2, high: 2 },
} as const;

const levels = ['low', 'likely', 'high'] as const;

/** What a session will ask for and cost; the cost is null where a price is not known. */
export function sessionEstimate(spec: SessionSpec): Estimate {
  const { gepa, budget, rngSeed, policy, proposer, initialPrompt } = spec;
  const config: GepaConfig = { ...gepa, maxRollouts: budget.maxRollouts, rngSeed };
  const rollouts = spec.rollouts === 'caller' ? mostLiveRollouts(config) : estimateRollouts(config);
  const prompt = promptTokens(initialPrompt);
  const proposals = gepa.populationSize * gepa.generations;
  const minibatch = minibatchOf(config);
  const cost = range((level) => {
    const evaluations = 2 + assumed.evaluated[level] * (gepa.generations - 1);
    const onSeeds = evaluations * evaluationRollouts(config) + heldoutRollouts(config);
    const likely = Math.ceil(onSeeds) + assumed.minibatches[level] * minibatch * proposals;
    const asked = level === 'high' ? rollouts : Math.min(rollouts, likely);
    // Live traffic is paid for anyway.
    const perRollout = spec.rollouts === 'caller' ? 0 : rolloutPrice(policy, prompt, level);
    const shown = assumed.input[level] + answerTokens(policy, level) + assumed.feedback[level];
    const perProposal = priceOf(
      proposer.provider,
      proposer.model,
      prompt + assumed.instruction + minibatch * shown,
      Math.min(prompt + assumed.thinking[level], limitOf(proposer)),
    );
    if (perRollout === null || perProposal === null) return null;
    // A budget of rollouts ends proposals, too.
    const tried = Math.min(proposals, Math.ceil(asked / (assumed.minibatches[level] * minibatch)));
    return Math.min(asked * perRollout + tried * perProposal, budget.maxCostUsd ?? Infinity);
  });
  return { rollouts, cost_usd: cost };
}

/** Live calls that name no instance take more of them; which it will be its first call decides. */
function mostLiveRollouts(config: GepaConfig): number {
  return Math.max(estimateRollouts(config), unpaired.view(createUnpaired(config)).rolloutsPlanned);
}

/** What an evaluation will ask for and cost; the cost is null where the price is not known. */
export function evaluationEstimate({ seeds, policy, candidate }: EvaluationSpec): Estimate {
  const prompt = promptTokens(candidate?.messages ?? null);
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

function answerTokens(policy: PolicySpec, level: keyof Range): number {
  return Math.min(assumed.answer[level], limitOf(policy));
}

/** How long the policy lets answers be, in tokens. */
function limitOf({ params }: PolicySpec): number {
  const named = [params['max_tokens'], params['max_completion_tokens']];
  return Math.min(Infinity, ...named.filter((limit): limit is number => typeof limit === 'number' && limit > 0));
}

function promptTokens(messages: Message[] | null): number {
  if (!messages) return assumed.prompt;
  return Math.ceil(messages.reduce((sum, { content }) => sum + content.length, 0) / 4);
}

function range(of: (level: keyof Range) => number | null): Range | null {
  const [low, likely, high] = levels.map(of);
  if (low == null || likely == null || high == null) return null;
  return { low, likely, high };
}
