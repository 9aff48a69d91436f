import { priceOf } from '../../clients/models/cost.js';
import { algorithmOf } from '../../core/algorithms/index.js';
import { initialGraphOf, type GraphSpec } from '../../core/jobs/spec.js';
import type { Rubric } from '../../contracts/graphs/verifier.js';
import { maxStepCalls, stepPrompt, type Graph, type Ref, type Step } from '../../core/graphs/graph.js';
import { graphFromJson } from '../../core/graphs/json.js';
import { refHead, parseRef } from '../../core/graphs/refs.js';
import { graphText } from '../../core/graphs/text.js';
import { sum } from '../../core/math/rewards.js';
import { parseRubric, selectExampleTasks } from '../../core/verify/rubric.js';
import { isJudged } from '../../core/verify/score.js';
import type { GraphTask } from '../../storage/graphs/tasks.js';
import {
  answerTokens,
  assumed,
  limitOf,
  searchCost,
  textTokens,
  type Estimate,
  type Range,
} from '../jobs/cost-estimate.js';

type Level = keyof Range;

/** What is assumed of graphs beside what is assumed of sessions; in tokens, but for the first two. */
const assumedOfGraphs = {
  /** Items of a list that a map is given, at most as many as it takes. */
  items: { low: 1, likely: 5, high: Infinity },
  /** What the graphs of the search take, beside the first one. */
  growth: { low: 1, likely: 1.5, high: 3 },
  /** What a proposer is told beside graph and runs. */
  instruction: 1_000,
  /** What a judge is told beside task, output and rubric. */
  judging: 300,
  /** What a judge says of one criterion. */
  verdict: { low: 20, likely: 60, high: 200 },
} as const;

/** What a data set holds on average, in characters. */
interface Means {
  /** A task's value of each field, and all of its input. */
  fields: Map<string, number>;
  input: number;
  gold: number;
  rubric: number;
  /** By how many criteria an output is judged. */
  criteria: number;
}

/** What a graph job will ask for and cost; the cost is null where the price of a policy model, the proposer or the judge is not known. */
export function graphEstimate(spec: GraphSpec, tasks: readonly GraphTask[]): Estimate {
  const graph = graphFromJson(initialGraphOf(spec));
  const means = meansOf(tasks);
  const { search } = spec;
  const expected = algorithmOf(search).estimate(search, { isLive: false, components: 1 });
  const { proposer, policies } = spec;
  // Edits may have any of them asked.
  const isPriced = policies.every(({ provider, model }) => priceOf(provider, model, 1, 1) !== null);
  return searchCost(search, expected, spec.budget, (level) => {
    const growth = assumedOfGraphs.growth[level];
    const judging = judgePrice(spec, means, level);
    const running = isPriced ? runPrice(graph, spec, means, level) : null;
    const perRollout = running === null || judging === null ? null : growth * running + judging;
    const answers = sum(graph.steps.map((step) => callsOf(step, level))) * assumed.answer[level];
    const run = textTokens(means.input) + growth * answers + assumed.feedback[level];
    const perProposal = priceOf(
      proposer.provider,
      proposer.model,
      Math.ceil(
        growth * textTokens(graphText(graph).length) + assumedOfGraphs.instruction + expected.shownRollouts * run,
      ),
      Math.min(promptTokens(graph) + assumed.thinking[level], limitOf(proposer)),
    );
    return { perRollout, perProposal };
  });
}

/** What a run of the graph costs, every branch taken. */
function runPrice(graph: Graph, { policies }: GraphSpec, means: Means, level: Level): number | null {
  const steps = new Map(graph.steps.map((step) => [step.id, step]));
  /** Tokens of what a ref stands for. */
  const tokensOf = (ref: Ref): number => {
    const { head = '', path = [] } = parseRef(ref) ?? {};
    if (head === 'input') return textTokens(means.fields.get(path[0] ?? '') ?? means.input);
    const step = steps.get(head);
    // Of a part of a list, and of an item, one.
    return Math.max(1, step === undefined || path.length > 0 ? 1 : callsOf(step, level)) * assumed.answer[level];
  };
  const prices = graph.steps.map((step) => {
    const prompt = stepPrompt(step);
    if (prompt === null) return 0;
    const policy = policies.find(({ model }) => model === prompt.model) ?? policies[0]!;
    const candidates = step.type !== 'vote' ? [] : step.over === undefined ? (step.of ?? []) : [refHead(step.over)];
    const asked =
      textTokens(sum(prompt.messages.map(({ content }) => content.length))) +
      sum([...Object.values(prompt.inputs), ...candidates].map(tokensOf));
    const price = priceOf(policy.provider, policy.model, asked, answerTokens(policy, level));
    return price === null ? null : callsOf(step, level) * price;
  });
  const known = prices.filter((price) => price !== null);
  return known.length < prices.length ? null : sum(known);
}

/** How often a step is taken to ask its model. */
function callsOf(step: Step, level: Level): number {
  return step.type === 'map' ? Math.min(assumedOfGraphs.items[level], maxStepCalls(step)) : maxStepCalls(step);
}

/** What it costs to judge an output; 0 where that takes no model. */
function judgePrice({ verifier, search }: GraphSpec, means: Means, level: Level): number | null {
  if (!isJudged(verifier)) return 0;
  const { judge, mode } = verifier;
  const isRubric = mode === 'rubric';
  const golds = isRubric ? 1 : 1 + selectExampleTasks(-1, search.trainSeeds).length;
  const shown = means.input + golds * means.gold + (isRubric ? means.rubric : 0);
  const asked = assumedOfGraphs.judging + textTokens(shown) + assumed.answer[level];
  const said = Math.ceil((isRubric ? means.criteria : 1) * assumedOfGraphs.verdict[level]);
  return priceOf(judge.provider, judge.model, asked, Math.min(said, limitOf(judge)));
}

/** Tokens of what one step of the graph tells its model. */
function promptTokens({ steps }: Graph): number {
  const prompts = steps.flatMap((step) => stepPrompt(step) ?? []);
  const chars = sum(prompts.flatMap(({ messages }) => messages.map(({ content }) => content.length)));
  return textTokens(chars / Math.max(1, prompts.length));
}

function meansOf(tasks: readonly GraphTask[]): Means {
  const meanOf = (lengths: readonly number[]) => sum(lengths) / tasks.length;
  const fields = Object.keys(tasks[0]!.input);
  // Most tasks have the rubric of the data set, which is one object.
  const rubrics = new Map<Rubric, { chars: number; criteria: number }>();
  const rubricOf = ({ rubric }: GraphTask) => {
    if (rubric === null) return { chars: 0, criteria: 1 };
    const known = rubrics.get(rubric) ?? measured(rubric);
    rubrics.set(rubric, known);
    return known;
  };
  return {
    fields: new Map(fields.map((name) => [name, meanOf(tasks.map(({ input }) => charsOf(input[name])))])),
    input: meanOf(tasks.map(({ input }) => charsOf(input))),
    gold: meanOf(tasks.map(({ gold }) => (gold === null ? 0 : charsOf(gold.value)))),
    rubric: meanOf(tasks.map((task) => rubricOf(task).chars)),
    criteria: meanOf(tasks.map((task) => rubricOf(task).criteria)),
  };
}

function measured(rubric: Rubric): { chars: number; criteria: number } {
  const criteria = parseRubric(rubric);
  return {
    chars: sum(criteria.map(({ name, description }) => name.length + description.length)),
    criteria: criteria.length,
  };
}

function charsOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length;
}
