import {
  packAnswers,
  unpackRequests,
  type PackedAnswers,
  type RequestGroup,
} from '../../src/core/jobs/rollout-packing.js';
import type { OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { areWhole, readAnswers } from '../../src/storage/rollouts/rollouts.js';
import { areCandidates, clearWake, publishSlots, readTraffic, type Traffic } from '../../src/storage/rollouts/slots.js';
import type { ActivityDeps } from '../deps.js';
import { classifyErrors } from '../errors.js';
import { lockOpenJob, recordLost } from '../jobs/spec.js';
import { recordSearchUpdate, type SearchUpdate } from '../jobs/lifecycle.js';

/** What a session wants of live traffic: the requests `from` to `to` (exclusive). */
export interface LiveInput extends JobRef {
  plan: RequestGroup[];
  from: number;
  to: number;
  /** What the search decided when it asked for these, recorded first. */
  decided?: SearchUpdate | null;
}

/** `answers` null: not all of them are answered yet; whoever takes the last reward tells the workflow. */
export interface LiveReport {
  answers: PackedAnswers | null;
  traffic: Traffic | null;
  counts: OutcomeCounts;
}

/** Has live traffic answer what a session asks for. */
export function liveActivity({ db }: ActivityDeps) {
  return {
    /** Publishes the slots that are not there yet and takes the answers once all of them have come. */
    exchangeSlots: ({ plan, from, to, decided, orgId, jobId }: LiveInput): Promise<LiveReport> =>
      classifyErrors(() => {
        const job: JobRef = { orgId, jobId };
        return db.org(orgId, async (tx) => {
          const [, row] = await Promise.all([decided && recordSearchUpdate(tx, job, decided), lockOpenJob(tx, job)]);
          const requests = unpackRequests(plan);
          const [before, known] = await Promise.all([areWhole(tx, jobId, 0, from), areCandidates(tx, job, requests)]);
          if (!before || !known) throw recordLost(job);
          const [, , answers, { traffic }] = await Promise.all([
            publishSlots(tx, job, requests),
            clearWake(tx, jobId),
            readAnswers(tx, jobId, from, to),
            readTraffic(tx, jobId),
          ]);
          const counts = { succeeded: row.rollouts_succeeded, failed: row.rollouts_failed, connectFailuresInARow: 0 };
          return { answers: answers && packAnswers(answers), traffic, counts };
        });
      }),
  };
}
