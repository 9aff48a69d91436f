import { check } from '../harness/rules/checker.js';
import type { Evidence } from '../harness/evidence/evidence.js';
import { allKinds, soak } from './all.js';
import { tallyOf, type Tally } from './counts.js';
import { containerKind, modelKind } from './hostile.js';
import { killKinds } from './kills.js';
import { operatorKind } from './operator.js';
import { outsideKind } from './outside.js';
import { report, type Round } from '../harness/round.js';
import { servedKinds } from './served.js';
import { statesKind } from './states.js';
import { sseKind } from './streams.js';

/** Result of a round: `said` is its summary line. */
interface RoundResult {
  said: string;
  violations: string[];
  /** Of a round that counts its faults. */
  tally?: Tally;
}

/** A kind of chaos. A round with a broken promise keeps its evidence in its folder. */
export interface Kind {
  name: string;
  play(round: Round): Promise<RoundResult>;
}

/** A kind that judges its rounds by their evidence. */
export interface Judged {
  name: string;
  play(round: Round): Promise<Evidence>;
}

function judged({ name, play }: Judged): Kind {
  return {
    name,
    async play(round) {
      const evidence = await play(round);
      const violations = check(evidence);
      if (violations.length > 0) report(round, evidence, violations);
      const counted = evidence.strikes.length > 0;
      return { said: tell(evidence), violations, ...(counted && { tally: tallyOf(evidence) }) };
    },
  };
}

function tell({ jobs, kills, asks }: Evidence): string {
  const rows = jobs.flatMap((job) => job.rollouts);
  const count = (all: { status: string }[], status: string) => all.filter((one) => one.status === status).length;
  const resent = rows.reduce((sum, row) => sum + row.resent, 0);
  const cuts = jobs.flatMap((job) => job.streams).reduce((sum, stream) => sum + stream.cuts, 0);
  return [
    [...new Set(jobs.map(({ status }) => status))].map((status) => `${count(jobs, status)} ${status}`).join('+'),
    `${rows.length} rollouts (${count(rows, 'failed')} failed, ${resent} re-sent)`,
    `${kills.length} kills`,
    `${cuts} cuts`,
    ...(asks.length > 0 ? [`${asks.length} asked`] : []),
  ].join(', ');
}

/** Without faults, for `npm run soak`. */
export const soakKind = judged(soak);

/** All kinds, in execution order. */
export const kinds: readonly Kind[] = [
  ...[...killKinds, sseKind, outsideKind, operatorKind, containerKind, modelKind, ...servedKinds, ...allKinds].map(
    judged,
  ),
  statesKind,
  soakKind,
];
