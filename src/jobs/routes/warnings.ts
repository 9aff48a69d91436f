/** Warnings about probable mistakes in a valid create request, or in the answers to rollouts. */
import { isDeepStrictEqual } from 'node:util';
import { emptySentences, totalEmpty } from '../../core/answers/empty-answers.js';
import { closestName } from '../../contracts/close-names.js';
import type { JobRow } from '../store/jobs.js';
import { judgesOf } from '../../scorers/index.js';
import { isDeterministic } from '../../core/jobs/answer-cache.js';
import { componentTexts } from '../../core/prompts/components.js';
import { inputsOf, rewritableNames } from '../../core/prompts/row-template.js';
import { bracedNames, isPlainName } from '../../core/prompts/template.js';
import { maxProposalChars } from '../../core/proposals/limits.js';
import { minSeeds } from '../../core/search/split.js';
import { isJudged } from '../../scorers/verifier.js';
import { retirementWarning, type ModelName } from '../../core/retirements/lookup.js';
import { unitOf } from '../../core/jobs/unit.js';
import { modelFamily } from '../../core/jobs/model-family.js';
import type { ContainerSpec, GraphSpec, SessionSpec, StoredSpec } from '../../core/jobs/spec.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import { namedModels } from '../../models/routes/retirements/named-models.js';

const most = 20;
/** The most fields of a policy that are compared with known ones. */
const comparedFields = 200;

/** The warnings about the request of a new job. */
export function createWarnings(spec: StoredSpec, publicUrl: string): string[] {
  const warnings = [
    ...containerWarnings(spec.container, publicUrl),
    ...(spec.kind === 'session' ? seedWarnings(spec) : []),
    ...cacheWarnings(spec),
    ...literalWarnings(spec),
    ...(spec.kind === 'session' ? roomWarnings(spec) : []),
    ...judgeWarnings(spec),
    ...retirementWarnings(namedModels(spec)),
    ...Object.entries(policiesOf(spec)).flatMap(([name, policy]) => policyWarnings(name, policy)),
  ];
  return warnings.slice(0, most);
}

/** Models that end within 90 days or have ended, each once. */
export function retirementWarnings(models: readonly ModelName[]): string[] {
  const now = Date.now();
  return [...new Set(models.flatMap((model) => retirementWarning(model, now) ?? []))];
}

/** The warnings about the rollouts of a job so far. */
export function rolloutWarnings({ kind, scored }: Pick<JobRow, 'kind' | 'scored'>): string[] {
  const { rollouts, withFeedback, low, high, empty } = scored;
  if (low === null || high === null) return [];
  const warnings: string[] = [];
  const count = totalEmpty(empty);
  if (count > 0) warnings.push(`${count} of ${rollouts} answers are empty. ${emptySentences(empty)}`);
  if (kind === 'session' && withFeedback === 0 && low < 1) {
    warnings.push(
      `None of the ${rollouts} scored answers has feedback, so new prompts are written without knowing what was wrong. Return reward_info.details.feedback from the container, or feedback from the scorer.`,
    );
  }
  if (low < 0 || high > 1) {
    warnings.push(
      `The rewards so far range from ${low} to ${high}. Return rewards from 0 to 1: a reward of 1 counts as solved, and failed answers count as 0.`,
    );
  }
  return warnings;
}

/** A remote container cannot call back to a loopback URL. */
function containerWarnings(container: ContainerSpec | null, publicUrl: string): string[] {
  if (!container || isLoopback(container.url) || !isLoopback(publicUrl)) return [];
  return [
    `The container at ${new URL(container.url).host} probably cannot reach the inference URLs, which begin with ${publicUrl}. Set RATCHET_PUBLIC_URL to a reachable address of this service.`,
  ];
}

const here = new Set(['localhost', '[::1]', '[::]', '0.0.0.0']);

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return here.has(hostname) || hostname.endsWith('.localhost') || hostname.startsWith('127.');
}

function seedWarnings(spec: SessionSpec): string[] {
  const { search, rollouts, rows } = spec;
  if (rollouts === 'caller') return [];
  const train = new Set(search.trainSeeds);
  const evaluation = new Set(search.evaluationSeeds);
  const shared = [...evaluation].filter((seed) => train.has(seed)).length;
  if (shared === 0) return [];
  const count = shared === evaluation.size ? `All ${shared}` : `${shared} of ${evaluation.size}`;
  if (rows && rows.numRows < minSeeds.apart)
    return [
      `${count} evaluation rows are also train rows, so best_reward favours prompts that fit them. Add rows: from ${minSeeds.apart} on, other rows evaluate than train; from ${minSeeds.heldout} on, some are held out for the verdict.`,
    ];
  const unit = `${unitOf(spec)}s`;
  return [
    `${count} evaluation ${unit} are also train ${unit}, so best_reward favours prompts that fit them. Give ${search.algorithm}.train_seeds and ${search.algorithm}.evaluation.seeds different ${unit}.`,
  ];
}

/** Warns about judges of the proposer's model family, which favour texts of their own family. */
function judgeWarnings(spec: StoredSpec): string[] {
  if (spec.kind !== 'session' && spec.kind !== 'graph') return [];
  const { proposer } = spec;
  const family = modelFamily(proposer.model);
  // The local model is the only one of its provider, for those without a key.
  if (family === null || proposer.provider === 'local') return [];
  const named = new Set(judgesIn(spec).flatMap(({ model }) => (modelFamily(model) === family ? [model] : [])));
  return [...named].map(
    (model) =>
      `The judge ${model} is of the same family as the proposer ${proposer.model}: judges favour texts of their own family. Judge with another one, or check some rewards by hand.`,
  );
}

