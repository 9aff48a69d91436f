import { trimEndOf } from '../../util/text.js';
import { unknownPrice } from '../../models/client/call-bound.js';
import type { ContainerFields, PolicyRequest } from '../../contracts/common.js';
import type { EvaluationRequest } from '../../kinds/evaluation/contract/evaluation.js';
import type { PolicyOptimization } from '../../kinds/session/contract/create.js';
import type { ContainerSpec, EvaluationSpec, RowsSpec, RunSpec, SessionSpec } from '../../core/jobs/spec.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import type { Message } from '../../core/prompts/message.js';
import { promptTokens } from '../../core/prompts/length.js';
import { algorithmOf, searchFromRequest } from '../../core/algorithms/index.js';
import { requestPath } from '../../core/search/request.js';
import type { SeedSplit } from '../../core/search/split.js';
import { judgesOf } from '../../scorers/index.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { pointerOf, refuse, type FieldError } from '../../platform/http/server/errors.js';

type StaticChecks = Pick<HttpDeps, 'checkContainerUrl' | 'checkProvider'>;
type Path = readonly string[];

/** The path of a session's optimization in its body. */
export const optimizationPath = ['policy_optimization'] as const;

/** What a data set brings to a session: its rows, the prompt that they fill, and a split. */
export interface SessionRows {
  spec: RowsSpec;
  messages: Message[];
  /** null: the request names the seeds. */
  split: SeedSplit | null;
  warnings: string[];
}

/** A session's spec; throws with all invalid fields by their paths in the body. */
export function sessionSpec(
  request: PolicyOptimization,
  checks: StaticChecks,
  rows: SessionRows | null = null,
): SessionSpec {
  const path = optimizationPath;
  const { container_url: url } = request;
  const search = searchFromRequest(request, rows?.split);
  const problems = algorithmOf(search).configProblems(search);
  const pathOf = (field: string) => [...path, ...requestPath(search.algorithm, field)];
  const errors = [
    ...staticErrors(request, path, checks),
    ...problems.map(({ field, message }) => ({ pointer: pointerOf(pathOf(field)), message })),
  ];
  if (request.proposer) errors.push(...providerErrors(request.proposer, [...path, 'proposer'], checks));
  const initialPrompt = rows?.messages ?? request.initial_prompt?.messages ?? null;
  errors.push(...lengthErrors(request, initialPrompt, [...path, 'max_prompt_tokens']));
  // Live traffic is paid by its callers: the budget covers the proposer only.
  const { policy, proposer } = request;
  const paid = request.rollouts === 'caller' ? { proposer: proposer ?? policy } : { policy, proposer };
  errors.push(...priceErrors({ budget: request.budget, paid, rows: rows?.spec ?? null }, path));
  if (rows && errors.length === 0) {
    const lists = (['trainSeeds', 'evaluationSeeds', 'heldoutSeeds'] as const).map((field) => {
      return { path: pathOf(field), seeds: search[field] };
    });
    errors.push(...seedErrors(rows.spec.numRows, lists));
  }
  if (errors.length > 0) throw refuse.invalid(errors);

  return {
    kind: 'session',
    ...(rows && { rows: rows.spec }),
    search,
    ...runSpec(request),
    container: url === undefined ? null : containerSpec(request, url, request.env_name ?? null),
    ...(request.rollouts === 'caller' && { rollouts: request.rollouts }),
    initialPrompt,
    ...(request.max_prompt_tokens !== undefined && { maxPromptTokens: request.max_prompt_tokens }),
    proposer: policySpec(request.proposer ?? request.policy),
    budget: {
      maxMinutes: request.budget?.max_minutes ?? null,
      maxCostUsd: request.budget?.max_cost_usd ?? null,
    },
  };
}

/** The baseline must fit, or no proposal would be compared with what is allowed. */
function lengthErrors(
  { max_prompt_tokens: most }: PolicyOptimization,
  prompt: Message[] | null,
  path: Path,
): FieldError[] {
  const tokens = prompt === null ? 0 : promptTokens(prompt, []);
  if (most === undefined || tokens <= most) return [];
  return [{ pointer: pointerOf(path), message: `must be at least ${tokens}, the length of initial_prompt` }];
}

/** A cost budget needs prices: one error per model without a price. */
function priceErrors({ budget, paid, rows }: PaidModels, path: Path): FieldError[] {
  if (budget?.max_cost_usd === undefined) return [];
  return budgetErrors(paid, rows ? judgesOf(rows.scorer) : [], [...path, 'budget', 'max_cost_usd']);
}

