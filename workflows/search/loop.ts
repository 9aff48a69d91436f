import { ActivityCancellationType, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities, SessionLimits, SessionPlan } from '../../activities/index.js';
import { createGepa } from '../../src/core/algorithms/gepa/state.js';
import { createMipro } from '../../src/core/algorithms/mipro/state.js';
import { switchToUnpaired, searchOf, type SessionState } from '../../src/core/algorithms/index.js';
import { candidateId } from '../../src/core/jobs/ids.js';
import type {
  SearchResponse,
  CandidateSummary,
  ProposalAnswer,
  RolloutRequest,
  SearchView,
  DemoAnswer,
  SearchRequest,
} from '../../src/core/search/protocol.js';
import type { JobOutcome } from '../jobs/close.js';
import { JobControl } from '../jobs/control.js';
import { answeredByTraffic } from '../rollouts/live.js';
import type { CarriedState } from '../jobs/history-limit.js';
import type { JobInput } from '../messages.js';
import { runRolloutsToEnd, type PendingDecision } from '../rollouts/rollouts.js';
import {
  outcomeOfSpentBudget,
  outcomeIfCostSpent,
  interruptWhenOver,
  sessionTime,
  type BudgetContext,
} from './budget.js';

/**
 * The input of a job that searches; `resume` is what a run that continued as new handed on: `proposed` are the answers to
 * the first of the proposals that `state` asks for, `steps` counts the answers folded in, `leftMs` is what is left of
 * `max_minutes`.
 */
export interface SearchInput extends JobInput {
  resume?: {
    state: SessionState;
    limits: SessionLimits;
    control: CarriedState;
    proposed: ProposalAnswer[];
    steps: number;
    leftMs?: number;
  };
}

/** What the kinds of job that search do differently. */
export interface SearchKind {
  /** What is done about a budget that is too small, besides raising it. */
  less: string;
  /** What comes before the first rollout; answers what to search with. */
  prepare(job: JobInput): Promise<SessionPlan>;
  /** What follows the baseline's rollouts. */
  adoptBaseline?(job: JobInput): Promise<void>;
  /** Goes on in a new run of the kind's own workflow. */
  continueAsNew(input: SearchInput): Promise<never>;
}

const { propose, findDemos } = proxyActivities<Activities>({
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '5 seconds' },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});
const { recordSearch } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
});

