/** What the meter has counted and not written yet. */
import {
  keptFailures,
  writeCounters,
  type DeploymentCounter,
  type EpisodeAnswer,
  type Failure,
  type SpendCounter,
} from '../../../kinds/deployment/store/counters.js';
import { insertRequests, type LoggedRequest } from '../../../kinds/deployment/store/logged-requests.js';
import { enqueueAnswers, type AnswerToJudge } from '../../../kinds/deployment/store/judgements.js';
import { writeUses, type UseCounter } from '../../../kinds/deployment/store/uses.js';
import type { Db } from '../../../platform/db/db.js';
import { PendingTexts } from './pending-texts.js';

export interface Counter extends DeploymentCounter {
  /** Requests already counted in the database. */
  written: number;
}

/** Pending counts of an organization; one write at a time, later counts go with the next. */
export class PendingCounts {
  readonly orgId: string;
  readonly counters = new Set<Counter>();
  readonly spend = new Set<SpendCounter>();
  /** For limits. */
  readonly uses = new Set<UseCounter>();
  readonly episodes = new Set<EpisodeAnswer>();
  /** The latest of each deployment. */
  readonly failures = new Map<string, Failure[]>();
  private readonly texts = new PendingTexts<LoggedRequest>();
  private readonly toJudge = new PendingTexts<AnswerToJudge>();
  /** Called when the counts of their request are in the database. */
  readonly waiting = new Set<() => void>();
  writing: Promise<void> | null = null;

  constructor(orgId: string) {
    this.orgId = orgId;
  }

  addFailure(failure: Failure): void {
    const earlier = this.failures.get(failure.deploymentId) ?? [];
    this.failures.set(failure.deploymentId, [...earlier, failure].slice(-keptFailures));
  }

  /** Returns false if too much waits already: then the texts are not kept. */
  addTexts(texts: LoggedRequest): boolean {
    return this.texts.add(texts);
  }

  /** Without room it is counted as dropped. */
  addToJudge(answer: AnswerToJudge): void {
    if (!this.toJudge.add(answer)) this.toJudge.add({ ...answer, request: null, answer: null });
  }

  get isEmpty(): boolean {
    return this.counters.size === 0 && this.texts.size === 0 && this.toJudge.size === 0;
  }

  /** Writes what is pending, in one transaction. */
  async write(db: Pick<Db, 'orgTogether'>): Promise<void> {
    const written = await db.orgTogether(this.orgId, async (tx) => {
      const taken = [...this.counters].map((counter) => ({ counter, requests: counter.requests }));
      const spent = [...this.spend].map((counter) => ({ counter, costUsd: counter.costUsd }));
      const used = [...this.uses].map((counter) => ({ counter, state: { ...counter } }));
      const [episodes, failures] = [[...this.episodes], [...this.failures]];
      const counts = { counters: [...this.counters], spend: [...this.spend], episodes };
      const texts = this.texts.next();
      const toJudge = this.toJudge.next();
      // A request is written when its texts are, too.
      const isAll = texts.length === this.texts.size && toJudge.length === this.toJudge.size;
      const waiting = isAll ? [...this.waiting] : [];
      await writeCounters(tx, this.orgId, { ...counts, failures: failures.flatMap(([, latest]) => latest) });
      const states = used.map(({ state }) => state);
      if (states.length > 0) await writeUses(tx, this.orgId, states);
      if (texts.length > 0) await insertRequests(tx, this.orgId, texts);
      if (toJudge.length > 0) await enqueueAnswers(tx, this.orgId, toJudge);
      return { taken, spent, used, episodes, failures, texts, toJudge, waiting };
    });
    const { taken, spent, used, episodes, failures, texts, toJudge, waiting } = written;
    for (const { counter, costUsd } of spent) if (counter.costUsd === costUsd) this.spend.delete(counter);
    for (const { counter, state } of used)
      if (counter.tokens === state.tokens && counter.usd === state.usd) this.uses.delete(counter);
    for (const answer of episodes) this.episodes.delete(answer);
    this.texts.remove(texts);
    this.toJudge.remove(toJudge);
    // A later failure is in another list, and a repeated one changes nothing.
    for (const [id, latest] of failures) if (this.failures.get(id) === latest) this.failures.delete(id);
    for (const { counter, requests } of taken) {
      counter.written = requests;
      if (counter.requests === requests) this.counters.delete(counter);
    }
    for (const done of waiting) done();
  }
}
