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
import { lockOpenJob, recordLost } from '../jobs/spec.js';
import type { SearchUpdate } from '../../src/core/algorithms/progress.js';
import { logGenerations } from '../jobs/generations.js';
import { recordSearchUpdate } from '../jobs/search-update.js';

/** Rollouts that live traffic is to answer: ordinals `from` to `to` (exclusive). */
export interface ExchangeSlotsInput extends JobRef {
  requests: RequestGroup[];
  from: number;
  to: number;
  /** The search update that asked for these rollouts, recorded first. */
  update?: SearchUpdate;
}

/** `answers` null: some are missing; whichever process records the last one signals. */
export interface ExchangeSlotsResult {
  answers: PackedAnswers | null;
  traffic: Traffic | null;
  counts: OutcomeCounts;
}

export function liveActivity({ db, log }: ActivityDeps) {
  return {
    /** Publishes rollouts as slots for live traffic, and reads their answers once all have one. */
    async exchangeSlots({
      from,
      to,
      update,
      orgId,
      jobId,
      ...input
    }: ExchangeSlotsInput): Promise<ExchangeSlotsResult> {
      const job: JobRef = { orgId, jobId };
      const { generations, ...result } = await db.orgHot(orgId, async (tx) => {
        const [generations = [], row] = await Promise.all([
          update && recordSearchUpdate(tx, job, update),
          lockOpenJob(tx, job),
        ]);
        const requests = unpackRequests(input.requests);
        const [before, known] = await Promise.all([areWhole(tx, jobId, 0, from), areCandidates(tx, job, requests)]);
        if (!before || !known) throw recordLost(job);
        const [, , answers, { traffic }] = await Promise.all([
          publishSlots(tx, job, requests),
          clearWake(tx, jobId),
          readAnswers(tx, jobId, from, to),
          readTraffic(tx, jobId),
        ]);
        const counts = { succeeded: row.rollouts_succeeded, failed: row.rollouts_failed, connectFailuresInARow: 0 };
        return { answers: answers && packAnswers(answers), traffic, counts, generations };
      });
      logGenerations(log, job, generations);
      return result;
    },
  };
}
