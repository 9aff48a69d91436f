import { unknownPrice } from '../../../models/client/call-bound.js';
import { priceOf } from '../../../models/client/cost.js';
import { requestPolicies, type TaskedGraphJob } from '../contract/job.js';
import { hasRubric, rubricOf, taskDescription, taskInput, type TaskedDataset } from '../contract/dataset.js';
import type { Path } from '../contract/dataset-problems.js';
import type { GraphSpec } from '../../../core/jobs/spec.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import { goldProblem, isJudged, readsRubric, verifierSpec, type VerifierSpec } from '../../../scorers/verifier.js';
import { configProblems, type GepaConfig } from '../../../core/algorithms/gepa/config.js';
import type { SearchSettings } from '../../../core/algorithms/index.js';
import { samples } from '../../../core/search/config.js';
import { graphSearch } from '../../../core/graphs/search-config.js';
import { graphToJson } from '../../../core/graphs/json.js';
import { splitOf } from '../../../core/search/split.js';
import { comparableJson, wordsOfJson } from '../../../core/prompts/comparable-json.js';
import { groupRows, groupWarnings, type RowContent, type RowGroups } from '../../../core/prompts/row-groups.js';
import { canonicalJson } from '../../../util/json.js';
import type { GraphTask, IndexedTask } from '../store/tasks.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { answerCacheSpec } from '../../../jobs/routes/specs.js';
import { listed, refuse } from '../../../platform/http/server/errors.js';
import type { Fault } from '../../../platform/http/server/faults.js';
import { firstGraph } from './first-graph.js';
import { errorOf, type TaskSource } from './row-tasks.js';
import { inputFaults } from './task-inputs.js';
import { formWarnings, unusedFields } from './unused.js';

/** A job's search; `groups`: its tasks without copies. */
type SearchOf = (request: TaskedGraphJob, policies: readonly PolicySpec[], groups: RowGroups) => SearchSettings;

/** A graph job's spec, tasks and warnings about its form; throws with all invalid fields. */
export function graphSpec(
  { request, rows, main, asSent }: TaskSource,
  { checkProvider }: Pick<HttpDeps, 'checkProvider'>,
  searchOf: SearchOf = searchWithinBudget,
): { spec: GraphSpec; tasks: IndexedTask[]; warnings: string[] } {
  const { dataset, budget } = request;
  const policies = requestPolicies(request);
  const policy = policies[0]!;
  const proposer = proposerPolicy(request) ?? policy;
  const verifier = verifierOf(request);
  const tasks = graphTasks(dataset);
  const grouped = groupRows(tasks.map(contentOf));
  const search = searchOf(request, policies, grouped);
  const description = taskDescription(dataset.metadata);
  const { graph, faults } = firstGraph(request, policies, description, main);
  const models = { policies, proposer, judge: isJudged(verifier) ? verifier.judge : null };
  const all: Fault[] = [
    ...providerFaults(request, models, checkProvider),
    ...(budget?.max_cost_usd === undefined ? [] : priceFaults(models)),
    ...goldFaults(dataset, verifier),
    ...faults,
    ...inputFaults(dataset, faults.length === 0 ? graph : null),
    ...configProblems(search).map(searchFault),
  ];
  if (all.length > 0) {
    throw refuse.invalid(all.slice(0, listed).map((fault) => errorOf(asSent(fault))));
  }
  const unused = unusedFields(request);
  const spec: GraphSpec = {
    kind: 'graph',
    search,
    container: null,
    policy,
    policies,
    costUnit: policies.every(isPriced) ? 'usd' : 'tokens',
    proposer,
    budget: { maxMinutes: budget?.max_minutes ?? null, maxCostUsd: budget?.max_cost_usd ?? null },
    maxConcurrent: request.max_concurrent,
    rolloutTimeoutS: request.rollout_timeout,
    maxFailureRate: request.max_failure_rate,
    preflight: request.preflight,
    ...answerCacheSpec(request.answer_cache),
    verifier,
    numTasks: dataset.tasks.length,
    ...(rows && { rows }),
    description: [description?.text ?? [], request.problem_spec ?? []].flat().join('\n\n') || null,
    ...(Object.keys(unused).length > 0 && { unused }),
    initialGraph: JSON.stringify(graphToJson(graph!)),
  };
  return {
    spec,
    tasks,
    warnings: [
      ...groupWarnings(grouped, rows ? 'row' : 'task', Object.values(splitOf(search))),
      ...formWarnings(request, unused),
    ],
  };
}

