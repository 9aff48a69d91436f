import { orderByCoverage, sharedAnswers } from '../../src/core/prompts/demo-coverage.js';
import { proposalsIn, responseTo, rolloutsIn } from '../../src/core/search/parts.js';
import { estimatedTokens } from '../../src/core/prompts/length.js';
import { demosForSeed, renderPrompt, roomForDemos, type Demo } from '../../src/core/prompts/demos.js';
import {
  lineageOf,
  mergeCandidates,
  removedCandidates,
  type LineageTexts,
  type Texts,
} from '../../src/core/proposals/components.js';
import { composeTexts } from '../../src/core/proposals/compose.js';
import { pickFailures } from '../../src/core/proposals/feedback-clusters.js';
import { maxProposalChars } from '../../src/core/proposals/limits.js';
import {
  buildDescription,
  buildReflection,
  parseProposal,
  type ReflectionExample,
} from '../../src/core/proposals/reflection.js';
import type {
  Composition,
  DemoAnswer,
  DemoRequest,
  ProposalAnswer,
  ProposalRequest,
  RolloutRequest,
  SearchRequest,
  SearchResponse,
} from '../../src/core/search/protocol.js';
import type { ChatMessage } from '../worlds/task-texts.js';
import type { TaskWorld } from '../worlds/tasks.js';

type Outcome = Omit<ProposalAnswer, 'candidate'>;
type Recorded = ReflectionExample & { ordinal: number; seed: number };

const component = 'system';

/**
 * Answers a MIPRO search from a world with a task model, in process and without waits: with the
 * same pure functions as the activities.
 */
export class TaskInProcess {
  private readonly world: TaskWorld;
  private readonly shows: { feedback: boolean; labels: boolean };
  private readonly candidates = new Map<number, LineageTexts & { demos: readonly Demo[] }>();
  private readonly known = new Set<string>();
  private readonly recorded = new Map<number, Recorded>();
  private task: string | undefined;
  /** Number of calls of the proposer. */
  calls = 0;

  constructor(world: TaskWorld, shows: { feedback: boolean; labels: boolean }) {
    this.world = world;
    this.shows = shows;
    this.keep(0, [], { [component]: world.baseline }, []);
  }

  /** The messages of a candidate before an input. */
  promptOf(candidate: number, seed: number | null = null): ChatMessage[] {
    const { texts, demos } = this.candidates.get(candidate)!;
    return renderPrompt([{ role: 'system', content: texts[component]! }], demosForSeed(demos, seed));
  }

  answer(work: Exclude<SearchRequest, { kind: 'done' | 'failed' }>): SearchResponse {
    if (work.kind === 'demos') return { kind: 'demos', answer: this.findDemos(work.request) };
    const rollouts = rolloutsIn(work).map((request) => {
      return { ordinal: request.ordinal, reward: this.rollout(request), infrastructure: false };
    });
    const proposals = proposalsIn(work).map((request) => ({ candidate: request.candidate, ...this.propose(request) }));
    return responseTo(work, rollouts, proposals);
  }

  private rollout({ ordinal, candidate, seed }: RolloutRequest): number {
    const input = this.world.input(seed);
    const output = this.world.answer([...this.promptOf(candidate, seed), { role: 'user', content: input }]);
    const judged = this.world.score(seed, output);
    const lines = [
      ...(this.shows.feedback ? [judged.feedback] : []),
      ...(this.shows.labels ? [`Expected: ${this.world.expected(seed)}`] : []),
    ];
    this.recorded.set(ordinal, { ordinal, seed, input, output, feedback: lines.join('\n'), reward: judged.reward });
    return judged.reward;
  }

  private findDemos({ ordinals, open, describe }: DemoRequest): DemoAnswer {
    if (describe.length > 0) {
      const prompt = { [component]: this.world.baseline };
      this.task = this.ask(buildDescription({ prompt, examples: this.examples(describe) })).trim();
    }
    const known = this.examples(ordinals);
    const questions = this.examples(open).map(({ input }) => input);
    const bootstrapped = orderByCoverage(known, questions).map((index) => ordinals[index]!);
    const right = known.map(({ input, seed }) => ({ input, output: this.world.expected(seed) }));
    const labeled = this.shows.labels ? orderByCoverage(right, questions).map((index) => ordinals[index]!) : [];
    const sameAnswer = sharedAnswers(this.shows.labels ? right.map(({ output }) => output) : []).map((indexes) =>
      indexes.map((index) => ordinals[index]!),
    );
    const room = roomForDemos(right.map(({ input, output }) => estimatedTokens(input, output)));
    return { components: [component], slots: [{ component: null, bootstrapped, labeled, sameAnswer, room }] };
  }

