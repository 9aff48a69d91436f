import type { z } from 'zod';
import type { decisionSchema } from '../../contracts/candidates/lineage.js';
import { groupBy } from '../../util/group.js';
import { exceeds, normalizeReward, sum } from '../../core/math/rewards.js';
import { countedRollouts, settledRollouts } from '../../core/search/settled.js';
import { isTerminal, type Status } from '../../core/jobs/status.js';
import type { Tx } from '../../storage/db/db.js';
import { jobKinds, type JobKind } from '../../core/jobs/kinds.js';
import {
  readOutcomes,
  readOutcomesOf,
  readTrials,
  type Outcome,
  type TrialRow,
} from '../../storage/candidates/lineage.js';
import { readAcceptanceEvents, type AcceptanceEvent } from '../../storage/jobs/event-reads.js';
import type { CandidateRow } from '../../storage/candidates/reads.js';

type Decision = z.output<typeof decisionSchema>;
type Sums = Pick<Decision, 'parent_sum' | 'child_sum' | 'minibatch_size'>;

/** A seed on which a candidate was tried, and its rollouts there that count, or are to: none was asked again. */
export interface Tried {
  /** null: a call of live traffic that named none, which is one rollout. */
  seed: number | null;
  rollouts: Outcome[];
}

/** What was decided of a candidate, and on what. */
export interface Judged {
  decision: Decision;
  tried: Tried[];
}

type Unit = (typeof jobKinds)[JobKind]['unit'];

/**
 * What was decided of these candidates of a job, by id, read from the event as it was decided. A session that began
 * under the earlier search has no event of an acceptance: who is accepted goes on to its evaluation, and its sums are those
 * of the stored outcomes.
 */
export async function readJudged(
  tx: Tx,
  { jobId, kind, status }: { jobId: string; kind: JobKind; status: Status },
  rows: readonly CandidateRow[],
): Promise<Map<string, Judged>> {
  const { unit } = jobKinds[kind];
  const children = rows.filter(({ leverVersion }) => leverVersion > 0);
  const ids = children.map(({ id }) => id);
  const [trials, gates, verdicts] = await Promise.all([
    readTrials(tx, jobId, ids),
    readOutcomesOf(tx, jobId, ids, ['gate']),
    readAcceptanceEvents(
      tx,
      jobId,
      children.map(({ leverVersion }) => leverVersion),
    ),
  ]);
  const trialOf = new Map(trials.map((trial) => [trial.id, trial]));
  const gatesOf = groupBy(gates, ({ candidateId }) => candidateId);
  const wentOn = children.filter(({ id, leverVersion, status: own }) => {
    return !verdicts.has(leverVersion) && (own === 'evaluated' || trialOf.get(id)?.evaluating === true);
  });
  const sums = await readSums(tx, jobId, wentOn, trialOf, gatesOf);
  return new Map(
    rows.map((row) => {
      if (row.leverVersion === 0) return [row.id, { decision: ofBaseline(row, unit), tried: [] }];
      // As a parent it runs again in the tests of later generations.
      const own = (gatesOf.get(row.id) ?? []).filter(({ generation }) => generation === row.generation);
      const tried = [...groupBy(own, ({ seed, ordinal }) => seed ?? `live:${ordinal}`).values()].map((all) => ({
        seed: all[0]!.seed,
        rollouts: countedRollouts(all),
      }));
      const merged = trialOf.get(row.id)?.merged ?? [];
      const verdict = verdicts.get(row.leverVersion);
      const compared = sums.get(row.id);
      const decision = verdict
        ? decided(verdict, row, { size: tried.length, isMerge: merged.length > 0, unit })
        : compared
          ? accepted(row, compared, { estimate: null, reason: 'better', unit })
          : pending(status);
      return [row.id, { decision: { ...decision, message: decision.message + combined(merged) }, tried }];
    }),
  );
}

/** A finished rollout's reward as it is counted: a failed one's is 0. */
export function countedReward(outcome: Outcome | null): number | null {
  return outcome?.finished ? normalizeReward(outcome.reward ?? 0) : null;
}

/** Of candidates without an event: the sums over the rollouts of the parent that the reflection was shown, and over the same seeds. */
async function readSums(
  tx: Tx,
  jobId: string,
  rows: readonly CandidateRow[],
  trialOf: ReadonlyMap<string, TrialRow>,
  gatesOf: ReadonlyMap<string, Outcome[]>,
): Promise<Map<string, Sums>> {
  const ordinals = new Set(rows.flatMap(({ id }) => trialOf.get(id)?.ordinals ?? []));
  const shown = await readOutcomes(tx, jobId, [...ordinals]);
  const byOrdinal = new Map(shown.map((one) => [one.ordinal, one]));
  return new Map(
    rows.map(({ id }) => {
      const parents = (trialOf.get(id)?.ordinals ?? []).flatMap((ordinal) => byOrdinal.get(ordinal) ?? []);
      const seeds = parents.flatMap(({ seed }) => seed ?? []);
      const children = settledRollouts(seeds, gatesOf.get(id) ?? []);
      return [id, { parent_sum: sumOf(parents), child_sum: sumOf(children), minibatch_size: parents.length || null }];
    }),
  );
}

