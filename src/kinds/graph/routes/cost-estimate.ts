import { priceOf } from '../../../models/client/cost.js';
import { estimateSearch } from '../../../core/algorithms/index.js';
import { initialGraphOf, type GraphSpec } from '../../../core/jobs/spec.js';
import type { Rubric } from '../../../contracts/rubric.js';
import { maxStepCalls, stepPrompt, type Graph, type Ref, type Step } from '../../../core/graphs/graph.js';
import { graphFromJson } from '../../../core/graphs/json.js';
import { refHead, parseRef } from '../../../core/graphs/refs.js';
import { graphText } from '../../../core/graphs/text.js';
import { sum } from '../../../core/math/rewards.js';
import { parseRubric, selectExampleTasks } from '../../../core/verify/rubric.js';
import { isJudged, judgeOf } from '../../../scorers/verifier.js';
import type { GraphTask } from '../store/tasks.js';
import {
  answerTokens,
  assumptions,
  answerLimit,
  searchCost,
  textTokens,
  type Estimate,
  type Range,
} from '../../../jobs/routes/cost-estimate.js';

type Level = keyof Range;

/** Assumptions for graphs, in tokens except for `items` and `growth`. */
const graphAssumptions = {
  /** Items of a map's list, up to its limit. */
  items: { low: 1, likely: 5, high: Infinity },
  /** Cost of later graphs relative to the first one. */
  growth: { low: 1, likely: 1.5, high: 3 },
  /** The proposer's instructions, besides graph and rollouts. */
  instruction: 1_000,
  /** The judge's instructions, besides task, output and rubric. */
  judging: 300,
  /** The judge's answer per criterion. */
  verdict: { low: 20, likely: 60, high: 200 },
} as const;

/** Mean sizes in a data set, in characters. */
interface Means {
  /** By field, and of the whole input. */
  fields: Map<string, number>;
  input: number;
  gold: number;
  rubric: number;
  /** Criteria per output. */
  criteria: number;
}

/** Rollouts and cost of a graph job; cost null: the price of a model is unknown. */
export function graphEstimate(spec: GraphSpec, tasks: readonly GraphTask[]): Estimate {
  const graph = graphFromJson(initialGraphOf(spec));
  const means = dataSetMeans(tasks);
  const { search } = spec;
  const expected = estimateSearch(search, false);
  const { proposer, policies } = spec;
  // Edits may use any of the policies.
  const isPriced = policies.every(({ provider, model }) => priceOf(provider, model, 1, 1) !== null);
  return searchCost(search, expected, spec.budget, (level) => {
    const growth = graphAssumptions.growth[level];
    const judging = judgePrice(spec, means, level);
    const running = isPriced ? runPrice(graph, spec, means, level) : null;
    const perRollout = running === null || judging === null ? null : growth * running + judging;
    const answers = sum(graph.steps.map((step) => stepCalls(step, level))) * assumptions.answer[level];
    const run = textTokens(means.input) + growth * answers + assumptions.feedback[level];
    const perProposal = priceOf(
      proposer.provider,
      proposer.model,
      Math.ceil(
        growth * textTokens(graphText(graph).length) +
          graphAssumptions.instruction +
          expected.shownRollouts[level] * run,
      ),
      Math.min(promptTokens(graph) + assumptions.thinking[level], answerLimit(proposer)),
    );
    return { perRollout, perProposal };
  });
}

/** Cost of a run of the graph with all branches taken. */
function runPrice(graph: Graph, { policies }: GraphSpec, means: Means, level: Level): number | null {
  const steps = new Map(graph.steps.map((step) => [step.id, step]));
  /** Tokens of a ref's value. */
  const refTokens = (ref: Ref): number => {
    const { head = '', path = [] } = parseRef(ref) ?? {};
    if (head === 'input') return textTokens(means.fields.get(path[0] ?? '') ?? means.input);
    const step = steps.get(head);
    // An item, or a part of one, counts as one answer.
    return Math.max(1, step === undefined || path.length > 0 ? 1 : stepCalls(step, level)) * assumptions.answer[level];
  };
  const prices = graph.steps.map((step) => {
    const prompt = stepPrompt(step);
    if (prompt === null) return 0;
    const policy = policies.find(({ model }) => model === prompt.model) ?? policies[0]!;
    const candidates = step.type !== 'vote' ? [] : step.over === undefined ? (step.of ?? []) : [refHead(step.over)];
    const promptSize =
      textTokens(sum(prompt.messages.map(({ content }) => content.length))) +
      sum([...Object.values(prompt.inputs), ...candidates].map(refTokens));
    const price = priceOf(policy.provider, policy.model, promptSize, answerTokens(policy, level));
    return price === null ? null : stepCalls(step, level) * price;
  });
  const known = prices.filter((price) => price !== null);
  return known.length < prices.length ? null : sum(known);
}

/** Assumed model calls of a step. */
function stepCalls(step: Step, level: Level): number {
  return step.type === 'map' ? Math.min(graphAssumptions.items[level], maxStepCalls(step)) : maxStepCalls(step);
}

/** Cost of judging an output; 0 without a judge model. */
function judgePrice({ verifier, search }: GraphSpec, means: Means, level: Level): number | null {
  if (!isJudged(verifier)) return 0;
  const { judge } = verifier;
  const { readsRubric, examples } = judgeOf(verifier);
  const golds = 1 + selectExampleTasks(-1, search.trainSeeds, examples).length;
  const sampleChars = means.input + golds * means.gold + (readsRubric ? means.rubric : 0);
  const promptSize = graphAssumptions.judging + textTokens(sampleChars) + assumptions.answer[level];
  const answerSize = Math.ceil((readsRubric ? means.criteria : 1) * graphAssumptions.verdict[level]);
  return priceOf(judge.provider, judge.model, promptSize, Math.min(answerSize, answerLimit(judge)));
}

/** Mean prompt tokens of a step. */
function promptTokens({ steps }: Graph): number {
  const prompts = steps.flatMap((step) => stepPrompt(step) ?? []);
  const chars = sum(prompts.flatMap(({ messages }) => messages.map(({ content }) => content.length)));
  return textTokens(chars / Math.max(1, prompts.length));
}

function dataSetMeans(tasks: readonly GraphTask[]): Means {
  const mean = (lengths: readonly number[]) => sum(lengths) / tasks.length;
  const fields = Object.keys(tasks[0]!.input);
  // Most tasks share the data set's default rubric object.
  const rubrics = new Map<Rubric, { chars: number; criteria: number }>();
  const taskRubric = ({ rubric }: GraphTask) => {
    if (rubric === null) return { chars: 0, criteria: 1 };
    const known = rubrics.get(rubric) ?? rubricSize(rubric);
    rubrics.set(rubric, known);
    return known;
  };
  return {
    fields: new Map(fields.map((name) => [name, mean(tasks.map(({ input }) => charCount(input[name])))])),
    input: mean(tasks.map(({ input }) => charCount(input))),
    gold: mean(tasks.map(({ gold }) => (gold === null ? 0 : charCount(gold.value)))),
    rubric: mean(tasks.map((task) => taskRubric(task).chars)),
    criteria: mean(tasks.map((task) => taskRubric(task).criteria)),
  };
}

function rubricSize(rubric: Rubric): { chars: number; criteria: number } {
  const criteria = parseRubric(rubric);
  return {
    chars: sum(criteria.map(({ name, description }) => name.length + description.length)),
    criteria: criteria.length,
  };
}

function charCount(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length;
}
