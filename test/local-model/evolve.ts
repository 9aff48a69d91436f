import type { TwoStepTask } from '../../examples/two-steps/tasks.js';
import { completeLocally } from '../../src/local-model/complete.js';
import { editsSchema } from '../../src/contracts/graphs/graph.js';
import { graphSearch, type GraphSearchRequest } from '../../src/core/graphs/search-config.js';
import { graphTexts, instructionNames, structureKey, withGraphTexts } from '../../src/core/graphs/components.js';
import { buildEditProposal, parseEdits } from '../../src/core/graphs/edits/proposal.js';
import { applyEdits } from '../../src/core/graphs/edits/edits.js';
import type { Graph, PromptMessage } from '../../src/core/graphs/graph.js';
import { answerCall, openRun, outcomeOf, stepValues, pendingCalls } from '../../src/core/graphs/run/run.js';
import { graphText } from '../../src/core/graphs/text.js';
import { toText, type Json } from '../../src/core/graphs/values.js';
import { createGepa } from '../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../src/core/algorithms/gepa.js';
import { clusterByFeedback } from '../../src/core/proposals/feedback-clusters.js';
import { chooseComponents, mergeCandidates, type Texts } from '../../src/core/proposals/components.js';
import { buildReflection, parseProposal } from '../../src/core/proposals/reflection.js';
import type { ProposalAnswer, ProposalRequest, RolloutRequest } from '../../src/core/search/protocol.js';
import { score } from '../../src/core/verify/score.js';
import { driveSearch } from '../core/algorithms/gepa/driver.js';

/** The `local` provider's answer to these messages. */
export function localSays(messages: readonly PromptMessage[]): string {
  return completeLocally({ messages }).choices[0].message.content;
}

/** A run of a graph on a task with the `local` provider, scored in mode exact. */
export function runLocally(graph: Graph, { facts, question, answer }: TwoStepTask) {
  const input = { facts, question };
  let run = openRun(graph, input);
  for (let [call] = pendingCalls(run); call; [call] = pendingCalls(run)) {
    const answered = answerCall(run, call.key, localSays(call.messages));
    if ('problem' in answered) return { input, output: '', steps: [], reward: 0, feedback: answered.problem };
    ({ run } = answered);
  }
  const outcome = outcomeOf(run);
  if (outcome.status !== 'done') throw new Error(JSON.stringify(outcome));
  const steps = Object.entries(stepValues(run)).map(([step, value]) => ({ step, value: shown(value) }));
  const verified = score({ mode: 'exact', caseSensitive: false }, answer, outcome.value);
  return { input, output: shown(outcome.value), steps, reward: verified.reward, feedback: verified.feedback };
}

function shown(value: Json): string {
  const values = typeof value === 'object' && value !== null ? Object.values(value as object) : [];
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : toText(value);
}

export function meanReward(graph: Graph, tasks: readonly TwoStepTask[]): number {
  return tasks.reduce((sum, task) => sum + runLocally(graph, task).reward, 0) / tasks.length;
}

/**
 * A graph job in process: the core's search with the `local` provider; `edits`: may edit structure.
 */
export function evolve(
  start: Graph,
  tasks: readonly TwoStepTask[],
  request: Omit<GraphSearchRequest, 'tasks'>,
  { edits }: { edits: boolean },
) {
  const config = graphSearch({ ...request, tasks: tasks.length });
  const graphs = new Map([[0, start]]);
  const runs = new Map<number, ReturnType<typeof runLocally>>();
  const rollout = ({ ordinal, candidate, seed }: RolloutRequest) => {
    runs.set(ordinal, runLocally(graphs.get(candidate)!, tasks[seed]!));
    return runs.get(ordinal)!.reward;
  };
  const propose = ({
    candidate,
    parent,
    ordinals,
    pick,
    merge,
  }: ProposalRequest): Omit<ProposalAnswer, 'candidate'> => {
    const before = graphs.get(parent)!;
    if (merge) return keep(candidate, merged(before, merge), {});
    const known = ordinals.map((ordinal) => ({ ...runs.get(ordinal)!, ordinal }));
    const examples = clusterByFeedback(known, pick!.size, pick!.of)[pick!.index]!.map((index) => known[index]!);
    const after = edits && candidate % 2 === 0 ? edited(before, examples) : rewritten(before, examples, candidate);
    return keep(candidate, after, { shown: examples.map(({ ordinal }) => ordinal), removed: [] });
  };
  const keep = (candidate: number, graph: Graph | null, more: Partial<ProposalAnswer>) => {
    if (graph === null) return { outcome: 'duplicate' as const, ...more };
    graphs.set(candidate, graph);
    return { outcome: 'proposed' as const, ...more };
  };
  const merged = (before: Graph, all: readonly number[]): Graph | null => {
    const alike = all.map((candidate) => ({ candidate: candidate, graph: graphs.get(candidate)! }));
    if (alike.some(({ graph }) => structureKey(graph) !== structureKey(before))) return null;
    const sides = alike.map(({ candidate, graph }) => ({ candidate, texts: graphTexts(graph) }));
    const both = mergeCandidates(graphTexts(before), sides);
    return both && withTexts(before, both.texts);
  };
  const { state } = driveSearch(gepa, createGepa(config), { rollout, propose });
  const view = gepa.view(state);
  return { config, view, graphs, best: graphs.get(view.bestCandidate!)! };
}

type Example = ReturnType<typeof runLocally>;
const asShown = (example: Example) => {
  return { ...example, input: JSON.stringify(example.input), calls: example.steps.length, tokens: null };
};

function rewritten(graph: Graph, examples: Example[], candidate: number): Graph | null {
  const feedback = examples.map((example) => example.feedback);
  const [component] = chooseComponents(instructionNames(graph), feedback, 'feedback', Math.floor(candidate / 2));
  const { [component!]: instruction = '', ...rest } = graphTexts(graph);
  const shownExamples = examples.map(asShown);
  const answer = localSays(
    buildReflection({ instruction, examples: shownExamples, component: component!, others: rest }),
  );
  const parsed = parseProposal(answer, { parent: instruction, maxChars: 32_000, finishReason: 'stop' });
  return parsed.ok ? withTexts(graph, { [component!]: parsed.text }) : null;
}

function edited(graph: Graph, examples: Example[]): Graph | null {
  const request = {
    graph: graphText(graph),
    failures: examples.map(asShown),
    models: ['local'],
    maxEdits: 3,
    attempts: { now: 1, most: 72 },
  };
  const parsed = parseEdits(localSays(buildEditProposal(request)), {
    ...{ finishReason: 'stop', schema: editsSchema, maxEdits: 3 },
  });
  if (!parsed.ok) throw new Error(parsed.reason);
  const applied = applyEdits(graph, parsed.edits, { models: ['local'], maxAttempts: 72 });
  if (!applied.ok) throw new Error(JSON.stringify(applied.problems));
  return graphText(applied.graph) === graphText(graph) ? null : applied.graph;
}

function withTexts(graph: Graph, texts: Texts): Graph {
  const after = withGraphTexts(graph, texts);
  if (!after.ok) throw new Error(JSON.stringify(after.problems));
  return after.graph;
}
