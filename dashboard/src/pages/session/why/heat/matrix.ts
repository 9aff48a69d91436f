/** Rewards of all candidates on all seeds, from the events of finished rollouts. */
import type { Event } from '../../../../../../src/client/index.js';
import type { EventFold } from '../../../../data/event-fold.js';

export type Part = 'train' | 'evaluation' | 'heldout';

/** The rows that a stage runs on. */
const parts = {
  minibatch: 'train',
  gate: 'train',
  baseline: 'evaluation',
  evaluation: 'evaluation',
  heldout: 'heldout',
};
const bits: Record<Part, number> = { train: 1, evaluation: 2, heldout: 4 };

/** A cell without a finished rollout. */
const missing = NaN;
/** A cell whose rollouts have all failed. */
export const failed = -Infinity;

/** The rollouts of a candidate by row. */
class Column {
  sums = new Float64Array(64);
  succeeded = new Uint16Array(64);
  failed = new Uint16Array(64);
  /** The number of the last trace, from 1; 0: there is none. */
  last = new Uint32Array(64);

  /** Makes room for a row. */
  hold(row: number): void {
    if (row < this.sums.length) return;
    const length = Math.max(row + 1, this.sums.length * 2);
    const grown = <T extends Float64Array | Uint16Array | Uint32Array>(made: T, from: T): T => (made.set(from), made);
    this.sums = grown(new Float64Array(length), this.sums);
    this.succeeded = grown(new Uint16Array(length), this.succeeded);
    this.failed = grown(new Uint16Array(length), this.failed);
    this.last = grown(new Uint32Array(length), this.last);
  }
}

export interface Cell {
  /** null: no rollout succeeded. */
  reward: number | null;
  succeeded: number;
  failed: number;
  /** The trace of its latest rollout. */
  traceId: string;
}

/** Grows with the events; rows and columns stay in the order of their first rollouts. */
export class RewardMatrix implements EventFold {
  readonly seeds: number[] = [];
  readonly candidateIds: string[] = [];
  /** The range of the rewards; at least 0 to 1. */
  low = 0;
  high = 1;
  failures = 0;
  private readonly baselineId: string | null;
  private readonly rows = new Map<number, number>();
  private readonly columnOf = new Map<string, number>();
  private readonly columns: Column[] = [];
  private readonly partsOfRow: number[] = [];
  private readonly traceIds: string[] = [];

  /** `baselineId` stands for the candidate of rollouts before the baseline is known. */
  constructor(baselineId: string | null) {
    this.baselineId = baselineId;
  }

  add(event: Event): void {
    if (event.type !== 'rollout_completed') return;
    const { seed, stage, status, reward, trace_id: traceId } = event.data;
    const candidateId = event.data.candidate_id ?? this.baselineId;
    // Live traffic may have no seed.
    if (seed === null || candidateId === null) return;
    const row = this.rowOf(seed);
    this.partsOfRow[row]! |= bits[parts[stage] as Part];
    const column = this.columns[this.indexOf(candidateId)]!;
    column.hold(row);
    column.last[row] = this.traceIds.push(traceId);
    if (status === 'failed' || reward === null) {
      column.failed[row]! += 1;
      this.failures += 1;
      return;
    }
    column.succeeded[row]! += 1;
    column.sums[row]! += reward;
    this.low = Math.min(this.low, reward);
    this.high = Math.max(this.high, reward);
  }

  /** The mean reward of a cell, `failed` or `missing`. */
  value(row: number, index: number): number {
    const column = this.columns[index]!;
    const count = column.succeeded[row] ?? 0;
    if (count > 0) return column.sums[row]! / count;
    return (column.failed[row] ?? 0) > 0 ? failed : missing;
  }

  /** All of a cell; null: it has no finished rollout. */
  cell(row: number, index: number): Cell | null {
    const column = this.columns[index]!;
    const last = column.last[row] ?? 0;
    if (last === 0) return null;
    const [succeeded, failures] = [column.succeeded[row]!, column.failed[row]!];
    const reward = succeeded > 0 ? column.sums[row]! / succeeded : null;
    return { reward, succeeded, failed: failures, traceId: this.traceIds[last - 1]! };
  }

  /** Whether a stage of the part has run on the row. */
  isIn(row: number, part: Part): boolean {
    return (this.partsOfRow[row]! & bits[part]) !== 0;
  }

  private rowOf(seed: number): number {
    const known = this.rows.get(seed);
    if (known !== undefined) return known;
    const row = this.seeds.push(seed) - 1;
    this.rows.set(seed, row);
    this.partsOfRow.push(0);
    return row;
  }

  private indexOf(candidateId: string): number {
    const known = this.columnOf.get(candidateId);
    if (known !== undefined) return known;
    const index = this.candidateIds.push(candidateId) - 1;
    this.columnOf.set(candidateId, index);
    this.columns.push(new Column());
    return index;
  }
}
