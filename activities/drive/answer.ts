import { isMeasuredBaseline } from '../../src/core/algorithms/progress.js';
import type { GraphSpec, SearchSpec, SessionSpec } from '../../src/core/jobs/spec.js';
import { proposalsIn, responseTo, rolloutsIn, type RoundRequest } from '../../src/core/search/parts.js';
import type {
  ProposalRequest,
  RolloutAnswer,
  RolloutRequest,
  SearchRequest,
  SearchResponse,
} from '../../src/core/search/protocol.js';
import type { TracedRun } from '../../src/core/jobs/trace.js';
import { readPool, type NewCandidate } from '../../src/candidates/store/candidates.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { noteGeneration } from '../../src/jobs/store/traces.js';
import type { SyncResult } from '../../src/rollouts/store/exchange.js';
import { planRollouts, readAnswers } from '../../src/rollouts/store/rollouts.js';
import { clearWake, publishSlots, readTraffic, type Traffic } from '../../src/rollouts/store/slots.js';
import { jobSpan } from '../../src/tracing/spans.js';
import type { ActivityDeps } from '../deps.js';
import { adoptCalledPrompt } from '../jobs/adopt-baseline.js';
import { logGenerations } from '../jobs/generations.js';
import { recordLost } from '../jobs/spec.js';
import type { AdmittedProposals } from '../proposals/admit.js';
import { findDemos } from '../proposals/find-demos.js';
import { readMaterial, type Material } from '../proposals/material.js';
import type { CandidatePool } from '../proposals/pool.js';
import { deriveProposals, propose } from '../proposals/propose.js';
import type { RunEnd } from '../rollouts/exchange.js';
import type { RolloutRunners } from '../rollouts/run.js';
import type { RunnerContext } from '../rollouts/runner.js';
import { recordSteps, writeSteps } from './record-steps.js';
import { StoppableCalls } from './stoppable-calls.js';
import type { AnswerableRequest, AnsweredRequest, BegunRequest, Conclusion, NextSteps, StepRecord } from './steps.js';

export interface AnswererContext {
  deps: ActivityDeps;
  rollouts: RolloutRunners;
  runner: RunnerContext;
  pool: CandidatePool;
  /** The steps that follow from a response; null: the request after them must not begin yet. */
  next(response: SearchResponse, candidates: NewCandidate[]): NextSteps | null;
}

const notAnswered: AnsweredRequest = { response: null, candidates: [], fault: null };
const noProposals: AdmittedProposals = { answers: [], candidates: [] };

/** Answers requests of a search with rollouts, proposals and demonstrations. */
export class RequestAnswerer {
  private readonly calls: StoppableCalls;
  private readonly context: AnswererContext;

  constructor(context: AnswererContext) {
    this.context = context;
    this.calls = new StoppableCalls(context.deps, context.runner);
  }

  close(): void {
    this.calls.close();
  }

  /**
   * Answers a request. Records `steps` first and empties it, unless the answer follows from the
   * pool (then the next request records them) or the request has `begun`.
   */
  async answer(request: AnswerableRequest, steps: StepRecord[], begun?: BegunRequest): Promise<AnsweredRequest> {
    const derived = begun ? null : this.derive(request);
    if (derived) return { ...derived, fault: null };
    const work = begun ?? (await this.begin(steps, request));
    const { run, material } = work;
    logGenerations(this.deps.log, this.job, work.generations);
    if (!work.isRunning) {
      const ran = await run?.();
      return { ...notAnswered, fault: ran?.fault ?? null };
    }
    if (request.kind === 'demos') return this.answerDemos(request);
    const write = async (from: Material) => (work.proposed = await this.propose(proposalsIn(request), from));
    const [ran, proposed] = await settleBoth(run?.(), material ? write(material) : noProposals);
    const { conclusion, fault = null } = ran ?? { conclusion: { answers: [], next: null } };
    if (fault || !conclusion?.answers || !proposed) return { ...notAnswered, fault };
    const response = responseTo(request, conclusion.answers, proposed.answers);
    if (this.adoptsBaseline(request, response)) await this.adoptBaseline();
    return { response, candidates: proposed.candidates, fault: null, next: conclusion.next };
  }