/** One error per role of a model without a price, of the field that limits dollars. */
export function budgetErrors(
  models: Readonly<Record<string, Pick<PolicySpec, 'provider' | 'model'> | undefined>>,
  judges: readonly PolicySpec[],
  path: Path,
): FieldError[] {
  const judge = judges.find((judge) => unknownPrice(judge) !== null);
  return Object.entries({ ...models, ...(judge && { judge }) }).flatMap(([name, model]) => {
    const reason = model && unknownPrice(model);
    return reason ? [{ pointer: pointerOf(path), message: `needs known prices: ${name}: ${reason}` }] : [];
  });
}

/** The models that a budget pays for; those of judges are in the rows. */
interface PaidModels {
  budget: EvaluationRequest['budget'];
  paid: Record<string, PolicyRequest | undefined>;
  rows: RowsSpec | null;
}

/** An evaluation's spec; `candidate` is already resolved. Throws if its budget needs a price. */
export function evaluationSpec(
  request: EvaluationRequest,
  candidate: EvaluationSpec['candidate'],
  rows: RowsSpec | null,
  path: Path = [],
): EvaluationSpec {
  const { budget, policy } = request;
  const errors = priceErrors({ budget, paid: { policy }, rows }, path);
  if (errors.length > 0) throw refuse.invalid(errors);
  const maxCostUsd = budget?.max_cost_usd ?? null;
  return {
    kind: 'evaluation',
    ...(rows && { rows }),
    ...runSpec(request),
    container: rows ? null : containerSpec(request, request.container_url!, request.env_name!),
    appId: request.app_id ?? 'default',
    seeds: request.seeds ?? [...Array(rows?.numRows ?? 0).keys()],
    timeoutS: request.timeout,
    ...(maxCostUsd !== null && { budget: { maxMinutes: null, maxCostUsd } }),
    candidate,
  };
}

/** Checks of an evaluation beyond its schema. */
export function checkEvaluation(request: EvaluationRequest, path: Path, checks: StaticChecks): void {
  const errors = staticErrors(request, path, checks);
  if (errors.length > 0) throw refuse.invalid(errors);
}

type RunFields = ContainerFields & { policy: PolicyRequest };

function runSpec(request: RunFields): Omit<RunSpec, 'container'> {
  return {
    policy: policySpec(request.policy),
    maxConcurrent: request.max_concurrent,
    rolloutTimeoutS: request.rollout_timeout,
    maxFailureRate: request.max_failure_rate,
    preflight: request.preflight,
    ...answerCacheSpec(request.answer_cache),
  };
}

/** The stored form of `answer_cache`. */
export function answerCacheSpec(requested: ContainerFields['answer_cache']): Pick<RunSpec, 'answerCache'> {
  if (requested === false) return {};
  return { answerCache: requested === true ? 'deterministic' : requested };
}

export function containerSpec(request: ContainerFields, url: string, envName: string | null): ContainerSpec {
  return {
    url: trimEndOf(url, '/'),
    envName,
    envConfig: request.env_config ?? {},
    hasApiKey: request.container_api_key !== undefined,
  };
}

export function policySpec({ model, provider, ...params }: PolicyRequest): PolicySpec {
  return { model, provider, params };
}

function staticErrors(
  request: RunFields & { container_url?: string | undefined },
  path: Path,
  checks: StaticChecks,
): FieldError[] {
  const url = request.container_url;
  const reason = url === undefined ? null : checks.checkContainerUrl(url);
  return [
    ...(reason === null ? [] : [{ pointer: pointerOf([...path, 'container_url']), message: reason }]),
    ...providerErrors(request.policy, [...path, 'policy'], checks),
  ];
}

/** Errors of the policy's provider. */
export function providerErrors(
  policy: PolicyRequest,
  path: Path,
  checks: Pick<StaticChecks, 'checkProvider'>,
): FieldError[] {
  const reason = checks.checkProvider(policy.provider);
  return reason === null ? [] : [{ pointer: pointerOf([...path, 'provider']), message: reason }];
}

/** Seeds that are no rows, by the path of their list. */
export function seedErrors(numRows: number, lists: readonly { path: Path; seeds: readonly number[] }[]): FieldError[] {
  return lists.flatMap(({ path, seeds }) => {
    const beyond = seeds.find((seed) => seed >= numRows);
    if (beyond === undefined) return [];
    return [
      { pointer: pointerOf(path), message: `must be rows of the data set, 0 to ${numRows - 1}; ${beyond} is none` },
    ];
  });
}
