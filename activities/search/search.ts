import type { SessionState } from '../../src/core/algorithms/index.js';
import { SearchProgress, type SearchInput, type SearchUpdate } from '../../src/core/algorithms/progress.js';
import type { SearchRequest, SearchResponse } from '../../src/core/search/protocol.js';
import type { OutcomeCounts } from '../../src/core/jobs/failures.js';
import { faultOf, type JobFault } from '../../src/core/jobs/fault.js';
import { readPool, type NewCandidate } from '../../src/storage/candidates/candidates.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { readInputs } from '../../src/storage/jobs/search-inputs.js';
import type { ActivityDeps } from '../deps.js';
import { finalFailure, jobFailure } from '../errors.js';
import { isLive } from '../jobs/spec.js';
import { CandidatePool } from '../proposals/pool.js';
import { Interruptions } from '../rollouts/interruptions.js';
import { withLease } from '../rollouts/lease.js';
import type { RolloutRunners } from '../rollouts/run.js';
import { RequestAnswerer, type AnswererContext } from './answer.js';
import type { AnswerableRequest, AnsweredRequest, BegunSteps, NextSteps, StepRecord } from './steps.js';

/** The workflow takes in the state after this long, once the current request is answered. */
const sliceMs = 10_000;

/** A state of a job's search, and the number of its last step. */
export interface SearchPosition extends JobRef {
  state: SessionState;
  steps: number;
}

export interface RunSearchInput extends SearchPosition {
  /** The ids of a person's prompts that the state does not have yet. */
  given: string[];
  /** An update that is not recorded yet. */
  update?: SearchUpdate;
}

export interface RunSearchResult {
  state: SessionState;
  steps: number;
  /** Outcomes of all the job's rollouts; null: not read. */
  counts: OutcomeCounts | null;
  /** Why the job must fail. */
  fault: JobFault | null;
}

export function searchActivity(deps: ActivityDeps, rollouts: RolloutRunners) {
  return {
    /**
     * Answers the requests of a search one after the other, for some seconds or until an
     * interruption. Every input is recorded before the next request, so a retry goes on after it.
     */
    search: async ({ orgId, jobId, ...input }: RunSearchInput): Promise<RunSearchResult> => {
      const job: JobRef = { orgId, jobId };
      const interruptions = new Interruptions(deps, job);
      try {
        const opened = await withLease(deps.db, job, interruptions, async (tx, token) => {
          const [held, inputs, candidates] = await Promise.all([
            rollouts.open(tx, job),
            readInputs(tx, jobId, input.steps),
            readPool(tx, jobId),
          ]);
          return { runner: { job, ...held, token, interruptions }, inputs, pool: new CandidatePool(candidates) };
        });
        if (!opened) {
          // The workflow keeps its update, and another attempt records it.
          if (input.update) throw new Error('Interrupted before the lease of the job was free.');
          return { ...(await catchUp(deps, { ...job, ...input })), counts: null, fault: null };
        }
        const { runner, inputs, pool } = opened;
        return await new SearchSlice({ deps, rollouts, runner, pool }, input, inputs).run();
      } finally {
        interruptions.close();
      }
    },

    /** The state after the recorded inputs, where `search` ended without returning it. */
    catchUp: (input: SearchPosition): Promise<Pick<SearchPosition, 'state' | 'steps'>> => catchUp(deps, input),
  };
}

async function catchUp({ db }: ActivityDeps, { orgId, jobId, state, steps }: SearchPosition) {
  const inputs = await db.orgHot(orgId, (tx) => readInputs(tx, jobId, steps));
  const search = new SearchProgress(state, steps);
  search.replay(inputs);
  return { state: search.state, steps: search.steps };
}

type SliceContext = Omit<AnswererContext, 'next'>;

class SearchSlice {
  private readonly unrecorded: StepRecord[];
  private readonly until = Date.now() + sliceMs;
  private search: SearchProgress;
  private readonly answerer: RequestAnswerer;
  private readonly context: SliceContext;

  /** `recorded`: the inputs that an earlier attempt recorded. */
  constructor(
    context: SliceContext,
    { state, steps, given, update }: Omit<RunSearchInput, keyof JobRef>,
    recorded: readonly SearchInput[],
  ) {
    this.context = context;
    this.answerer = new RequestAnswerer({
      ...context,
      next: (response, candidates) => this.next(response, candidates),
    });
    this.search = new SearchProgress(state, steps);
    this.unrecorded = update ? [{ update }] : [];
    this.search.replay(recorded);
    const isKnown = (id: string) => recorded.some((known) => known.kind === 'given' && known.id === id);
    for (const id of given) if (!isKnown(id)) this.apply({ kind: 'given', id });
  }

  async run(): Promise<RunSearchResult> {
    let fault: JobFault | null;
    try {
      fault = await this.answerAll();
    } catch (error) {
      await this.answerer.end([]).catch((err: unknown) => this.context.deps.log.warn({ err }, 'lease not released'));
      throw error;
    } finally {
      this.answerer.close();
    }
    const counts = await this.end(fault);
    const { state, steps } = this.search;
    return { state, steps, counts, fault };
  }

  /** Fails with the fault where its cause prevents the record. */
  private async end(fault: JobFault | null): Promise<OutcomeCounts> {
    try {
      return await this.answerer.end(this.unrecorded);
    } catch (error) {
      throw fault && finalFailure(error) ? jobFailure(fault.code, fault.message, fault.retryable) : error;
    }
  }

  private apply(input: SearchInput, candidates: NewCandidate[] = []): void {
    this.unrecorded.push({ input, candidates, update: this.search.apply(input) });
  }

  /** Answers requests until the search ends or rests; returns why the job must fail. */
  private async answerAll(): Promise<JobFault | null> {
    for (let begun: BegunSteps | null = null; ;) {
      const request: SearchRequest = begun?.request ?? this.search.next();
      if (!begun && (!this.isAnswerable(request) || this.mustRest())) return null;
      const { response, candidates, fault, next = null } = await this.answer(request as AnswerableRequest, begun);
      begun = next;
      if (next) {
        this.search = next.progress;
        continue;
      }
      if (!response || this.mustWait(response)) return fault;
      this.apply(response, candidates);
    }
  }

  private async answer(request: AnswerableRequest, begun: BegunSteps | null): Promise<AnsweredRequest> {
    try {
      return await this.answerer.answer(request, this.unrecorded, begun?.begun);
    } catch (error) {
      const failure = finalFailure(error);
      // A retry goes on after the recorded inputs; a final failure returns the state.
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
    if (request.kind === 'done' || request.kind === 'failed') return false;
    // The workflow waits for the rewards of live traffic.
    return !(request.kind === 'rollouts' && isLive(this.context.runner.runnable.spec));
  }

  /**
   * Whether a response that would end the search waits: the workflow may have a prompt for it. The
   * next slice gets the same response from the record.
   */
  private mustWait(response: SearchResponse): boolean {
    return this.context.runner.interruptions.hasNews && this.search.after(response).progress.next().kind === 'done';
  }

  private mustRest(): boolean {
    const { isStopped, hasNews } = this.context.runner.interruptions;
    return isStopped || hasNews || Date.now() >= this.until;
  }
}