/** A job that searches: ask the algorithm what it wants, have it done, fold the answers in, record; to the end. */
export async function searchJob(input: SearchInput, kind: SearchKind): Promise<void> {
  const job: JobInput = { orgId: input.orgId, jobId: input.jobId };
  let state = input.resume?.state ?? null;
  let limits = input.resume?.limits ?? { maxFailureRate: 1, maxConcurrent: 1 };
  let proposed = input.resume?.proposed ?? [];
  let steps = input.resume?.steps ?? 0;
  let time = sessionTime(limits, input.resume?.leftMs);
  const pending: PendingDecision = { decided: null };
  const view = (): SearchView | null => (state ? searchOf(state).view(state) : null);
  const publish = async (): Promise<void> => {
    const { decided } = pending;
    if (!decided) return;
    await recordSearch({ ...job, ...decided });
    if (pending.decided === decided) pending.decided = null;
  };
  const control: JobControl = new JobControl(
    job,
    {
      view: () => operatorView(job.jobId, view()),
      search: view,
      publish,
      endingOf: (error) => outcomeIfCostSpent(error, spender()),
      continueAsNew: (carried) =>
        kind.continueAsNew({
          ...job,
          resume: { state: state!, limits, control: carried, proposed, steps, ...(time && { leftMs: time.left }) },
        }),
    },
    input.resume?.control,
  );
  const spender = (): BudgetContext => ({
    search: view(),
    control,
    maxFailureRate: limits.maxFailureRate,
    less: kind.less,
  });

  /** Asks for texts, at most `maxConcurrent` at a time: a pause is not held up by those that have not begun. */
  async function proposals(work: SearchRequest & { kind: 'proposals' }): Promise<ProposalAnswer[]> {
    while (proposed.length < work.requests.length) {
      await control.waitUntilRunnable();
      const requests = work.requests.slice(proposed.length, proposed.length + limits.maxConcurrent);
      const summary = describe({ ...work, requests });
      const { decided } = pending;
      const input = { ...job, requests, ...(decided && { decided }) };
      const answers = await propose.executeWithOptions({ summary }, [input]);
      pending.decided = null;
      proposed = [...proposed, ...answers];
    }
    const all = proposed;
    proposed = [];
    return all;
  }

  async function searchedForDemos({ request }: SearchRequest & { kind: 'demos' }): Promise<DemoAnswer> {
    await control.waitUntilRunnable();
    const { decided } = pending;
    const input = { ...job, request, ...(decided && { decided }) };
    const summary = `generation ${request.generation}: what ${request.ordinals.length} rollouts can show`;
    const answer = await findDemos.executeWithOptions({ summary }, [input]);
    pending.decided = null;
    return answer;
  }

  async function ran(work: SearchRequest & { kind: 'rollouts' }): Promise<SearchResponse> {
    if (!limits.live) {
      const answers = await runRolloutsToEnd(job, control, work.requests, pending, describe(work));
      return { kind: 'rollouts', answers };
    }
    const live = await answeredByTraffic(job, control, work.requests, pending, describe(work));
    state = switchToUnpaired(state!, live.traffic);
    return { kind: 'rollouts', answers: live.answers };
  }

  async function answersTo(work: Exclude<SearchRequest, { kind: 'done' | 'failed' }>): Promise<SearchResponse> {
    switch (work.kind) {
      case 'rollouts':
        return ran(work);
      case 'proposals':
        return { kind: 'proposals', answers: await proposals(work) };
      case 'demos':
        return { kind: 'demos', answer: await searchedForDemos(work) };
    }
  }

  await control.run(async (): Promise<JobOutcome> => {
    if (!state) {
      const plan = await kind.prepare(job);
      limits = plan.limits;
      state = begun(plan);
    } else {
      setCurrentDetails(details(searchOf(state).view(state)));
    }
    time ??= sessionTime(limits, undefined);
    if (time) interruptWhenOver(time, control, () => outcomeOfSpentBudget('max_minutes', spender()));
    let search = searchOf(state);
    let before = search.view(state);
    for (;;) {
      await control.waitUntilRunnable();
      const work = search.next(state);
      if (work.kind === 'done') return control.completed(work.stoppedBy, limits.maxFailureRate);
      if (work.kind === 'failed') return failed(work);
      const answers = await answersTo(work);
      search = searchOf(state);
      if (work.kind === 'rollouts' && work.requests.some((request) => request.stage === 'baseline'))
        await kind.adoptBaseline?.(job);
      const applied = search.apply(state, answers);
      state = applied.state;
      const seen = search.view(applied.state);
      setCurrentDetails(details(seen));
      const candidates = changedCandidates(before, seen);
      before = seen;
      steps += 1;
      pending.decided = { step: steps, view: { ...seen, candidates }, decisions: applied.decisions };
    }
  });
}

/** The state in which a session's search begins. */
function begun(plan: SessionPlan): SessionState {
  return plan.mipro ? createMipro(plan.mipro) : createGepa(plan.gepa);
}

function failed(work: SearchRequest & { kind: 'failed' }): JobOutcome {
  return { status: 'failed', stoppedBy: 'failed', error: { code: work.code, message: work.message } };
}

function operatorView(jobId: string, view: SearchView | null) {
  return {
    generation: view?.generation ?? 0,
    totalGenerations: view?.totalGenerations ?? 0,
    bestCandidate: view?.bestCandidate == null ? null : candidateId(jobId, view.bestCandidate),
    bestReward: view?.bestReward ?? null,
    rolloutsCompleted: view?.rolloutsCompleted ?? 0,
    maxRollouts: view?.maxRollouts ?? null,
  };
}

function describe({ kind, requests }: SearchRequest & { requests: { generation: number }[] }): string {
  const [first] = requests;
  const stage = (first as RolloutRequest | undefined)?.stage;
  const what = stage ? `rollouts (${stage})` : kind;
  return `generation ${first?.generation ?? 0}: ${requests.length} ${what}`;
}

/** What is new or other than before: history carries only that. */
function changedCandidates(before: SearchView, after: SearchView): CandidateSummary[] {
  const known = new Map(before.candidates.map((one) => [one.candidate, JSON.stringify(one)]));
  return after.candidates.filter((one) => known.get(one.candidate) !== JSON.stringify(one));
}

function details(view: SearchView): string {
  const best =
    view.bestReward === null ? 'none yet' : `${view.bestReward.toFixed(3)} (candidate ${view.bestCandidate})`;
  return `generation ${view.generation} of ${view.totalGenerations}, best reward ${best}, ${view.rolloutsCompleted} rollouts`;
}
