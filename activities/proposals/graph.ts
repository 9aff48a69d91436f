import { editsSchema, type GraphJson } from '../../src/contracts/graphs/graph.js';
import { initialGraphOf, type GraphSpec } from '../../src/core/jobs/spec.js';
import { graphTexts, instructionNames, withGraphTexts } from '../../src/core/graphs/components.js';
import { buildEditProposal } from '../../src/core/graphs/edits/proposal.js';
import { attemptsLimit, type EditRules } from '../../src/core/graphs/edits/edits.js';
import { maxAttempts, type Graph } from '../../src/core/graphs/graph.js';
import { graphFromJson, graphToJson } from '../../src/core/graphs/json.js';
import { formatProblems, maxEdits, readGraphEdits, readGraphText } from '../../src/core/graphs/edits/read-proposal.js';
import { graphText } from '../../src/core/graphs/text.js';
import { chooseComponents } from '../../src/core/proposals/components.js';
import type { ProposalRequest } from '../../src/core/search/protocol.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { readGraphExamples, type GraphExample } from '../../src/storage/graphs/examples.js';
import type { ActivityDeps } from '../deps.js';
import { proposeOne, type ProposalAsked } from './one.js';
import { chosenOf, rewriteTexts, type Reflected } from './reflect.js';

/** A graph that a model has proposed; or why there is none, as of a prompt. `components` of one with another structure are none. */
export type ProposedGraph =
  (Extract<Reflected, { outcome: 'proposed' }> & { graph: GraphJson }) | Exclude<Reflected, { outcome: 'proposed' }>;

/** A proposal about to be asked for: the parent, the runs of it that are shown. */
interface Asked {
  candidate: number;
  parent: Graph;
  examples: GraphExample[];
}

/** Has the proposer make a better graph of a candidate's: of two proposals in a row one rewrites prompts, the next edits the structure. */
export async function proposeGraph(
  deps: ActivityDeps,
  job: JobRef,
  spec: GraphSpec,
  { candidate, ordinals, pick }: ProposalRequest,
  parent: Graph,
  signal: AbortSignal,
): Promise<ProposedGraph> {
  const known = await deps.db.org(job.orgId, (tx) => readGraphExamples(tx, job.jobId, ordinals));
  const asked = { candidate, parent, examples: chosenOf(known, pick) };
  return candidate % 2 === 0 ? editStructure(deps, job, spec, asked, signal) : rewrite(deps, job, spec, asked, signal);
}

async function rewrite(
  deps: ActivityDeps,
  job: JobRef,
  spec: GraphSpec,
  { candidate, parent, examples }: Asked,
  signal: AbortSignal,
): Promise<ProposedGraph> {
  const shown = examples.map(({ ordinal }) => ordinal);
  const feedback = examples.map((example) => example.feedback);
  // Every second candidate's prompts are rewritten: these take turns.
  const turn = Math.floor(candidate / 2);
  const rewriting = {
    ...{ candidate, examples, parent: graphTexts(parent) },
    components: chooseComponents(instructionNames(parent), feedback, 'feedback', turn),
    context: spec.description === null ? {} : { task: spec.description },
    readOf:
      (_: string, component: string): ProposalAsked['read'] =>
      (answer) =>
        readGraphText(parent, component, answer),
  };
  const { texts, reason } = await rewriteTexts(deps, job, spec, rewriting, signal);
  const components = Object.keys(texts);
  if (components.length === 0) {
    return reason === null ? { outcome: 'unchanged', shown } : { outcome: 'failed', reason, shown };
  }
  const rewritten = withGraphTexts(parent, texts);
  if (!rewritten.ok) return { outcome: 'failed', reason: formatProblems(rewritten.problems), shown };
  const { graph } = rewritten;
  return { outcome: 'proposed', texts: graphTexts(graph), graph: graphToJson(graph), components, shown };
}

async function editStructure(
  deps: ActivityDeps,
  job: JobRef,
  spec: GraphSpec,
  { candidate, parent, examples }: Asked,
  signal: AbortSignal,
): Promise<ProposedGraph> {
  const shown = examples.map(({ ordinal }) => ordinal);
  const rules: EditRules = {
    models: spec.policies.map(({ model }) => model),
    maxAttempts: attemptsLimit(graphFromJson(initialGraphOf(spec))),
  };
  const question = buildEditProposal({
    graph: graphText(parent),
    failures: examples,
    models: rules.models,
    maxEdits,
    attempts: { now: maxAttempts(parent), most: rules.maxAttempts },
    ...(spec.description !== null && { task: spec.description }),
  });
  const read: ProposalAsked['read'] = (answer) => {
    const edited = readGraphEdits(parent, answer, { ...rules, schema: editsSchema });
    return edited.ok ? { ok: true, text: JSON.stringify(graphToJson(edited.graph)) } : edited;
  };
  const answer = await proposeOne(deps, job, spec, { candidate, part: 0, question, read }, signal);
  if (!answer.ok) {
    return answer.unchanged ? { outcome: 'unchanged', shown } : { outcome: 'failed', reason: answer.reason, shown };
  }
  const graph = JSON.parse(answer.text) as GraphJson;
  return { outcome: 'proposed', texts: graphTexts(graphFromJson(graph)), graph, components: [], shown };
}