function judgesIn(spec: SessionSpec | GraphSpec): PolicySpec[] {
  if (spec.kind === 'session') return spec.rows ? judgesOf(spec.rows.scorer) : [];
  return isJudged(spec.verifier) ? [spec.verifier.judge] : [];
}

/** Braces around a name that is no column go to the model as they are. */
function literalWarnings(spec: StoredSpec): string[] {
  if ((spec.kind !== 'session' && spec.kind !== 'evaluation') || !spec.rows) return [];
  const isInput = inputsOf(spec.rows.placeholders);
  const messages = (spec.kind === 'session' ? spec.initialPrompt : spec.candidate?.messages) ?? [];
  const names = new Set(messages.flatMap(({ content }) => bracedNames(content)));
  const literal = [...names].filter((name) => isPlainName(name) && !isInput(name)).map((name) => `{{${name}}}`);
  if (literal.length === 0) return [];
  return [
    `The prompt has ${literal.slice(0, 5).join(', ')}, no column of the rows: the model is sent the braces as they are.`,
  ];
}

/** Characters that a rewritten text usually needs beyond its parent. */
const usualGrowth = 2_000;

/** Texts that the search can hardly rewrite: the proposer would be paid for nothing. */
function roomWarnings(spec: SessionSpec): string[] {
  const texts = componentTexts(spec.initialPrompt);
  return rewritableNames(spec, texts).flatMap((name) => {
    const { length } = texts[name]!;
    const room = maxProposalChars(texts[name]!) - length;
    if (room >= usualGrowth) return [];
    return [
      `The text of "${name}" has ${length} characters, and one in its place may have only ${room} more. Shorten it, or move what need not change into a message of its own.`,
    ];
  });
}

/** Models whose calls do not use the answer cache that was asked for. */
function cacheWarnings(spec: StoredSpec): string[] {
  if (spec.kind === 'migration' || spec.kind === 'checkup') return [];
  const { answerCache } = spec.kind === 'deployment' ? (spec.gate ?? {}) : spec;
  if (answerCache !== 'deterministic') return [];
  const sampling = Object.entries(cachedModels(spec)).filter(([, { params }]) => !isDeterministic(params));
  return sampling.map(
    ([name]) => `answer_cache: true reuses only answers to calls with temperature 0; ${cacheAdvice[name]}`,
  );
}

const cacheAdvice: Record<string, string> = {
  policy: 'policy.temperature is not 0. Set it to 0, or answer_cache to "sampled".',
  'source.policy': 'source.policy.temperature is not 0. Set it to 0.',
  policy_model: 'calls of graphs have no temperature. Set answer_cache to "sampled".',
  judge: 'calls of the judge have no temperature. Set answer_cache to "sampled".',
};

/** The models of rollouts, by their names in `cacheAdvice`. */
function cachedModels(spec: Exclude<StoredSpec, { kind: 'migration' | 'checkup' }>): Record<string, PolicySpec> {
  switch (spec.kind) {
    case 'graph':
      return { policy_model: spec.policy, ...(isJudged(spec.verifier) && { judge: spec.verifier.judge }) };
    case 'deployment':
      return policiesOf(spec);
    default: {
      const [judge] = spec.rows ? judgesOf(spec.rows.scorer) : [];
      return { policy: spec.policy, ...(judge && { judge }) };
    }
  }
}

function policiesOf(spec: StoredSpec): Record<string, PolicySpec> {
  switch (spec.kind) {
    case 'session':
      return isDeepStrictEqual(spec.proposer, spec.policy)
        ? { policy: spec.policy }
        : { policy: spec.policy, proposer: spec.proposer };
    case 'evaluation':
      return { policy: spec.policy };
    case 'migration':
      return { to: spec.policy, ...(spec.session && { proposer: spec.session.proposer }) };
    case 'checkup':
      return spec.improve ? { proposer: spec.improve.session.proposer } : {};
    case 'graph':
      return { proposer: spec.proposer };
    case 'deployment':
      return spec.source.policy ? { 'source.policy': spec.source.policy } : {};
  }
}

function policyWarnings(name: string, { params }: PolicySpec): string[] {
  const fields = Object.keys(params).slice(0, comparedFields);
  return fields.flatMap((field) => {
    const meant = closestName(field, knownFields);
    if (meant === null) return [];
    return [`${name}.${field} is not a known field and goes to the model as it is; did you mean \`${meant}\`?`];
  });
}

/** The fields of chat completions at the providers, and those of a policy. */
const knownFields = [
  'model',
  'provider',
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'typical_p',
  'seed',
  'n',
  'best_of',
  'max_tokens',
  'min_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'stop',
  'stop_sequences',
  'suffix',
  'presence_penalty',
  'frequency_penalty',
  'repetition_penalty',
  'length_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'thinking_budget',
  'verbosity',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'stream',
  'stream_options',
  'user',
  'metadata',
  'store',
  'service_tier',
  'prediction',
  'modalities',
  'audio',
  'models',
  'route',
  'transforms',
  'plugins',
  'usage',
  'web_search_options',
  'safety_settings',
  'safe_prompt',
  'random_seed',
  'prompt_cache_key',
  'options',
  'format',
  'keep_alive',
  'think',
  'num_ctx',
  'num_predict',
  'extra_body',
];
