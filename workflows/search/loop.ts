import { condition, log, setCurrentDetails } from '@temporalio/workflow';
import type { RunSearchResult, SessionLimits, SessionPlan } from '../../activities/index.js';
import { algorithmOf, extendSearch, switchToUnpaired, type SessionState } from '../../src/core/algorithms/index.js';
import { isMeasuredBaseline, SearchProgress } from '../../src/core/algorithms/progress.js';
import type { SearchRequest, SearchView } from '../../src/core/search/protocol.js';
import { catchUp, record, recordSearch, search as runSearch } from '../activities.js';
import type { JobOutcome } from '../jobs/close.js';
import { JobControl } from '../jobs/control.js';
import type { CarriedState } from '../jobs/history-limit.js';
import { PendingUpdate } from '../jobs/pending-update.js';
import type { JobInput, JobSummary } from '../messages.js';
import { answerByTraffic } from '../rollouts/live.js';
import { failWith } from '../rollouts/run.js';
import {
  interruptWhenExpired,
  limitsLeft,
  outcomeIfCostSpent,
  outcomeOfSpentBudget,
  sessionTime,
  type BudgetContext,
} from './budget.js';
import { describeProgress, statusOf, summaryOf } from './describe.js';

/** The input of a job that searches; `resume`: the state that an earlier run handed on. */
export interface SearchJobInput extends JobInput {
  resume?: {
    state: SessionState;
    limits: SessionLimits;
    control: CarriedState;
    /** The ids of a person's prompts that the state does not have yet. */
    given: string[];
    /** The number of the last step. */
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
  /** Runs after the baseline's rollouts by live traffic. */
  adoptBaseline?(job: JobInput): Promise<void>;
  /** Continues in a new run of the kind's workflow. */
  continueAsNew(input: SearchJobInput): Promise<never>;
}

/** A stopped search returns its state at once, unless its worker was killed. */
const stopTimeout = '30 seconds';

/** Runs a search: an activity answers its requests; this workflow keeps the state. */
export async function searchJob(input: SearchJobInput, definition: SearchDefinition): Promise<JobSummary> {
  const job: JobInput = { orgId: input.orgId, jobId: input.jobId };
  return new SearchJob(job, definition, input.resume).run();
}

class SearchJob {
  private search: SearchProgress | null;
  private limits: SessionLimits;
  private given: string[];
  private time: ReturnType<typeof sessionTime>;
  /** Whether the activity has a newer state, and whether it ended without returning it. */
  private isSearching = false;
  private isBehind = false;
  private readonly pending = new PendingUpdate();
  private readonly control: JobControl;
  private readonly job: JobInput;
  private readonly definition: SearchDefinition;

  constructor(job: JobInput, definition: SearchDefinition, resume: SearchJobInput['resume']) {
    this.job = job;
    this.definition = definition;
    this.search = resume ? new SearchProgress(resume.state, resume.steps) : null;
    this.limits = resume?.limits ?? { maxFailureRate: 1, maxConcurrent: 1 };
    this.given = resume?.given ?? [];
    this.time = sessionTime(this.limits, resume?.leftMs);
    this.control = new JobControl(
      job,
      {
        statusView: () => statusOf(job.jobId, this.view),
        searchView: () => this.view,
        steps: () => this.search?.steps,
        recordPending: () => this.recordPending(),
        takesSuggestion: (kind) => {
          if (!this.search || !definition.isExtendable) return false;
          return kind === 'hint' || (!this.limits.live && this.search.takesPrompt);
        },
        kept: () => this.kept(),
        outcomeOfError: (error) => outcomeIfCostSpent(error, this.budget()),
        continueAsNew: (carried) => this.continueAsNew(carried),
      },
      resume?.control,
    );
  }

  run(): Promise<JobSummary> {
    return this.control.run(async () => {
      if (this.search) setCurrentDetails(describeProgress(this.search.view));
      else this.search = this.begin(await this.definition.prepare(this.job));
      this.time ??= sessionTime(this.limits, undefined);
      if (this.time) {
        interruptWhenExpired(this.time, this.control, () => outcomeOfSpentBudget('max_minutes', this.budget()));
      }
      return this.answerAll(this.search);
    });
  }

  private get view(): SearchView | null {
    return this.search && this.search.view;
  }

