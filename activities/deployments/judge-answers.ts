/** Scores the answers of a name that wait for its judge. */
import { Context } from '@temporalio/activity';
import { AnswerIds } from '../../src/kinds/deployment/store/answer-ids.js';
import { judgeMetric } from '../../src/kinds/deployment/contract/judge.js';
import { recordFeedback } from '../../src/kinds/deployment/store/feedback.js';
import {
  claimAnswers,
  delayAnswer,
  forgetAnswers,
  hasDueAnswers,
  judgeKey,
  takeAnswer,
  type ClaimedAnswer,
} from '../../src/kinds/deployment/store/judgements.js';
import {
  countDropped,
  countJudged,
  leaseJudge,
  readJudge,
  releaseJudge,
  type JudgedName,
  type JudgeFailure,
} from '../../src/kinds/deployment/store/judges.js';
import { databasePatienceMs, retryTransient } from '../../src/platform/db/patience.js';
import type { Tx } from '../../src/platform/db/db.js';
import { scorerSpec, type ScorerRequest } from '../../src/scorers/index.js';
import type { ActivityDeps } from '../deps.js';
import { isInternal } from '../errors.js';
import type { Judgement } from '../models/judge.js';
import { judgeAnswer, type Judging } from './judge-answer.js';
import { DaySpent, JudgeBudget, type Store } from './judge-budget.js';

/** Answers that are judged at once. */
const concurrency = 4;
/** A slice takes no further answer after this time, and ends after this long without one. */
const sliceMs = 60_000;
const idleMs = 5_000;
const pollMs = 500;
/** The lease, and how often it is renewed; without its holder nobody else works so long. */
const leaseS = 30;
const renewMs = 5_000;
/** Seconds before the next try; after the last one an answer has failed. */
const waits = [30, 120, 600, 1_800];
const maxTries = waits.length + 1;
const lost: Judgement = {
  ok: false,
  code: 'worker_lost',
  message: `Workers ended ${maxTries} times while they judged the answer.`,
  infrastructure: false,
};
/** Repeating them costs again and gives the same. */
const finalCodes = new Set(['judgement_unusable', 'cost_not_bounded']);

/** `isOver`: nothing is due, or another worker does it. */
export interface JudgedSlice {
  isOver: boolean;
}

export function judgeActivities(deps: ActivityDeps) {
  const answerIds = new AnswerIds(deps.secretKey);
  return {
    /** Takes up to a minute. A repetition goes on with what still waits. */
    async judgeAnswers(judge: JudgedName): Promise<JudgedSlice> {
      const context = Context.current();
      const store: Store = (work) =>
        retryTransient(() => deps.db.org(judge.orgId, work), {
          patienceMs: databasePatienceMs,
          onRetry: (err) => deps.log.warn({ err, deployment: judge.name }, 'judgement not stored; retrying'),
        });
      const token = await store((tx) => leaseJudge(tx, judge.name, null, leaseS));
      if (token === null) return { isOver: true };
      const slice = new Slice({ deps, judge, store, budget: new JudgeBudget(judge, store) }, answerIds);
      const renew = setInterval(() => {
        context.heartbeat({ in_hand: slice.inHand });
        store((tx) => leaseJudge(tx, judge.name, token, leaseS)).then(
          (held) => held === null && slice.abort(new Error('another worker has the lease')),
          (err: unknown) => deps.log.warn({ err, deployment: judge.name }, 'lease of a judge not renewed'),
        );
      }, renewMs);
      const stop = () => slice.stop();
      deps.draining.addEventListener('abort', stop);
      context.cancelled.catch((reason: unknown) => {
        // Answers in hand are paid for; only the end of a worker's grace period cuts them off.
        if (deps.draining.aborted) slice.abort(reason);
        slice.stop();
      });
      try {
        await slice.run();
        return { isOver: !(await store((tx) => hasDueAnswers(tx, judge.name))) };
      } finally {
        clearInterval(renew);
        deps.draining.removeEventListener('abort', stop);
        await store((tx) => releaseJudge(tx, judge.name, token));
      }
    },
  };
}

/** A minute of judging. */
class Slice {
  private readonly judging: Judging;
  private readonly answerIds: AnswerIds;
  private readonly inFlight = new Map<string, Promise<void>>();
  private readonly aborter = new AbortController();
  private isStopped: boolean;
  private failure: { error: unknown } | null = null;
  private wake: () => void = () => undefined;

  constructor(judging: Judging, answerIds: AnswerIds) {
    this.judging = judging;
    this.answerIds = answerIds;
    this.isStopped = judging.deps.draining.aborted;
  }

  get inHand(): number {
    return this.inFlight.size;
  }

  /** Takes no further answer. */
  stop(): void {
    this.isStopped = true;
    this.wake();
  }

  /** Gives up the answers in hand. */
  abort(reason: unknown): void {
    this.aborter.abort(reason);
    this.stop();
  }

