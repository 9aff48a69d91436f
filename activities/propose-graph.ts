import { editsSchema, type GraphJson } from '../src/contracts/graph.js';
import type { GraphSpec } from '../src/contracts/spec.js';
import { graphTexts, instructionNames, withGraphTexts } from '../src/core/graph/components.js';
import { buildEditProposal, parseEdits } from '../src/core/graph/edit-proposal.js';
import { applyEdits } from '../src/core/graph/edits.js';
import type { Graph } from '../src/core/graph/graph.js';
import { graphOf, jsonOf } from '../src/core/graph/json.js';
import { graphText } from '../src/core/graph/text.js';
import type { Problem } from '../src/core/graph/validate.js';
import { canonical, type Json } from '../src/core/graph/values.js';
import { chooseComponents } from '../src/core/search/components.js';
import type { ParsedProposal } from '../src/core/search/reflection.js';
import type { ProposalRequest } from '../src/core/work.js';
import type { JobRef } from '../src/storage/events.js';
import { readGraphExamples, type GraphExample } from '../src/storage/graph-examples.js';
import type { ActivityDeps } from './deps.js';
import { instructionFor, proposeOne, type ProposalAsked } from './one-proposal.js';
import { chosenOf, rewriteTexts, type Reflected } from './reflect.js';

const maxEdits = 3;

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
    readOf: (text: string, component: string) => fitting(parent, component, instructionFor(text)),
  };
  const { texts, reason } = await rewriteTexts(deps, job, spec, rewriting, signal);
  const components = Object.keys(texts);
  if (components.length === 0) {
    return reason === null ? { outcome: 'unchanged', shown } : { outcome: 'failed', reason, shown };
  }
  const rewritten = withGraphTexts(parent, texts);
  if (!rewritten.ok) return { outcome: 'failed', reason: saying(rewritten.problems), shown };
  const { graph } = rewritten;
  return { outcome: 'proposed', texts: graphTexts(graph), graph: jsonOf(graph), components, shown };
}

/** Takes a text only if the graph is valid with it. */
function fitting(graph: Graph, component: string, read: ProposalAsked['read']): ProposalAsked['read'] {
  return (answer) => {
    const parsed = read(answer);
    if (!parsed.ok) return parsed;
    const rewritten = withGraphTexts(graph, { [component]: parsed.text });
    return rewritten.ok ? parsed : { ok: false, reason: saying(rewritten.problems) };
  };
}

async function editStructure(
  deps: ActivityDeps,
  job: JobRef,
  spec: GraphSpec,
  { candidate, parent, examples }: Asked,
  signal: AbortSignal,
): Promise<ProposedGraph> {
  const shown = examples.map(({ ordinal }) => ordinal);
  const models = spec.policies.map(({ model }) => model);
  const question = buildEditProposal({
    graph: graphText(parent),
    failures: examples,
    models,
    maxEdits,
    ...(spec.description !== null && { task: spec.description }),
  });
  const read: ProposalAsked['read'] = ({ text, finishReason }) => edited(parent, models, text, finishReason);
  const answer = await proposeOne(deps, job, spec, { candidate, part: 0, question, read }, signal);
  if (!answer.ok) {
    return answer.unchanged ? { outcome: 'unchanged', shown } : { outcome: 'failed', reason: answer.reason, shown };
  }
  const graph = JSON.parse(answer.text) as GraphJson;
  return { outcome: 'proposed', texts: graphTexts(graphOf(graph)), graph, components: [], shown };
}

/** The graph that a proposer's edits make, as JSON. */
function edited(parent: Graph, models: readonly string[], text: string, finishReason: string | null): ParsedProposal {
  const parsed = parseEdits(text, { finishReason, schema: editsSchema, maxEdits });
  if (!parsed.ok) return parsed;
  const applied = applyEdits(parent, parsed.edits, { models });
  if (!applied.ok) return { ok: false, reason: saying(applied.problems) };
  const { graph } = applied;
  const isSame = canonical(graph as unknown as Json) === canonical(parent as unknown as Json);
  return isSame
    ? { ok: false, reason: 'the edits leave the graph as it is', unchanged: true }
    : { ok: true, text: JSON.stringify(jsonOf(graph)) };
}

function saying(problems: readonly Problem[]): string {
  return problems
    .slice(0, 5)
    .map(({ path, message }) => `${path} ${message}`)
    .join('; ');
}
