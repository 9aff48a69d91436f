/** Which part of its work a job is in, and how far it is. */
import type { Unit } from './unit.js';
import type { SearchPhase } from '../search/protocol.js';

export interface JobPhase {
  /** `rows`: those of an evaluation, which has one phase. */
  name: SearchPhase['name'] | 'rows';
  /** Finished rollouts, of `total`. */
  done: number;
  total: number;
  /** Of the finished ones; null: none, or rewards of different prompts. */
  meanReward: number | null;
}

/** Outcomes on record that the last step of a search does not include. */
export interface SinceStep {
  rollouts: number;
  rewardSum: number;
}

/** The phase of a search; a failed rollout has reward 0. Null: it has not begun, or has ended. */
export function phaseOfSearch(phase: SearchPhase | null | undefined, since: SinceStep): JobPhase | null {
  if (!phase) return null;
  const { name, rollouts: total } = phase;
  const done = Math.min(total, phase.answered + since.rollouts);
  const isOfOnePrompt = name === 'baseline' || name === 'evaluation';
  return {
    name,
    done,
    total,
    meanReward: isOfOnePrompt && done > 0 ? (phase.rewardSum + since.rewardSum) / done : null,
  };
}

/** The name of a phase of a job that runs on rows, tasks or seeds. */
export function phaseName(name: JobPhase['name'], unit: Unit): string {
  if (name === 'rows') return `${unit}s`;
  return name === 'heldout' ? `held-out ${unit}s` : name;
}

/** A phase as the API has it. */
export type PhaseView = Omit<JobPhase, 'meanReward'> & { mean_reward: number | null };

/** As `97 of 150, mean so far 0.090`, or `round 12, 3 of 8`. */
export function progressInWords({ name, done, total, mean_reward: mean }: PhaseView, round: number): string {
  const counts = total === 0 ? 'waits for new prompts' : `${done} of ${total}`;
  const parts = [...(name === 'search' ? [`round ${round}`] : []), counts];
  return [...parts, ...(mean === null ? [] : [`mean so far ${mean.toFixed(3)}`])].join(', ');
}