  /** Requests must come in order of candidates. */
  private propose(request: ProposalRequest): Outcome {
    const { candidate, parent, merge, compose } = request;
    if (compose) return this.compose(candidate, compose);
    const { demos } = this.candidates.get(parent)!;
    if (merge) {
      const sides = merge.map((source) => this.candidates.get(source)!);
      const base = sides[0]!.parents.find((own) => sides.every(({ parents }) => parents.includes(own)));
      const merged = base === undefined ? null : mergeCandidates(this.candidates.get(base)!.texts, sides);
      if (merged === null) return { outcome: 'failed', reason: 'the candidates contradict each other' };
      const { texts, parents } = merged;
      return this.keep(candidate, parents, texts, demos) ? { outcome: 'proposed', parents } : { outcome: 'duplicate' };
    }
    const { text, reason, shown } = this.reflect(request);
    if (text === null)
      return { ...(reason === null ? { outcome: 'duplicate' } : { outcome: 'failed', reason }), shown };
    const texts = { [component]: text };
    if (!this.keep(candidate, [parent], texts, demos)) return { outcome: 'duplicate', shown };
    const removed = removedCandidates(lineageOf(this.candidates, parent), texts);
    return { outcome: 'proposed', shown, removed };
  }

  private compose(candidate: number, { texts: sources, demos: slots, parents }: Composition): Outcome {
    const texts = composeTexts([component], sources, (source) => this.candidates.get(source)!.texts);
    const demos = slots.flatMap(({ bootstrapped, labeled }) => [
      ...bootstrapped.map((ordinal) => this.demo(ordinal, (_, output) => output)),
      ...labeled.map((ordinal) => this.demo(ordinal, (seed) => this.world.expected(seed))),
    ]);
    return this.keep(candidate, parents, texts, demos) ? { outcome: 'proposed', parents } : { outcome: 'duplicate' };
  }

  private demo(ordinal: number, answerOf: (seed: number, output: string) => string): Demo {
    const { seed, input, output } = this.recorded.get(ordinal)!;
    return { component: null, seed, ordinal, input, output: answerOf(seed, output) };
  }

  /** `text` null: nothing was changed, or the answer is not valid. */
  private reflect({ parent, ordinals, pick, guide, approach, solved = [] }: ProposalRequest) {
    const { [component]: instruction = '' } = this.candidates.get(parent)!.texts;
    const failures = pickFailures(this.examples(ordinals), pick);
    const examples = [...this.examples(solved), ...failures];
    const context = {
      ...(guide && this.task !== undefined && { task: this.task }),
      ...(approach && { approach }),
      ...(guide?.tip != null && { tip: guide.tip }),
    };
    const answer = this.ask(buildReflection({ instruction, examples, component, others: {}, ...context }));
    const parsed = parseProposal(answer, {
      parent: instruction,
      maxChars: maxProposalChars(instruction),
      finishReason: 'stop',
    });
    const shown = failures.map(({ ordinal }) => ordinal);
    if (parsed.ok) return { text: parsed.text, reason: null, shown };
    return { text: null, reason: parsed.unchanged ? null : parsed.reason, shown };
  }

  private ask(messages: readonly ChatMessage[]): string {
    this.calls += 1;
    return this.world.propose(messages);
  }

  private examples(ordinals: readonly number[]): Recorded[] {
    return ordinals.map((ordinal) => this.recorded.get(ordinal)!);
  }

  /** False: the prompt is that of a known candidate. */
  private keep(candidate: number, parents: readonly number[], texts: Texts, demos: readonly Demo[]): boolean {
    const key = JSON.stringify([Object.entries(texts), demos.map(({ input, output }) => [input, output])]);
    if (this.known.has(key)) return false;
    this.known.add(key);
    this.candidates.set(candidate, { candidate, parents, texts, demos });
    return true;
  }
}