  /** Rejects if an answer cannot be recorded. */
  async run(): Promise<void> {
    const { store, judge } = this.judging;
    const end = performance.now() + sliceMs;
    let idleSince = performance.now();
    while (!this.isStopped && performance.now() < end) {
      const limit = concurrency - this.inFlight.size;
      const inHand = [...this.inFlight.keys()];
      const { scorer, claimed } = await store(async (tx) => {
        const scorer = await readJudge(tx, judge.name);
        if (scorer) return { scorer, claimed: limit > 0 ? await claimAnswers(tx, judge.name, { limit, inHand }) : [] };
        await this.dropAll(tx);
        return { scorer, claimed: [] };
      });
      if (!scorer) break;
      for (const one of claimed) this.begin(scorer, one);
      if (this.inFlight.size > 0) idleSince = performance.now();
      else if (performance.now() - idleSince >= idleMs) break;
      await this.news();
    }
    await Promise.allSettled(this.inFlight.values());
    if (this.failure) throw this.failure.error;
  }

  /** Waits until an answer is done, or for a moment while there is room for further ones. */
  private async news(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve;
      if (this.inFlight.size < concurrency) timer = setTimeout(resolve, pollMs);
    });
    await Promise.race([woken, ...this.inFlight.values()]).catch(() => undefined);
    clearTimeout(timer);
  }

  private begin(request: ScorerRequest, claimed: ClaimedAnswer): void {
    const done = this.work(request, claimed).finally(() => this.inFlight.delete(claimed.answerId));
    done.catch((error: unknown) => {
      this.failure ??= { error };
      this.stop();
    });
    this.inFlight.set(claimed.answerId, done);
  }

  private async work(request: ScorerRequest, claimed: ClaimedAnswer): Promise<void> {
    try {
      const judgement = claimed.tries > maxTries ? lost : await this.judge(request, claimed);
      await this.record(claimed, judgement);
    } catch (error) {
      if (this.aborter.signal.aborted) return;
      if (!(error instanceof DaySpent)) throw error;
      // The others in hand have their dollars.
      const others = [...this.inFlight.keys()].filter((id) => id !== claimed.answerId);
      await this.judging.store((tx) => this.dropAll(tx, others));
    }
  }

  private async judge(request: ScorerRequest, claimed: ClaimedAnswer): Promise<Judgement> {
    try {
      // Its judge models name their providers.
      return await judgeAnswer(this.judging, scorerSpec(request, ''), claimed, this.aborter.signal);
    } catch (error) {
      if (!isInternal(error)) throw error;
      this.judging.deps.log.error({ err: error, answer_id: claimed.answerId }, 'internal error in a judge');
      return {
        ok: false,
        code: 'internal',
        message: 'Internal error; see the log of the worker.',
        infrastructure: false,
      };
    }
  }

  private async record(claimed: ClaimedAnswer, judgement: Judgement): Promise<void> {
    const { store, judge, deps } = this.judging;
    const outcome = await store((tx) =>
      judgement.ok ? this.score(tx, claimed, judgement.verification) : this.fail(tx, claimed, judgement),
    );
    const { orgId: organization, name: deployment } = judge;
    if (outcome === 'judged' && judgement.ok)
      deps.metrics.deploymentJudged({ organization, deployment, score: judgement.verification.reward });
    if (outcome === 'failed') deps.metrics.deploymentJudged({ organization, deployment, score: null });
  }

  /** Records the score and deletes the texts. */
  private async score(
    tx: Tx,
    claimed: ClaimedAnswer,
    { reward, feedback }: { reward: number; feedback: string },
  ): Promise<'judged' | 'gone'> {
    const { judge } = this.judging;
    const { answerId, deploymentId } = claimed;
    if (!(await takeAnswer(tx, claimed))) return 'gone';
    const { at = new Date(), unit = '' } = this.answerIds.read(answerId) ?? {};
    const about = { answerId, answered: { deploymentId, at, unit } };
    const subject = { ...judge, deploymentId: null, about, unitOf: () => (unit === '' ? null : unit) };
    const content = { metrics: { [judgeMetric]: reward }, ...(feedback !== '' && { comment: feedback }) };
    const { is } = await recordFeedback(tx, subject, { key: judgeKey, content });
    // There is no room for a further report of the answer, or for a further metric.
    if (is === 'full') await countDropped(tx, judge.orgId, judge.name, 1);
    if (is !== 'recorded') return 'gone';
    await countJudged(tx, judge.name, { judged: 1 });
    return 'judged';
  }

  /** Lets the answer wait for its next try, if it has one. */
  private async fail(
    tx: Tx,
    claimed: ClaimedAnswer,
    { code, message, infrastructure }: JudgeFailure & { infrastructure: boolean },
  ): Promise<'failed' | 'gone' | 'waits'> {
    const { name } = this.judging.judge;
    const failure = { code, message };
    const wait = infrastructure && !finalCodes.has(code) ? waits[claimed.tries - 1] : undefined;
    if (wait !== undefined) {
      await delayAnswer(tx, claimed, wait);
      await countJudged(tx, name, { failure });
      return 'waits';
    }
    if (!(await takeAnswer(tx, claimed))) return 'gone';
    await countJudged(tx, name, { failed: 1, failure });
    return 'failed';
  }

  private async dropAll(tx: Tx, except: readonly string[] = []): Promise<void> {
    const { orgId, name } = this.judging.judge;
    await countDropped(tx, orgId, name, await forgetAnswers(tx, name, except));
  }
}
