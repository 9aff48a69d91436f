/**
 * The next step of a checkup, from its record: evaluate the live prompt on its rows and on recent
 * requests, search for a better one if asked for, compare the winner with the live prompt.
 */
import { changedSeeds } from '../math/repeated-pairs.js';
import {
  alarmLevel,
  checkRows,
  checkTraffic,
  judgeImprovement,
  type Checked,
  type Improvement,
  type Look,
  type Rewards,
} from './verdict.js';

/** When a search looks for a better prompt. */
export type ImproveWhen = 'if_worse' | 'always';

/** The evaluations of the live prompt. */
export const checkedParts = ['rows', 'traffic'] as const;
export type CheckedPart = (typeof checkedParts)[number];

/** The jobs of a checkup, by their numbers: see `childJobId`. `…_again`: rows that differ. */
export const partNumbers = {
  rows: 0,
  traffic: 1,
  session: 2,
  winner: 3,
  winner_again: 0x1003,
  traffic_again: 0x2003,
} as const;
export type Part = keyof typeof partNumbers;
export const partNames = Object.keys(partNumbers) as Part[];
export type EvaluationPart = Exclude<Part, 'session'>;

/** What is known of a checkup. */
export interface CheckupRecord {
  maxChange: number;
  /** null: nothing is compared. */
  look: Look | null;
  /** The rows of each part, in their order; null: not checked. `baseline` null: there is none. */
  parts: Record<CheckedPart, { seeds: readonly number[]; baseline: Rewards | null } | null>;
  /** null: no search. */
  improve: ImproveWhen | null;
  /** Of the completed evaluations, in the order of their rows. */
  rewards: Partial<Record<EvaluationPart, Rewards>>;
  /** Of the completed session; `winner` null: its best prompt is the live one. */
  session: { winner: string | null } | null;
}

/** What was found so far. */
export type CheckupFindings = Partial<Record<CheckedPart, Checked> & { improvement: Improvement }>;

export interface CheckupStep {
  judged: CheckupFindings;
  /** The job to run now; null: the checkup is complete. */
  run: Part | null;
}

export function nextStep(record: CheckupRecord): CheckupStep {
  const { improve, session } = record;
  const judged: CheckupFindings = {};
  for (const part of checkedParts) {
    if (!record.parts[part]) continue;
    const found = check(record, part);
    if (!found) return { judged, run: part };
    judged[part] = found;
  }
  const isWorse = checkedParts.some((part) => judged[part]?.verdict === 'worse');
  const isWanted = improve === 'always' || (improve === 'if_worse' && isWorse);
  if (!isWanted || session?.winner === null) return { judged, run: null };
  if (!session) return { judged, run: 'session' };
  const improvement = judgeWinner(record);
  if (typeof improvement === 'string') return { judged, run: improvement };
  return { judged: { ...judged, improvement }, run: null };
}

function check({ parts, rewards, look, maxChange }: CheckupRecord, part: CheckedPart): Checked | null {
  const now = rewards[part];
  if (!now) return null;
  const { seeds, baseline } = parts[part]!;
  const rule = { now, baseline, maxChange, level: look ? alarmLevel(look) : 0 };
  return part === 'rows' ? checkRows({ seeds, ...rule }) : checkTraffic(rule);
}

/** The winner compared with the live prompt, or the evaluation to run first. */
function judgeWinner({ rewards }: CheckupRecord): Improvement | EvaluationPart {
  const { traffic: incumbent, winner: candidate, winner_again: again, traffic_again: todayAgain } = rewards;
  if (!candidate) return 'winner';
  if (changedSeeds({ candidate, incumbent: incumbent! }).length === 0)
    return judgeImprovement({ candidate, incumbent: incumbent! });
  if (!again) return 'winner_again';
  if (!todayAgain) return 'traffic_again';
  const repeats = { candidate: again, incumbent: todayAgain };
  return judgeImprovement({ candidate, incumbent: incumbent!, repeats });
}

/** The verdict on what is live: the first of these that a part has. */
const gravest = ['worse', 'better', 'inconclusive', 'same', 'first'] as const;

/** null: no part is judged yet. */
export function verdictOf(judged: CheckupFindings): Checked['verdict'] | null {
  return gravest.find((verdict) => checkedParts.some((part) => judged[part]?.verdict === verdict)) ?? null;
}
