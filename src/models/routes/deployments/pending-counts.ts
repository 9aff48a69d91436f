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
import { writeUses, type UseCounter } from '../../../kinds/deployment/store/uses.js';
import type { Db } from '../../../platform/db/db.js';

export interface Counter extends DeploymentCounter {
  /** Requests already counted in the database. */
  written: number;
}

/** Bytes of texts that wait in a process for the database, and that one statement writes. */
const maxTextBytes = 64 * 1024 * 1024;
const textBytesAtOnce = 8 * 1024 * 1024;

const bytesOf = ({ request, answer }: LoggedRequest) => (request?.length ?? 0) + (answer?.length ?? 0);

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
  private readonly texts = new Set<LoggedRequest>();
  private textBytes = 0;
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
    if (this.textBytes + bytesOf(texts) > maxTextBytes) return false;
    this.texts.add(texts);
    this.textBytes += bytesOf(texts);
    return true;
  }

  get isEmpty(): boolean {
    return this.counters.size === 0 && this.texts.size === 0;
  }

  /** Writes what is pending, in one transaction. */
  async write(db: Pick<Db, 'orgTogether'>): Promise<void> {
    const { taken, spent, used, episodes, failures, texts, waiting } = await db.orgTogether(this.orgId, async (tx) => {
      const taken = [...this.counters].map((counter) => ({ counter, requests: counter.requests }));
      const spent = [...this.spend].map((counter) => ({ counter, costUsd: counter.costUsd }));
      const used = [...this.uses].map((counter) => ({ counter, state: { ...counter } }));
      const [episodes, failures] = [[...this.episodes], [...this.failures]];
      const counts = { counters: [...this.counters], spend: [...this.spend], episodes };
      const texts = this.nextTexts();
      // A request is written when its texts are, too.
      const waiting = texts.length === this.texts.size ? [...this.waiting] : [];
      await writeCounters(tx, this.orgId, { ...counts, failures: failures.flatMap(([, latest]) => latest) });
      const states = used.map(({ state }) => state);
      if (states.length > 0) await writeUses(tx, this.orgId, states);
      if (texts.length > 0) await insertRequests(tx, this.orgId, texts);
      return { taken, spent, used, episodes, failures, texts, waiting };
    });
    for (const { counter, costUsd } of spent) if (counter.costUsd === costUsd) this.spend.delete(counter);
    for (const { counter, state } of used)
      if (counter.tokens === state.tokens && counter.usd === state.usd) this.uses.delete(counter);
    for (const answer of episodes) this.episodes.delete(answer);
    for (const one of texts) if (this.texts.delete(one)) this.textBytes -= bytesOf(one);
    // A later failure is in another list, and a repeated one changes nothing.
    for (const [id, latest] of failures) if (this.failures.get(id) === latest) this.failures.delete(id);
    for (const { counter, requests } of taken) {
      counter.written = requests;
      if (counter.requests === requests) this.counters.delete(counter);
    }
    for (const done of waiting) done();
  }

  /** The first texts, one at least. */
  private nextTexts(): LoggedRequest[] {
    const next: LoggedRequest[] = [];
    let left = textBytesAtOnce;
    for (const one of this.texts) {
      left -= bytesOf(one);
      if (left < 0 && next.length > 0) break;
      next.push(one);
    }
    return next;
  }
}
