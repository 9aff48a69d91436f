import { setCurrentDetails } from '@temporalio/workflow';
import type { SessionLimits, SessionPlan } from '../../activities/index.js';
import {
  algorithmOf,
  extendSearch,
  switchToUnpaired,
  searchOf,
  type SessionState,
} from '../../src/core/algorithms/index.js';
import type { ProposalAnswer, SearchRequest, SearchResponse, SearchView } from '../../src/core/search/protocol.js';
import { recordSearch } from '../activities.js';
import type { JobOutcome } from '../jobs/close.js';
import { JobControl } from '../jobs/control.js';
import type { CarriedState } from '../jobs/history-limit.js';
import { PendingUpdate } from '../jobs/pending-update.js';
import type { JobInput } from '../messages.js';
import { answerRequest, type SearchContext } from './answer.js';
import {
  interruptWhenExpired,
  limitsLeft,
  outcomeIfCostSpent,
  outcomeOfSpentBudget,
  sessionTime,
  type BudgetContext,
} from './budget.js';
import { changedCandidates, describeProgress, statusOf } from './describe.js';

/** The input of a job that searches; `resume`: the state that an earlier run handed on. */
export interface SearchInput extends JobInput {
  resume?: {
    state: SessionState;
    limits: SessionLimits;
    control: CarriedState;
    /** Answers to the first of the proposals that `state` asks for. */
    proposed: ProposalAnswer[];
    /** The id of the hint in the proposer's prompts. */
    hint?: string;
    /** How many responses were applied. */
    steps: number;
    /** The rest of `max_minutes`. */
    leftMs?: number;
  };
}

/** The differences between kinds of job that search. */
export interface SearchDefinition {
  /** How the user can make the baseline cheaper, as in "Raise the budget, or ...". */
  advice: string;
  prepare(job: JobInput): Promise<SessionPlan>;
  /** Whether an ended job can go on with larger limits. */
  isExtendable?: boolean;
  /** Runs after the baseline's rollouts. */
  adoptBaseline?(job: JobInput): Promise<void>;
  /** Continues in a new run of the kind's workflow. */
  continueAsNew(input: SearchInput): Promise<never>;
}

/** Whether a rollout of the baseline succeeded; a failed one may not have shown its prompt. */
function isMeasuredBaseline(request: SearchRequest, response: SearchResponse): boolean {
  if (request.kind !== 'rollouts' || response.kind !== 'rollouts') return false;
  const isBaseline = request.requests.some(({ stage }) => stage === 'baseline');
  return isBaseline && response.answers.some(({ reward }) => reward !== null);
}

/** Runs a search: answers each request, applies the response, records the update. */
export async function searchJob(input: SearchInput, definition: SearchDefinition): Promise<void> {
  const job: JobInput = { orgId: input.orgId, jobId: input.jobId };
  const { resume } = input;
  let state = resume?.state ?? null;
  let steps = resume?.steps ?? 0;
  const pending = new PendingUpdate();
  // A state does not change, so its view is computed once, however often it is queried.
  let lastView: { of: SessionState; view: SearchView } | null = null;
  const viewOf = (of: SessionState): SearchView => {
    if (lastView?.of !== of) lastView = { of, view: searchOf(of).view(of) };
    return lastView.view;
  };
  const view = (): SearchView | null => state && viewOf(state);
  const control: JobControl = new JobControl(
    job,
    {
      statusView: () => statusOf(job.jobId, view()),
      searchView: view,
      recordPending: () =>
        pending.recordWith(async ({ update }) => {
          if (update) await recordSearch({ ...job, ...update });
        }),
      takesSuggestion: (kind) => {
        if (!state || !definition.isExtendable) return false;
        return kind === 'hint' || (!context.limits.live && searchOf(state).give(state, '') !== null);
      },
      kept: () => {
        if (!state || !definition.isExtendable || context.limits.live) return undefined;
        state = takeSuggestions(state);
        const { runMs, usedMs = 0 } = context.limits;
        const spentMs = runMs === undefined || !time ? 0 : runMs - time.left;
        const { proposed, hint } = context;
        return { state, proposed, steps, usedMs: usedMs + spentMs, ...(hint !== undefined && { hint }) };
      },
      outcomeOfError: (error) => outcomeIfCostSpent(error, budget()),
      continueAsNew: (carried) => {
        const { limits, proposed, hint } = context;
        const left = time && { leftMs: time.left };
        return definition.continueAsNew({
          ...job,
          resume: {
            state: state!,
            limits,
            control: carried,
            proposed,
            steps,
            ...left,
            ...(hint !== undefined && { hint }),
          },
        });
      },
    },
    resume?.control,
  );
  const context: SearchContext = {
    job,
    control,
    pending,
    limits: resume?.limits ?? { maxFailureRate: 1, maxConcurrent: 1 },
    proposed: resume?.proposed ?? [],
    hint: resume?.hint,
  };
  let time = sessionTime(context.limits, resume?.leftMs);
  const budget = (): BudgetContext => ({
    search: view(),
    control,
    maxFailureRate: context.limits.maxFailureRate,
    advice: definition.advice,
  });

  const takeSuggestions = (from: SessionState): SessionState => {
    let after = from;
    for (const { kind, id } of control.takeSuggestions()) {
      if (kind === 'hint') context.hint = id;
      else after = searchOf(after).give(after, id) ?? after;
    }
    return after;
  };
  const begin = ({ search, limits, kept }: SessionPlan): SessionState => {
    context.limits = limits;
    if (!kept) return algorithmOf(search).create(search);
    context.limits = limitsLeft(limits, kept.usedMs);
    context.proposed = kept.proposed;
    context.hint = kept.hint;
    control.counts = kept.counts;
    const { state: extended, decisions } = extendSearch(kept.state, search) ?? { state: kept.state, decisions: [] };
    steps = kept.steps + 1;
    const view = viewOf(extended);
    const candidates = changedCandidates(viewOf(kept.state), view);
    pending.set({ step: steps, view: { ...view, candidates }, decisions });
    return extended;
  };

  await control.run(async (): Promise<JobOutcome> => {
    if (!state) {
      state = begin(await definition.prepare(job));
    } else {
      setCurrentDetails(describeProgress(viewOf(state)));
    }
    time ??= sessionTime(context.limits, undefined);
    if (time) interruptWhenExpired(time, control, () => outcomeOfSpentBudget('max_minutes', budget()));
    let before = viewOf(state);
    for (;;) {
      await control.waitUntilRunnable();
      state = takeSuggestions(state);
      const request = searchOf(state).next(state);
      if (request.kind === 'done') return control.completed(request.stoppedBy, context.limits.maxFailureRate);
      if (request.kind === 'failed') {
        return { status: 'failed', stoppedBy: 'failed', error: { code: request.code, message: request.message } };
      }
      const { response, traffic } = await answerRequest(context, request);
      if (traffic !== undefined) state = switchToUnpaired(state, traffic);
      if (isMeasuredBaseline(request, response)) {
        await definition.adoptBaseline?.(job);
      }
      const applied = searchOf(state).apply(takeSuggestions(state), response);
      state = applied.state;
      const after = viewOf(state);
      setCurrentDetails(describeProgress(after));
      if (after.bestReward !== before.bestReward) control.showProgress();
      steps += 1;
      const candidates = changedCandidates(before, after);
      pending.set({ step: steps, view: { ...after, candidates }, decisions: applied.decisions });
      before = after;
    }
  });
}