function sumOf(outcomes: readonly (Outcome | null)[]): number | null {
  const rewards = outcomes.map(countedReward).filter((reward) => reward !== null);
  return rewards.length === 0 || rewards.length < outcomes.length ? null : sum(rewards);
}

function ofBaseline(row: CandidateRow, unit: Unit): Decision {
  const message = 'Accepted: it is the baseline, with which every search begins.';
  return { ...unknown, outcome: 'accepted', reason: 'baseline', message: message + promise(row, null, unit) };
}

function decided(
  event: AcceptanceEvent,
  row: CandidateRow,
  { size, isMerge, unit }: { size: number; isMerge: boolean; unit: Unit },
): Decision {
  const { parent_sum, child_sum } = event.data;
  const sums = { parent_sum, child_sum, minibatch_size: size === 0 ? null : size };
  if (event.type === 'candidate_accepted') {
    const { estimated_reward: estimate, reason = isMerge ? 'combined' : 'better' } = event.data;
    return accepted(row, sums, { estimate, reason, unit });
  }
  const { message } = event;
  const { reason } = event.data;
  return { ...rejected(reason, sums, message, unit), outcome: 'rejected', reason, estimated_reward: null };
}

function accepted(
  row: CandidateRow,
  sums: Sums,
  { estimate, reason, unit }: { estimate: number | null; reason: string; unit: Unit },
): Decision {
  const words = inWords(sums, unit) ?? 'it is better than its parent';
  const cost = reason === 'cheaper' ? ', and it costs less than its parent' : '';
  const message = `Accepted: ${words}${cost}.${promise(row, estimate, unit)}`;
  return { outcome: 'accepted', reason, ...sums, estimated_reward: estimate, message };
}

function rejected(reason: string | null, sums: Sums, message: string, unit: Unit): Sums & { message: string } {
  const { parent_sum: expected, child_sum: scored } = sums;
  const isMore = expected !== null && scored !== null && exceeds(scored, expected);
  const words = inWords(sums, unit);
  if (reason === 'overtaken') {
    return {
      ...sums,
      message: `Rejected: ${words === null ? '' : `${words}, but `}another one was accepted before it.`,
    };
  }
  if (reason === 'budget' && !isMore) {
    // A test that was broken off has no sums.
    return {
      ...sums,
      parent_sum: null,
      child_sum: null,
      message: 'Rejected: max_rollouts leaves no room to go on with its test.',
    };
  }
  if (words === null) return { ...sums, message };
  if (reason === 'budget') {
    return { ...sums, message: `Rejected: ${words}, but max_rollouts leaves no room for its evaluation.` };
  }
  const noise = isMore ? ', which does not stand out of the noise' : '';
  return { ...sums, message: `Rejected: ${words}${noise}.` };
}

function pending(status: Status): Decision {
  const message = isTerminal(status)
    ? 'Not decided: the search ended before.'
    : 'Not decided yet: its rollouts are not all answered.';
  return { ...unknown, outcome: 'pending', reason: null, message };
}

const unknown = { parent_sum: null, child_sum: null, minibatch_size: null, estimated_reward: null };

function inWords({ parent_sum: expected, child_sum: scored, minibatch_size: size }: Sums, unit: Unit): string | null {
  if (expected === null || scored === null) return null;
  const where = size === null ? 'in its test' : `on the ${size === 1 ? unit : `${size} ${unit}s`} it was tried on`;
  return `${where} it scored ${short(scored)} where ${short(expected)} was expected`;
}

function promise({ reward }: CandidateRow, estimate: number | null, unit: Unit): string {
  if (reward !== null) return ` Its mean reward on the evaluation ${unit}s is ${short(reward)}.`;
  return estimate === null ? '' : ` About ${short(estimate)} is expected of it on the evaluation ${unit}s.`;
}

function combined(merged: readonly number[]): string {
  if (merged.length === 0) return '';
  return ` It combines candidates ${merged.slice(0, -1).join(', ')} and ${merged.at(-1)}.`;
}

/** Rewards are read by people here: 0.30000000000000004 says nothing more than 0.3. */
function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}
