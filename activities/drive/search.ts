import type { SearchInput, SearchProgress } from '../../src/core/algorithms/progress.js';
import type { SearchRequest, SearchResponse } from '../../src/core/search/protocol.js';
import { faultOf } from '../../src/core/jobs/fault.js';
import { progressOfSearch } from '../../src/core/jobs/progress.js';
import { readPool, type NewCandidate } from '../../src/candidates/store/candidates.js';
import type { Tx } from '../../src/platform/db/db.js';
import { readSearch } from '../../src/jobs/store/step-log.js';
import { readNewPrompts } from '../../src/jobs/store/suggestions.js';
import type { ActivityDeps } from '../deps.js';
import { finalFailure, jobFailure } from '../errors.js';
import { isLive, suggestionsOf } from '../jobs/spec.js';
import { CandidatePool } from '../proposals/pool.js';
import type { RolloutRunners } from '../rollouts/run.js';
import type { RunnerContext } from '../rollouts/runner.js';
import { RequestAnswerer, type AnswererContext } from './answer.js';
import { endSlice } from './record-steps.js';
import { endOfSearch, restOfFault, startNothing, type Driven, type Rest } from './rest.js';
import type { AnswerableRequest, AnsweredRequest, BegunSteps, NextSteps, StepRecord } from './steps.js';

/** The workflow shows the progress after this long, once the current request is answered. */
const sliceMs = 10_000;

/** Goes on with a search from its record. */
export async function startSearch(
  tx: Tx,
  deps: ActivityDeps,
  rollouts: RolloutRunners,
  runner: RunnerContext,
): Promise<() => Promise<Driven>> {
  const { jobId } = runner.job;
  const [recorded, candidates, prompts] = await Promise.all([
    readSearch(tx, jobId),
    readPool(tx, jobId),
    readNewPrompts(tx, jobId),
  ]);
  if (!recorded) return startNothing(tx, runner);
  const pool = new CandidatePool(candidates);
  return () => new SearchSlice({ deps, rollouts, runner, pool }, recorded.search, prompts).run();
}

type SliceContext = Omit<AnswererContext, 'next'>;

class SearchSlice {
  private readonly unrecorded: StepRecord[] = [];
  private readonly until = Date.now() + sliceMs;
  private search: SearchProgress;
  private readonly answerer: RequestAnswerer;
  private readonly context: SliceContext;
  private readonly stepsBefore: number;

  /** `prompts`: those of people that the search does not have. */
  constructor(context: SliceContext, search: SearchProgress, prompts: readonly string[]) {
    this.context = context;
    this.answerer = new RequestAnswerer({
      ...context,
      next: (response, candidates) => this.next(response, candidates),
    });
    this.search = search;
    this.stepsBefore = search.steps;
    for (const id of prompts) if (!this.isLive && search.takesPrompt) this.apply({ kind: 'given', id });
  }

  async run(): Promise<Driven> {
    const { deps, runner } = this.context;
    const { log } = deps;
    let rest: Rest;
    try {
      rest = await this.answerAll();
    } catch (error) {
      await endSlice(deps, runner, [], null).catch((err: unknown) => log.warn({ err }, 'lease not released'));
      throw error;
    } finally {
      this.answerer.close();
    }
    await this.end(rest);
    const { runnable, job } = runner;
    return { rest, progress: progressOfSearch(job.jobId, this.search, suggestionsOf(runnable.spec)) };
  }

  /** Fails with the fault where its cause prevents the record. */
  private async end(rest: Rest): Promise<void> {
    const { deps, runner } = this.context;
    const changed = this.search.steps > this.stepsBefore ? this.search : null;
    try {
      await endSlice(deps, runner, this.unrecorded, changed);
    } catch (error) {
      const fault = rest.kind === 'failed' ? rest.fault : null;
      throw fault && finalFailure(error) ? jobFailure(fault.code, fault.message, fault.retryable) : error;
    }
  }

  private apply(input: SearchInput, candidates: NewCandidate[] = []): void {
    this.unrecorded.push({ input, candidates, update: this.search.apply(input) });
  }

  /** Answers requests until the search ends or rests. */
  private async answerAll(): Promise<Rest> {
    for (let begun: BegunSteps | null = null; ;) {
      const request: SearchRequest = begun?.request ?? this.search.next();
      if (request.kind === 'done' || request.kind === 'failed') return { kind: 'ended', end: endOfSearch(request) };
      if (!begun && this.mustRest()) return { kind: 'again' };
      if (this.isByTraffic(request)) {
        if (await this.takeTraffic(request)) continue;
        return { kind: 'rewards' };
      }
      const { response, candidates, fault, next = null } = await this.answer(request, begun);
      begun = next;
      if (next) {
        this.search = next.progress;
        continue;
      }
      if (fault) return restOfFault(fault);
      if (!response || this.mustWait(response)) return { kind: 'again' };
      this.apply(response, candidates);
    }
  }

  /** Takes the rewards of live traffic; false: some are missing. */
  private async takeTraffic(request: Extract<SearchRequest, { kind: 'rollouts' }>): Promise<boolean> {
    const answered = await this.answerer.answerByTraffic(request, this.unrecorded);
    if (!answered) return false;
    const isBaseline = request.requests.some(({ stage }) => stage === 'baseline');
    if (answered.traffic === 'unpaired' && isBaseline) this.apply({ kind: 'unpaired' });
    this.apply(answered.response);
    return true;
  }

  private async answer(request: AnswerableRequest, begun: BegunSteps | null): Promise<AnsweredRequest> {
    try {
      return await this.answerer.answer(request, this.unrecorded, begun?.begun);
    } catch (error) {
      const failure = finalFailure(error);
      // A retry goes on after the recorded inputs.
      if (!failure) throw error;
      return { response: null, candidates: [], fault: faultOf(failure) };
    }
  }

  /** Also takes the steps whose answers follow from the pool. */
  private next(response: SearchResponse, candidates: NewCandidate[]): NextSteps | null {
    if (this.mustRest()) return null;
    const records: StepRecord[] = [];
    let from = this.search;
    for (let answered: ReturnType<RequestAnswerer['derive']> = { response, candidates }; ;) {
      const { progress, update } = from.after(answered.response);
      records.push({ input: answered.response, candidates: answered.candidates, update });
      const request = progress.next();
      if (!this.isAnswerable(request)) return null;
      answered = this.answerer.derive(request);
      if (!answered) return { records, progress, request };
      from = progress;
    }
  }

  private isAnswerable(request: SearchRequest): request is AnswerableRequest {
    return request.kind !== 'done' && request.kind !== 'failed' && !this.isByTraffic(request);
  }

  private get isLive(): boolean {
    return isLive(this.context.runner.runnable.spec);
  }

  private isByTraffic(request: SearchRequest): request is Extract<SearchRequest, { kind: 'rollouts' }> {
    return request.kind === 'rollouts' && this.isLive;
  }

  /**
   * Whether a response that would end the search waits: a person's prompt may have come. The next
   * slice gets the same response from the record.
   */
  private mustWait(response: SearchResponse): boolean {
    return this.context.runner.interruptions.hasNews && this.search.after(response).progress.next().kind === 'done';
  }

  private mustRest(): boolean {
    const { isStopped, hasNews } = this.context.runner.interruptions;
    return isStopped || hasNews || Date.now() >= this.until;
  }
}