const searchWithinBudget: SearchOf = ({ dataset, ...request }, policies, { groups }) =>
  graphSearch({
    groups,
    tasks: dataset.tasks.length,
    rolloutBudget: request.rollout_budget,
    effort: request.proposer_effort,
    rngSeed: request.rng_seed,
    isSampled: policies.some(({ provider }) => samples({ provider })),
  });

/** `judge_model` and `judge_provider` override the data set's. */
function verifierOf({
  dataset,
  judge_model: model,
  judge_provider: provider,
  ...request
}: TaskedGraphJob): VerifierSpec {
  const judge = { ...(model !== undefined && { model }), ...(provider !== undefined && { provider }) };
  return verifierSpec({ ...dataset.verifier_config, ...judge }, hasRubric(dataset), request.policy_provider);
}

function proposerPolicy({ proposer, policy_provider: own }: TaskedGraphJob): PolicySpec | null {
  if (!proposer) return null;
  const { model, provider = own, ...params } = proposer;
  return { model, provider, params };
}

interface Models {
  policies: PolicySpec[];
  proposer: PolicySpec;
  judge: PolicySpec | null;
}

function providerFaults(
  { proposer, dataset, judge_provider: judgeProvider }: TaskedGraphJob,
  { policies, judge }: Models,
  check: HttpDeps['checkProvider'],
): Fault[] {
  const named: [Path, string | undefined][] = [
    [['policy_provider'], policies[0]!.provider],
    [['proposer', 'provider'], proposer?.provider],
    judgeProvider === undefined
      ? [['dataset', 'verifier_config', 'provider'], judge ? dataset.verifier_config.provider : undefined]
      : [['judge_provider'], judge ? judgeProvider : undefined],
  ];
  return named.flatMap(([path, provider]) => {
    const message = provider === undefined ? null : check(provider);
    return message === null ? [] : [{ path, message }];
  });
}

/** A cost budget needs prices: one problem per model without a price. */
function priceFaults({ policies, proposer, judge }: Models): Fault[] {
  const paid = [...policies, proposer, ...(judge ? [judge] : [])];
  const reasons = new Set(paid.flatMap((model) => unknownPrice(model) ?? []));
  return [...reasons].map((reason) => ({ path: ['budget', 'max_cost_usd'], message: `needs known prices: ${reason}` }));
}

/** `local` is free, which says nothing about a graph's cost with other providers. */
function isPriced({ provider, model }: PolicySpec): boolean {
  return provider !== 'local' && priceOf(provider, model, 1_000, 1_000) !== null;
}

function goldFaults({ gold_outputs: golds = [] }: TaskedDataset, verifier: VerifierSpec): Fault[] {
  if (isJudged(verifier)) return [];
  return golds.flatMap(({ task_id: id, output }, index) => {
    const message = id === undefined ? null : goldProblem(verifier, output);
    return message === null ? [] : [{ path: ['dataset', 'gold_outputs', index, 'output'], message }];
  });
}

function searchFault({ field, message }: { field: keyof GepaConfig; message: string }): Fault {
  return { path: [field === 'rngSeed' ? 'rng_seed' : 'rollout_budget'], message };
}

function contentOf({ input, gold, rubric }: GraphTask): RowContent {
  const [wanted, given] = [canonicalJson([gold, rubric]), canonicalJson(input)];
  return {
    row: `${given}\n${wanted}`,
    input: comparableJson(given),
    words: wordsOfJson(given),
    expected: comparableJson(wanted),
  };
}

function graphTasks({
  tasks,
  gold_outputs: golds = [],
  default_rubric: common,
  verifier_config: verifier,
}: TaskedDataset) {
  const goldById = new Map(golds.map(({ task_id: id, output }) => [id, { value: output }]));
  const guidelines = readsRubric(verifier.mode) ? (verifier.scoring_guidelines ?? null) : null;
  return tasks.map((task, index): IndexedTask => ({
    index,
    taskId: task.id,
    input: taskInput(task.input),
    gold: goldById.get(task.id) ?? null,
    rubric: rubricOf(task.rubric) ?? rubricOf(common) ?? guidelines,
  }));
}
