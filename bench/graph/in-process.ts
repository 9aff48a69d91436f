import { editsSchema } from '../../src/kinds/graph/contract/graph.js';
import { candidateKey, mergeProposal, type MergeableCandidate } from '../../src/core/graphs/candidate.js';
import { graphTexts, instructionNames, withGraphTexts } from '../../src/core/graphs/components.js';
import { ablationsOf } from '../../src/core/graphs/edits/ablation.js';
import { attemptsLimit } from '../../src/core/graphs/edits/edits.js';
import { buildEditProposal, editsForm, type FailedRun } from '../../src/core/graphs/edits/proposal.js';
import { maxEdits, readGraphEdits, readGraphText } from '../../src/core/graphs/edits/read-proposal.js';
import { maxAttempts, type Graph } from '../../src/core/graphs/graph.js';
import { driveGraph } from '../../src/core/graphs/run/drive.js';
import { outcomeOf, stepValues } from '../../src/core/graphs/run/run.js';
import { graphText } from '../../src/core/graphs/text.js';
import { displayText } from '../../src/core/graphs/values.js';
import { componentsToRewrite, lineageOf, removedCandidates } from '../../src/core/proposals/components.js';
import { pickFailures } from '../../src/core/proposals/feedback-clusters.js';
import { proposalTries } from '../../src/core/proposals/limits.js';
import { buildReflection, requireShorter } from '../../src/core/proposals/reflection.js';
import { askAgain, textForm, type UnusableAnswer } from '../../src/core/proposals/second-try.js';
import { proposalsIn, responseTo, rolloutsIn } from '../../src/core/search/parts.js';
import type {
  ProposalAnswer,
  ProposalRequest,
  RolloutAnswer,
  RolloutRequest,
  SearchRequest,
  SearchResponse,
} from '../../src/core/search/protocol.js';
import type { Message } from '../../src/core/prompts/message.js';
import { promptGraph, type LookupWorld } from '../worlds/lookups.js';

type Outcome = Omit<ProposalAnswer, 'candidate'>;
type NewGraph = { graph: Graph } | { unchanged: true } | { reason: string };

/** A candidate of a graph job. */
interface Member extends MergeableCandidate {
  graph: Graph;
}

/**
 * Answers a search for graphs from a world of lookups, in process and without waits, with the same
 * pure functions as the activities.
 */
export class GraphsInProcess {
  private readonly world: LookupWorld;
  private readonly first: Graph;
  private readonly members = new Map<number, Member>();
  private readonly known = new Set<string>();
  private readonly runs = new Map<number, FailedRun>();
  /** Number of calls of the task model and of the proposer. */
  calls = { task: 0, proposer: 0 };

  constructor(world: LookupWorld) {
    this.world = world;
    this.first = promptGraph(world.baseline);
    this.keep(0, [], this.first);
  }

  /** A proposed candidate, or the first graph. */
  graphOf(candidate: number): Graph {
    return this.members.get(candidate)!.graph;
  }

  async answer(request: Exclude<SearchRequest, { kind: 'done' | 'failed' }>): Promise<SearchResponse> {
    if (request.kind === 'demos') throw new Error('graph jobs have no demonstrations');
    const rollouts: RolloutAnswer[] = [];
    for (const rollout of rolloutsIn(request)) rollouts.push(await this.rollout(rollout));
    const proposals = proposalsIn(request).map((proposal) => {
      return { candidate: proposal.candidate, ...this.propose(proposal) };
    });
    return responseTo(request, rollouts, proposals);
  }

  /** Costs are calls: the server of the worlds reports the same tokens for every call. */
  private async rollout({ ordinal, candidate, seed }: RolloutRequest): Promise<RolloutAnswer> {
    let calls = 0;
    const input = this.world.input(seed);
    const { run } = await driveGraph(this.graphOf(candidate), { question: input }, ({ messages }) => {
      calls += 1;
      return Promise.resolve({ ok: true, text: this.world.answer(messages) });
    });
    this.calls.task += calls;
    const outcome = outcomeOf(run);
    const output = outcome.status === 'done' ? displayText(outcome.value) : '';
    const { reward, feedback } =
      outcome.status === 'done' ? this.world.score(seed, output) : { reward: 0, feedback: 'There is no output.' };
    const steps = Object.entries(stepValues(run)).map(([step, value]) => ({ step, value: displayText(value) }));
    const shown = displayText({ question: input });
    this.runs.set(ordinal, { input: shown, output, feedback, reward, steps, calls, tokens: 2 * calls });
    return { ordinal, reward, infrastructure: false, cost: 2 * calls };
  }

