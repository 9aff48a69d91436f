import type { z } from 'zod';
import { priceOf } from '../../clients/models/cost.js';
import type { estimateSchema } from '../../contracts/common.js';
import { renderPrompt } from '../../core/prompts/demos.js';
import type {
  BudgetSpec,
  EvaluationSpec,
  GepaSession,
  Message,
  MiproSession,
  PolicySpec,
  SessionSpec,
} from '../../core/jobs/spec.js';
import { estimateRollouts, type GepaConfig } from '../../core/algorithms/gepa/config.js';
import { generationsOf, trialSize, type MiproConfig } from '../../core/algorithms/mipro/config.js';
import { createMipro } from '../../core/algorithms/mipro/state.js';
import { mipro } from '../../core/algorithms/mipro/step.js';
import { evaluationRollouts, heldoutRollouts, minibatchOf } from '../../core/search/config.js';
import { createUnpaired } from '../../core/algorithms/gepa-live/state.js';
import { unpaired } from '../../core/algorithms/gepa-live/step.js';

export type Estimate = z.output<typeof estimateSchema>;
export type Range = Record<'low' | 'likely' | 'high', number>;

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
  /** Rollouts that the writer of an instruction is shown in a MIPRO session. */
  shown: 6,
  /** On how many minibatches a proposal is tried, the parent's included. */
  minibatches: { low: 1, likely: 2, high: 2 },
} as const;

const levels = ['low', 'likely', 'high'] as const;

/** How a search spends: rollouts at most, and proposals with what each is shown. */
interface Spending {
  rollouts: number;
  /** Demonstrations in a prompt, at most. */
  demos: number;
  /** Rollouts that are asked for where no budget ends the search first. */
  asked: (level: keyof Range) => number;
  proposals: number;
  /** Rollouts that a proposal is shown, and for how many rollouts of the budget there is one. */
  shown: number;
  perProposal: (level: keyof Range) => number;
}

/** What a session will ask for and cost; the cost is null where a price is not known. */
export function sessionEstimate(spec: SessionSpec): Estimate {
  const { budget, policy, proposer, initialPrompt } = spec;
  const spending = spec.algorithm === 'mipro' ? miproSpending(spec) : gepaSpending(spec);
  const prompt = promptTokens(initialPrompt);
  return searchEstimate(spending, budget, (level) => {
    // Live traffic is paid for anyway.
    const demos =
      Math.ceil(assumed.demos[level] * spending.demos) * (assumed.input[level] + answerTokens(policy, level));
    const perRollout = spec.rollouts === 'caller' ? 0 : rolloutPrice(policy, prompt + demos, level);
    const shown = assumed.input[level] + answerTokens(policy, level) + assumed.feedback[level];
    const perProposal = priceOf(
      proposer.provider,
      proposer.model,
      prompt + assumed.instruction + spending.shown * shown,
      Math.min(prompt + assumed.thinking[level], limitOf(proposer)),
    );
    return { perRollout, perProposal };
  });
}

/** What a search will ask for and cost, from what a rollout and a proposal cost; null: a price is not known. */
export function searchEstimate(
  spending: Spending,
  { maxCostUsd }: BudgetSpec,
  priceAt: (level: keyof Range) => { perRollout: number | null; perProposal: number | null },
): Estimate {
  const { rollouts, proposals } = spending;
  const cost = range((level) => {
    const { perRollout, perProposal } = priceAt(level);
    if (perRollout === null || perProposal === null) return null;
    const asked = level === 'high' ? rollouts : Math.min(rollouts, spending.asked(level));
    // A budget of rollouts ends proposals, too.
    const tried = Math.min(proposals, Math.ceil(asked / spending.perProposal(level)));
    return Math.min(asked * perRollout + tried * perProposal, maxCostUsd ?? Infinity);
  });
  return { rollouts, cost_usd: cost };
}

/** How a GEPA search spends, of whatever kind of job. */
export function gepaSpending({
  gepa,
  budget,
  rngSeed,
  rollouts,
}: Pick<GepaSession, 'gepa' | 'budget' | 'rngSeed' | 'rollouts'>): Spending {
  const config: GepaConfig = { ...gepa, maxRollouts: budget.maxRollouts, rngSeed };
  const proposals = gepa.populationSize * gepa.generations;
  const minibatch = minibatchOf(config);
  return {
    rollouts: rollouts === 'caller' ? maxLiveRollouts(config) : estimateRollouts(config),
    demos: 0,
    asked(level) {
      const evaluations = 2 + assumed.evaluated[level] * (gepa.generations - 1);
      const onSeeds = evaluations * evaluationRollouts(config) + heldoutRollouts(config);
      return Math.ceil(onSeeds) + assumed.minibatches[level] * minibatch * proposals;
    },
    proposals,
    shown: minibatch,
    perProposal: (level) => assumed.minibatches[level] * minibatch,
  };
}

function miproSpending({ mipro: search, budget, rngSeed, initialPrompt, rollouts }: MiproSession): Spending {
  const config: MiproConfig = { ...search, maxRollouts: budget.maxRollouts, rngSeed };
  // One more describes the task.
  const proposals = 1 + Math.max(1, initialPrompt?.length ?? 1) * (search.numCandidates - 1);
  const trial = trialSize(config);
  return {
    demos: Math.max(search.maxBootstrappedDemos, search.maxLabeledDemos),
    rollouts: rollouts === 'caller' ? plannedRollouts(config, 'unpaired') : plannedRollouts(config, 'paired'),
    asked(level) {
      const evaluations = 2 + assumed.evaluated[level] * (generationsOf(search) - 1);
      const onSeeds = evaluations * evaluationRollouts(config) + heldoutRollouts(config);
      return Math.ceil(onSeeds) + search.numTrials * trial;
    },
    proposals,
    shown: assumed.shown,
    perProposal: () => Math.max(1, (search.numTrials * trial) / proposals),
  };
}

/** As the search itself sees it before its first rollout. */
function plannedRollouts(config: MiproConfig, traffic: 'paired' | 'unpaired'): number {
  return mipro.view({ ...createMipro(config), traffic }).rolloutsPlanned;
}

/** Live calls that name no instance take more of them; which it will be its first call decides. */
function maxLiveRollouts(config: GepaConfig): number {
  return Math.max(estimateRollouts(config), unpaired.view(createUnpaired(config)).rolloutsPlanned);
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
