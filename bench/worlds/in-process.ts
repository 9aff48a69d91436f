import { clusterByFeedback } from '../../src/core/proposals/feedback-clusters.js';
import {
  chooseComponents,
  lineageOf,
  mergeCandidates,
  removedCandidates,
  type LineageTexts,
} from '../../src/core/proposals/components.js';
import { maxProposalChars } from '../../src/core/proposals/limits.js';
import { buildReflection, parseProposal, requireShorter } from '../../src/core/proposals/reflection.js';
import { proposalsIn, responseTo, rolloutsIn } from '../../src/core/search/parts.js';
import type {
  ComponentSelection,
  SearchResponse,
  ProposalAnswer,
  ProposalRequest,
  RolloutRequest,
  SearchAlgorithm,
  SearchRequest,
} from '../../src/core/search/protocol.js';
import type { Judgement, Texts, World } from './world.js';

type Outcome = Omit<ProposalAnswer, 'candidate'>;
type Merge = { texts: Texts; parents: number[] };
type Reflected = { texts: Texts | null; reason: string | null; shown: number[] };

/**
 * Answers a search from a world, in process and without waits: rollouts by the world's scores,
 * proposals by its proposer, with the same pure functions as the activities.
 */
export class InProcess {
  private readonly world: World;
  private readonly selection: ComponentSelection;
  private readonly candidates = new Map<number, LineageTexts>();
  private readonly known = new Set<string>();
  private readonly shown = new Map<number, Judgement & { seed: number }>();
  private readonly occurrences = new Map<string, number>();
  /** Number of calls of the proposer. */
  calls = 0;

  constructor(world: World, selection: ComponentSelection = 'feedback') {
    this.world = world;
    this.selection = selection;
    this.keep(0, [], world.baseline);
  }

  /** The texts of a proposed candidate, or of the baseline. */
  textsOf(candidate: number): Texts {
    return this.candidates.get(candidate)!.texts;
  }

  answer(work: Exclude<SearchRequest, { kind: 'done' | 'failed' }>): SearchResponse {
    if (work.kind === 'demos') {
      // These worlds make no model calls, so they have no demonstrations.
      return { kind: 'demos', answer: { components: [...this.world.components], slots: [] } };
    }
    const rollouts = rolloutsIn(work).map((request) => {
      return { ordinal: request.ordinal, reward: this.rollout(request), infrastructure: false };
    });
    const proposals = proposalsIn(work).map((request) => ({ candidate: request.candidate, ...this.propose(request) }));
    return responseTo(work, rollouts, proposals);
  }

  rollout({ ordinal, candidate, seed }: RolloutRequest): number {
    const key = `${candidate} ${seed}`;
    const occurrence = this.occurrences.get(key) ?? 0;
    this.occurrences.set(key, occurrence + 1);
    const judgement = this.world.score(this.textsOf(candidate), seed, occurrence);
    this.shown.set(ordinal, { ...judgement, seed });
    return judgement.reward;
  }

  /** Requests must come in order of ordinals. */
  propose(request: ProposalRequest): Outcome {
    const { candidate, parent, pick, merge, compose } = request;
    if (compose) {
      const texts = this.world.components.map(
        (name, index) => [name, this.textsOf(compose.texts[index]!)[name]!] as const,
      );
      return { outcome: this.keep(candidate, [parent], Object.fromEntries(texts)) ? 'proposed' : 'duplicate' };
    }
    if (merge) {
      const merged = this.merge(merge);
      if (merged === null) return { outcome: 'failed', reason: 'the candidates contradict each other' };
      const { texts, parents } = merged;
      return this.keep(candidate, parents, texts) ? { outcome: 'proposed', parents } : { outcome: 'duplicate' };
    }
    const { texts, reason, shown } = this.reflect(request);
    const also = pick ? { shown } : {};
    if (reason !== null) return { outcome: 'failed', reason, ...also };
    if (texts === null || !this.keep(candidate, [parent], texts)) return { outcome: 'duplicate', ...also };
    const removed = removedCandidates(lineageOf(this.candidates, parent), texts);
    return { outcome: 'proposed', ...also, ...(pick && { removed }) };
  }

  /** False: the texts are those of a known candidate. */
  private keep(candidate: number, parents: readonly number[], texts: Texts): boolean {
    const key = JSON.stringify(Object.entries(texts));
    if (this.known.has(key)) return false;
    this.known.add(key);
    this.candidates.set(candidate, { candidate, parents, texts });
    return true;
  }

  private merge(candidates: readonly number[]): Merge | null {
    const sides = candidates.map((candidate) => this.candidates.get(candidate)!);
    const base = sides[0]!.parents.find((parent) => sides.every(({ parents }) => parents.includes(parent)));
    return base === undefined ? null : mergeCandidates(this.textsOf(base), sides);
  }

  /** `texts` null: nothing was changed. */
  private reflect({
    candidate,
    parent,
    ordinals,
    pick,
    approach,
    solved = [],
    tried = [],
  }: ProposalRequest): Reflected {
    const known = ordinals.map((ordinal) => ({ ordinal, ...this.shown.get(ordinal)! }));
    const group = pick ? clusterByFeedback(known, pick.size, pick.of)[pick.index]! : [...known.keys()];
    const good = solved.map((ordinal) => ({ ordinal, ...this.shown.get(ordinal)! }));
    const judged = group.map((index) => known[index]!);
    const examples = [...good, ...judged].map(({ seed, feedback, reward }) => ({
      input: `seed ${seed}`,
      output: '',
      feedback,
      reward,
    }));
    const texts: Record<string, string> = { ...this.textsOf(parent) };
    const feedback = judged.map(({ feedback }) => feedback);
    let reason: string | null = null;
    let changed = false;
    const chosen = chooseComponents(Object.keys(texts), feedback, this.selection, candidate);
    for (const component of chosen) {
      const { [component]: instruction = '', ...others } = this.textsOf(parent);
      this.calls += 1;
      const earlier = tried.map(({ candidate: child, ...result }) => {
        return { ...result, text: this.textsOf(child)[component]! };
      });
      const varied = approach && { approach };
      const [message] = buildReflection({ instruction, examples, component, others, tried: earlier, ...varied });
      const answer = this.world.reflect(message!.content);
      const rules = { parent: instruction, maxChars: maxProposalChars(instruction), finishReason: 'stop' };
      const read = parseProposal(answer, rules);
      const parsed = approach === 'compress' ? requireShorter(read, instruction) : read;
      if (parsed.ok) [texts[component], changed] = [parsed.text, true];
      else if (!parsed.unchanged) reason ??= parsed.reason;
    }
    const shown = judged.map(({ ordinal }) => ordinal);
    return changed ? { texts, reason: null, shown } : { texts: null, reason, shown };
  }
}

/** Runs a search to its end and returns its last state. */
export function searchInProcess<State>(search: SearchAlgorithm<State>, start: State, answers: InProcess): State {
  let state = start;
  for (;;) {
    const work = search.next(state);
    if (work.kind === 'done' || work.kind === 'failed') return state;
    state = search.apply(state, answers.answer(work)).state;
  }
}