  /** The response to a request whose answer follows from the pool; null: it needs more. */
  derive(request: AnswerableRequest): (Pick<AnsweredRequest, 'candidates'> & { response: SearchResponse }) | null {
    const derived =
      request.kind === 'proposals' ? deriveProposals(this.context.pool, this.spec, request.requests) : null;
    return derived && { response: { kind: 'proposals', answers: derived.answers }, candidates: derived.candidates };
  }

  /**
   * Publishes rollouts as slots for live traffic, and reads their answers. Null: some are missing;
   * the report of the last one signals the workflow.
   */
  async answerByTraffic(
    request: Extract<SearchRequest, { kind: 'rollouts' }>,
    steps: StepRecord[],
  ): Promise<{ response: SearchResponse; traffic: Traffic | null } | null> {
    const { deps, job } = this;
    const { requests } = request;
    const [from, to] = [requests[0]!.ordinal, requests.at(-1)!.ordinal + 1];
    const { answers, traffic, generations } = await deps.db.orgHot(job.orgId, async (tx) => {
      const { generations } = await recordSteps(tx, this.context.runner, steps);
      const [, , answers, { traffic }] = await Promise.all([
        publishSlots(tx, job, requests),
        clearWake(tx, job.jobId),
        readAnswers(tx, job.jobId, from, to),
        readTraffic(tx, job.jobId),
      ]);
      return { answers, traffic, generations };
    });
    steps.length = 0;
    logGenerations(deps.log, job, generations);
    if (!answers) return null;
    const response: SearchResponse = { kind: 'rollouts', answers };
    if (this.adoptsBaseline(request, response)) await this.adoptBaseline();
    return { response, traffic };
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

  private async begin(steps: StepRecord[], request: AnswerableRequest): Promise<BegunRequest> {
    const { deps, job } = this;
    const begun = await deps.db.orgHot(job.orgId, (tx) => this.beginIn(tx, steps, request));
    const last = steps.at(-1);
    if (last) this.context.runner.watch.recorded(`step ${last.update.step}`);
    steps.length = 0;
    return begun;
  }

  /** Records the steps, starts rollouts and reads material for proposals. */
  private async beginIn(tx: Tx, steps: readonly StepRecord[], request: AnswerableRequest): Promise<BegunRequest> {
    const { job } = this;
    const { runner, rollouts: runners } = this.context;
    const rollouts = rolloutsIn(request);
    const { begun, prompts, end } = this.prepareToBegin(request);
    const [{ row, generations }, , run, material] = await Promise.all([
      recordSteps(tx, runner, steps),
      planRollouts(tx, job, rollouts, true),
      rollouts.length > 0 ? runners.start(tx, runner, prompts, end) : null,
      this.materialOf(tx, request),
    ]);
    return Object.assign(begun, { run, material, generations, isRunning: row.control === 'run', mayGoOn: true });
  }

  /** Like `beginIn`, in the exchange that `found` the request before it answered. */
  private async beginBehind(tx: Tx, { records, request }: NextSteps, found: SyncResult): Promise<BegunRequest> {
    const { job } = this;
    const { runner, rollouts: runners } = this.context;
    const rollouts = rolloutsIn(request);
    const { begun, prompts, end } = this.prepareToBegin(request);
    const claim = (slots: number) => planRollouts(tx, job, rollouts, true, { token: runner.token, slots });
    const [generations, run, material] = await Promise.all([
      writeSteps(tx, runner, records),
      rollouts.length > 0 ? runners.startNew(runner, prompts, end, found, claim) : null,
      this.materialOf(tx, request),
    ]);
    return Object.assign(begun, { run, material, generations, isRunning: true, mayGoOn: true });
  }

  private prepareToBegin(request: AnswerableRequest) {
    const { job, spec } = this;
    const rollouts = rolloutsIn(request);
    if (!this.areInPool(rollouts)) throw recordLost(job);
    const prompts = this.context.pool.pick(rollouts.map(({ candidate }) => candidate));
    const begun: BegunRequest = {
      run: null,
      material: null,
      isRunning: false,
      generations: [],
      mayGoOn: false,
      proposed: proposalsIn(request).length === 0 ? noProposals : null,
    };
    const end: RunEnd<RolloutAnswer[] | null, Conclusion> = {
      read: (tx) => {
        const [from, to] = [rollouts[0]!.ordinal, rollouts.at(-1)!.ordinal + 1];
        return readAnswers(tx, job.jobId, from, to, costUnitOf(spec));
      },
      isOver: (answers) => answers !== null,
      conclude: async (tx, answers, found) => {
        const { mayGoOn, proposed } = begun;
        begun.mayGoOn = false;
        if (!mayGoOn || found.control !== 'run' || !answers || !proposed) return { answers, next: null };
        const next = this.nextOf(request as RoundRequest, answers, proposed);
        return { answers, next: next && { ...next, begun: await this.beginBehind(tx, next, found) } };
      },
    };
    return { begun, prompts, end };
  }

  /** Null: the request asks for no proposals. */
  private async materialOf(tx: Tx, request: AnswerableRequest): Promise<Material | null> {
    const proposals = proposalsIn(request);
    if (proposals.length === 0) return null;
    const [material] = await Promise.all([
      readMaterial(tx, this.job, this.spec, this.context.pool, proposals),
      this.noteGenerations(tx, proposals),
    ]);
    return material;
  }

  /**
   * The next steps, if the transaction that answers a request can record them and begin the request
   * after them. Saves a commit between two rounds.
   */
  private nextOf(request: RoundRequest, answers: RolloutAnswer[], proposed: AdmittedProposals): NextSteps | null {
    const response = responseTo(request, answers, proposed.answers);
    if (this.adoptsBaseline(request, response)) return null;
    const next = this.context.next(response, proposed.candidates);
    return next && this.areInPool(rolloutsIn(next.request)) ? next : null;
  }

  private areInPool(rollouts: readonly RolloutRequest[]): boolean {
    return rollouts.every(({ candidate }) => this.context.pool.has(candidate));
  }

  private adoptsBaseline(request: SearchRequest, response: SearchResponse): boolean {
    return this.spec.kind === 'session' && isMeasuredBaseline(request, response) && !this.context.pool.get(0).messages;
  }

  private async noteGenerations(tx: Tx, proposals: readonly ProposalRequest[]): Promise<void> {
    if (!this.trace) return;
    await noteGeneration(tx, this.job.jobId, Math.max(...proposals.map(({ generation }) => generation)));
  }

  /** Takes the baseline's prompt from its rollouts, unless it is known. */
  private async adoptBaseline(): Promise<void> {
    const { deps, job } = this;
    const adopted = await deps.db.org(job.orgId, async (tx) => {
      await adoptCalledPrompt(tx, job);
      return readPool(tx, job.jobId);
    });
    this.context.pool.set(0, adopted.get(0)!);
  }

  /** Null: interrupted. */
  private propose(requests: ProposalRequest[], material: Material): Promise<AdmittedProposals | null> {
    const { interruptions } = this.context.runner;
    const { trace } = this;
    const mayAsk = () => !interruptions.isStopped && !interruptions.hasNews;
    return this.calls.unlessStopped({ kind: 'proposals' }, (deps, signal) =>
      propose(deps, this.job, { requests, material, trace, signal, mayAsk }),
    );
  }

  private async answerDemos({ request }: AnswerableRequest & { kind: 'demos' }): Promise<AnsweredRequest> {
    const spec = this.spec as SessionSpec;
    const trace = this.deps.tracing?.callsOf(this.trace && jobSpan(this.trace)) ?? null;
    const answer = await this.calls.unlessStopped({ kind: 'demonstrations' }, (deps, signal) =>
      findDemos(deps, this.job, spec, request, { trace, signal }),
    );
    return { response: answer && { kind: 'demos', answer }, candidates: [], fault: null };
  }
}

/** Graphs do not all cost the same. */
function costUnitOf(spec: SearchSpec): GraphSpec['costUnit'] | undefined {
  return spec.kind === 'graph' ? spec.costUnit : undefined;
}

/** Waits for both before throwing, so that work in flight is recorded. */
async function settleBoth<A, B>(a: Promise<A> | undefined, b: Promise<B> | B) {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}