  private begin({ search: settings, limits, kept }: SessionPlan): SearchProgress {
    this.limits = limits;
    if (!kept) return new SearchProgress(algorithmOf(settings).create(settings), 0);
    this.limits = limitsLeft(limits, kept.usedMs);
    this.control.counts = kept.counts;
    const search = new SearchProgress(kept.state, kept.steps);
    const before = search.view;
    const { state, decisions } = extendSearch(kept.state, settings) ?? { state: kept.state, decisions: [] };
    search.state = state;
    this.pending.set(search.update(before, decisions));
    return search;
  }

  private async answerAll(search: SearchProgress): Promise<JobOutcome> {
    for (;;) {
      await this.control.waitUntilRunnable();
      this.given.push(...this.control.takePrompts());
      const request = search.next();
      if (request.kind === 'done') return this.control.completed(request.stoppedBy, this.limits.maxFailureRate);
      if (request.kind === 'failed') {
        return { status: 'failed', stoppedBy: 'failed', error: { code: request.code, message: request.message } };
      }
      const { bestReward } = search.view;
      if (this.limits.live && request.kind === 'rollouts') await this.answerByTraffic(search, request);
      else await this.answerByActivity(search, summaryOf(request));
      setCurrentDetails(describeProgress(search.view));
      if (search.view.bestReward !== bestReward) this.control.showProgress();
    }
  }

  private async answerByActivity(search: SearchProgress, summary: string): Promise<void> {
    const { control } = this;
    const given = [...this.given];
    const result = await control.untilRest(
      control.runUntilHistoryLimit(() =>
        this.pending.recordWith((update) =>
          this.keepingResult(search, given.length, () => {
            const input = { ...this.job, state: search.state, steps: search.steps, given, ...update };
            return runSearch.executeWithOptions({ summary }, [input]);
          }),
        ),
      ),
    );
    if (result?.fault) await failWith(result.fault, control);
  }

  /** Takes over the activity's state even if the job was cancelled meanwhile. */
  private async keepingResult(
    search: SearchProgress,
    givenBefore: number,
    activity: () => Promise<RunSearchResult>,
  ): Promise<RunSearchResult> {
    this.isSearching = true;
    this.isBehind = true;
    try {
      const result = await activity();
      this.isBehind = false;
      search.state = result.state;
      search.steps = result.steps;
      this.given.splice(0, givenBefore);
      this.control.counts = result.counts ?? this.control.counts;
      return result;
    } finally {
      this.isSearching = false;
    }
  }

  private async answerByTraffic(
    search: SearchProgress,
    request: Extract<SearchRequest, { kind: 'rollouts' }>,
  ): Promise<void> {
    const { job, control, pending } = this;
    const { answers, traffic } = await answerByTraffic({ job, control, pending }, request.requests, summaryOf(request));
    const response = { kind: 'rollouts' as const, answers };
    search.state = switchToUnpaired(search.state, traffic);
    if (isMeasuredBaseline(request, response)) await this.definition.adoptBaseline?.(job);
    pending.set(search.apply(response));
  }

  /** Stops a running activity for its state, then records an update that no activity recorded. */
  private async recordPending(): Promise<void> {
    if (this.isSearching) {
      await record({ ...this.job, decision: { isEnding: true } });
      const hasStopped = await condition(() => !this.isSearching, stopTimeout);
      if (!hasStopped) log.warn('the search did not return its state');
    }
    if (this.isBehind && this.search) {
      const { state, steps } = await catchUp({ ...this.job, state: this.search.state, steps: this.search.steps });
      Object.assign(this.search, { state, steps });
      this.isBehind = false;
    }
    await this.pending.recordWith(async ({ update }) => {
      if (update) await recordSearch({ ...this.job, ...update });
    });
  }

  /** The end of the search, for an extension; undefined: it cannot be extended. */
  private kept() {
    if (!this.search || !this.definition.isExtendable || this.limits.live || this.isSearching) return undefined;
    this.given.push(...this.control.takePrompts());
    for (const id of this.given.splice(0)) this.search.give(id);
    const { state, steps } = this.search;
    const { runMs, usedMs = 0 } = this.limits;
    const spentMs = runMs === undefined || !this.time ? 0 : runMs - this.time.left;
    return { state, steps, usedMs: usedMs + spentMs };
  }

  private budget(): BudgetContext {
    const { control, limits, definition } = this;
    return { search: this.view, control, maxFailureRate: limits.maxFailureRate, advice: definition.advice };
  }

  private continueAsNew(control: CarriedState): Promise<never> {
    const { job, limits, given, time } = this;
    const { state, steps } = this.search!;
    return this.definition.continueAsNew({
      ...job,
      resume: {
        ...{ state, limits, control, given, steps },
        ...(time && { leftMs: time.left }),
      },
    });
  }
}