  private propose({ candidate, parent, kind, merge, ablation, ordinals, pick, ...request }: ProposalRequest): Outcome {
    if (ablation !== undefined) {
      const rules = { models: ['m'], maxAttempts: attemptsLimit(this.first) };
      const ablated = ablationsOf(this.graphOf(parent), rules)[ablation];
      if (!ablated) return { outcome: 'failed', reason: 'no further step can be removed' };
      return { outcome: this.keep(candidate, [parent], ablated.graph) ? 'proposed' : 'duplicate' };
    }
    if (merge) {
      const merged = mergeProposal(this.members, merge);
      if (!merged.ok) return { outcome: 'failed', reason: merged.reason };
      const { graph, parents } = merged;
      return this.keep(candidate, parents, graph!) ? { outcome: 'proposed', parents } : { outcome: 'duplicate' };
    }
    const known = ordinals.map((ordinal) => ({ ordinal, ...this.runs.get(ordinal)! }));
    const failures = pickFailures(known, pick);
    const shown = failures.map(({ ordinal }) => ordinal);
    const graph = this.graphOf(parent);
    const made = kind === 'edit' ? this.edit(graph, failures) : this.rewrite(graph, failures, request);
    if ('reason' in made) return { outcome: 'failed', reason: made.reason, shown };
    if ('unchanged' in made || !this.keep(candidate, [parent], made.graph)) return { outcome: 'duplicate', shown };
    const removed = removedCandidates(lineageOf(this.members, parent), graphTexts(made.graph));
    return { outcome: 'proposed', shown, removed };
  }

  private edit(parent: Graph, failures: readonly FailedRun[]): NewGraph {
    const most = attemptsLimit(this.first);
    const question = buildEditProposal({
      graph: graphText(parent),
      failures,
      models: ['m'],
      maxEdits,
      attempts: { now: maxAttempts(parent), most },
    });
    return this.ask(question, editsForm(maxEdits), (text) => {
      const edited = readGraphEdits(
        parent,
        { text, finishReason: 'stop' },
        {
          models: ['m'],
          maxAttempts: most,
          schema: editsSchema,
        },
      );
      if (edited.ok) return { graph: edited.graph };
      return edited.unchanged ? { unchanged: true } : { reason: edited.reason };
    });
  }

  private rewrite(
    parent: Graph,
    failures: readonly FailedRun[],
    request: Pick<ProposalRequest, 'components' | 'approach'>,
  ): NewGraph {
    const { approach } = request;
    const texts = graphTexts(parent);
    const feedback = failures.map((failure) => failure.feedback);
    const changed: Record<string, string> = {};
    let reason: string | null = null;
    for (const component of componentsToRewrite(instructionNames(parent), feedback, request)) {
      const { [component]: instruction = '', ...others } = texts;
      const varied = approach && { approach };
      const question = buildReflection({ instruction, examples: failures, component, others, ...varied });
      const made = this.ask(question, textForm, (text) => {
        const any = readGraphText(parent, component, { text, finishReason: 'stop' });
        const read = approach === 'compress' ? requireShorter(any, instruction) : any;
        if (!read.ok) return read.unchanged ? { unchanged: true } : { reason: read.reason };
        changed[component] = read.text;
        return { graph: parent };
      });
      if ('reason' in made) reason ??= made.reason;
    }
    if (Object.keys(changed).length === 0) return reason === null ? { unchanged: true } : { reason };
    const rewritten = withGraphTexts(parent, changed);
    return rewritten.ok ? { graph: rewritten.graph } : { reason: 'the texts make no valid graph' };
  }

  private ask(question: Message[], form: string, read: (text: string) => NewGraph): NewGraph {
    let messages = question;
    let made: NewGraph = { reason: 'no answer' };
    const unusable: UnusableAnswer[] = [];
    for (let attempt = 0; attempt < proposalTries; attempt += 1) {
      this.calls.proposer += 1;
      const answer = this.world.propose(messages);
      made = read(answer);
      if (!('reason' in made)) return made;
      unusable.push({ text: answer, reason: made.reason });
      messages = askAgain(question, unusable, form);
    }
    return made;
  }

  /** False: the graph is that of a known candidate. */
  private keep(candidate: number, parents: readonly number[], graph: Graph): boolean {
    const texts = graphTexts(graph);
    const key = candidateKey({ texts, demos: [], graph });
    if (this.known.has(key)) return false;
    this.known.add(key);
    this.members.set(candidate, { candidate, parents, texts, graph });
    return true;
  }
}
