import { setMaxListeners } from 'node:events';
import { isMeasuredBaseline, type SearchInput, type SearchUpdate } from '../../src/core/algorithms/progress.js';
import type { OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { GraphSpec, SearchSpec, SessionSpec } from '../../src/core/jobs/spec.js';
import { proposalsIn, responseTo, rolloutsIn } from '../../src/core/search/parts.js';
import type {
  ProposalRequest,
  RolloutAnswer,
  RolloutRequest,
  SearchRequest,
  SearchResponse,
} from '../../src/core/search/protocol.js';
import type { TracedRun } from '../../src/core/jobs/trace.js';
import { addCandidate, readPool, type NewCandidate } from '../../src/storage/candidates/candidates.js';
import type { Tx } from '../../src/storage/db/db.js';
import { readControl, type ControlRow, type JobRef } from '../../src/storage/jobs/events.js';
import { releaseLease } from '../../src/storage/jobs/leases.js';
import { recordInput } from '../../src/storage/jobs/search-inputs.js';
import { noteGeneration } from '../../src/storage/jobs/traces.js';
import { readCounts } from '../../src/storage/rollouts/outcome-counts.js';
import { planRollouts, readAnswers } from '../../src/storage/rollouts/rollouts.js';
import { jobSpan } from '../../src/tracing/spans.js';
import type { ActivityDeps } from '../deps.js';
import { adoptCalledPrompt } from '../jobs/adopt-baseline.js';
import { logGenerations, type RecordedGeneration } from '../jobs/generations.js';
import { recordSearchUpdate } from '../jobs/search-update.js';
import { leaseLost, lockHeldJob, recordLost } from '../jobs/spec.js';
import type { AdmittedProposals } from '../proposals/admit.js';
import { findDemos } from '../proposals/find-demos.js';
import { readMaterial, type Material } from '../proposals/material.js';
import type { CandidatePool } from '../proposals/pool.js';
import { deriveProposals, propose } from '../proposals/propose.js';
import type { JobFault } from '../rollouts/in-flight.js';
import { keepLease } from '../rollouts/lease.js';
import type { RolloutRunners, StartedRollouts } from '../rollouts/run.js';
import type { RunnerContext } from '../rollouts/runner.js';

export type AnswerableRequest = Exclude<SearchRequest, { kind: 'done' | 'failed' }>;

/** A step of the search to record; `input` absent: the workflow has it. */
export interface StepRecord {
  input?: SearchInput;
  /** The candidates that it proposes. */
  candidates?: NewCandidate[];
  update: SearchUpdate;
}

/** `response` null: interrupted, or a fault. */
export interface AnsweredRequest {
  response: SearchResponse | null;
  /** The candidates to store with the response. */
  candidates: NewCandidate[];
  fault: JobFault | null;
}

export interface AnswererContext {
  deps: ActivityDeps;
  rollouts: RolloutRunners;
  runner: RunnerContext;
  pool: CandidatePool;
}

/** A request that has begun; `isRunning`: the job is neither paused nor stopped. */
interface BegunRequest {
  run: StartedRollouts<RolloutAnswer[] | null> | null;
  material: Material | null;
  isRunning: boolean;
}

const notAnswered: AnsweredRequest = { response: null, candidates: [], fault: null };

/** Answers requests of a search with rollouts, proposals and demonstrations. */
export class RequestAnswerer {
  /** Aborts model calls of the proposer once the job is stopped. */
  private readonly stopper = new AbortController();
  private readonly stopListening: () => void;
  private readonly context: AnswererContext;

  constructor(context: AnswererContext) {
    this.context = context;
    // Every question to the proposer listens to it.
    setMaxListeners(0, this.stopper.signal);
    const { interruptions } = context.runner;
    const { obsolete } = interruptions;
    this.stopListening = interruptions.listen({
      onNews: () => void this.stopIfEnding(),
      onStop: () => (obsolete.aborted ? this.stopper.abort(obsolete.reason) : void this.stopIfEnding()),
    });
  }

  close(): void {
    this.stopListening();
  }

  /**
   * Answers a request. Records `steps` first and empties it, unless the answer follows from the
   * pool: then the next request records them.
   */
  async answer(request: AnswerableRequest, steps: StepRecord[]): Promise<AnsweredRequest> {
    const [rollouts, proposals] = [rolloutsIn(request), proposalsIn(request)];
    const derived = request.kind === 'proposals' ? deriveProposals(this.context.pool, this.spec, proposals) : null;
    if (derived) {
      const { answers, candidates } = derived;
      return { response: { kind: 'proposals', answers }, candidates, fault: null };
    }
    const { run, material, isRunning } = await this.begin(steps, rollouts, proposals);
    if (!isRunning) {
      const ran = await run?.();
      return { ...notAnswered, fault: ran?.fault ?? null };
    }
    if (request.kind === 'demos') return this.answerDemos(request);
    const [ran, proposed] = await settleBoth(run?.(), material ? this.propose(proposals, material) : undefined);
    const { conclusion: answers = null, fault = null } = ran ?? { conclusion: [] };
    if (fault || answers === null || proposed === null) return { ...notAnswered, fault };
    const response = responseTo(request, answers, proposed?.answers ?? []);
    if (this.spec.kind === 'session' && isMeasuredBaseline(request, response)) await this.adoptBaseline();
    return { response, candidates: proposed?.candidates ?? [], fault: null };
  }

  /** Records the steps, gives the lease back and reads the outcomes of all the job's rollouts. */
  async end(steps: readonly StepRecord[]): Promise<OutcomeCounts> {
    const { jobId, orgId } = this.job;
    const { counts, generations } = await this.deps.db.orgHot(orgId, async (tx) => {
      const { row, generations } = await this.recordIn(tx, steps);
      await releaseLease(tx, jobId, this.context.runner.token);
      return { counts: await readCounts(tx, jobId, row, this.spec.maxFailureRate), generations };
    });
    logGenerations(this.deps.log, this.job, generations);
    return counts;
  }

  private get deps(): ActivityDeps {
    return this.context.deps;
  }

  private get job(): JobRef {
    return this.context.runner.job;
  }

  private get trace(): TracedRun | null {
    return this.context.runner.runnable.trace;
  }

  private get spec(): SearchSpec {
    return this.context.runner.runnable.spec as SearchSpec;
  }

  /** One transaction: records the steps, starts rollouts and reads material for proposals. */
  private async begin(
    steps: StepRecord[],
    rollouts: RolloutRequest[],
    proposals: ProposalRequest[],
  ): Promise<BegunRequest> {
    const { deps, job, spec } = this;
    const { runner, pool } = this.context;
    const [from, to] = [rollouts[0]?.ordinal ?? 0, (rollouts.at(-1)?.ordinal ?? -1) + 1];
    const conclude = (end: Tx) => readAnswers(end, job.jobId, from, to, costUnitOf(spec));
    const tested = rollouts.map(({ candidate }) => candidate);
    if (!tested.every((candidate) => pool.has(candidate))) throw recordLost(job);
    const [{ row, generations }, , run, material] = await deps.db.orgHot(job.orgId, (tx) =>
      Promise.all([
        this.recordIn(tx, steps),
        planRollouts(tx, job, rollouts, true),
        rollouts.length > 0 ? this.context.rollouts.start(tx, runner, pool.pick(tested), conclude) : null,
        proposals.length > 0 ? readMaterial(tx, job, spec, pool, proposals) : null,
        this.noteGenerations(tx, proposals),
      ]),
    );
    steps.length = 0;
    logGenerations(deps.log, job, generations);
    return { run, material, isRunning: row.control === 'run' };
  }

  private async noteGenerations(tx: Tx, proposals: readonly ProposalRequest[]): Promise<void> {
    if (!this.trace || proposals.length === 0) return;
    await noteGeneration(tx, this.job.jobId, Math.max(...proposals.map(({ generation }) => generation)));
  }

  /** Takes the baseline's prompt from its rollouts, unless it is known. */
  private async adoptBaseline(): Promise<void> {
    const { deps, job } = this;
    if (this.context.pool.get(0).messages) return;
    const adopted = await deps.db.org(job.orgId, async (tx) => {
      await adoptCalledPrompt(tx, job);
      return readPool(tx, job.jobId);
    });
    this.context.pool.set(0, adopted.get(0)!);
  }

  private async recordIn(
    tx: Tx,
    steps: readonly StepRecord[],
  ): Promise<{ row: ControlRow; generations: RecordedGeneration[] }> {
    const row = await lockHeldJob(tx, this.job, this.context.runner.token);
    const generations: RecordedGeneration[] = [];
    // One after the other: each changes what the next one reads.
    for (const { input, candidates = [], update } of steps) {
      const [, completed] = await Promise.all([
        Promise.all(candidates.map((candidate) => addCandidate(tx, this.job, candidate))),
        recordSearchUpdate(tx, this.job, update, row),
        input && recordInput(tx, this.job, update.step, input),
      ]);
      generations.push(...completed);
    }
    return { row, generations };
  }

  /** Null: interrupted. */
  private propose(requests: ProposalRequest[], material: Material): Promise<AdmittedProposals | null> {
    const { interruptions } = this.context.runner;
    const { trace } = this;
    const mayAsk = () => !interruptions.isStopped && !interruptions.hasNews;
    return this.unlessStopped((signal) => propose(this.deps, this.job, { requests, material, trace, signal, mayAsk }));
  }

  private async answerDemos({ request }: AnswerableRequest & { kind: 'demos' }): Promise<AnsweredRequest> {
    const spec = this.spec as SessionSpec;
    const trace = this.deps.tracing?.callsOf(this.trace && jobSpan(this.trace)) ?? null;
    const answer = await this.unlessStopped((signal) =>
      findDemos(this.deps, this.job, spec, request, { trace, signal }),
    );
    return { response: answer && { kind: 'demos', answer }, candidates: [], fault: null };
  }

  /** Null: the job was stopped meanwhile. */
  private async unlessStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const { deps, stopper, context } = this;
    const { signal } = stopper;
    // Rollouts renew it too, but may end earlier.
    const lease = keepLease(deps, context.runner, () => stopper.abort(leaseLost(this.job)));
    try {
      const result = await work(signal);
      return signal.aborted ? null : result;
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    } finally {
      lease.end();
    }
  }

  private async stopIfEnding(): Promise<void> {
    const { deps, job } = this;
    try {
      const control = await deps.db.org(job.orgId, (tx) => readControl(tx, job.jobId));
      if (control === 'stop') this.stopper.abort(new Error('the job was stopped'));
    } catch (err) {
      // A stop also reaches the activity as its cancellation.
      deps.log.warn({ err, job_id: job.jobId }, 'control of the job not read');
    }
  }
}

/** Graphs do not all cost the same. */
function costUnitOf(spec: SearchSpec): GraphSpec['costUnit'] | undefined {
  return spec.kind === 'graph' ? spec.costUnit : undefined;
}

/** Waits for both before throwing, so that work in flight is recorded. */
async function settleBoth<A, B>(a: Promise<A> | undefined, b: Promise<B> | undefined) {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}
