/** The rewards of a search over its rollouts, dollars or minutes, from its events. */
import type { Event } from '../../../../src/client/index.js';

export type Axis = 'rollouts' | 'dollars' | 'minutes';

interface Place {
  rollouts: number;
  /** null: the price of a model is unknown. */
  dollars: number | null;
  minutes: number;
}

interface Estimate extends Place {
  estimate: number | null;
  low: number | null;
  high: number | null;
  best: number;
}

interface Evaluation extends Place {
  candidateId: string;
  reward: number;
}

/** The points of the curve, and the time that the search has run, pauses left out. */
export class Curve {
  readonly estimates: Estimate[] = [];
  readonly evaluations: Evaluation[] = [];
  /** The reward of the baseline on the evaluation seeds; null: not known yet. */
  baseline: number | null = null;
  rollouts = 0;
  private ranMs = 0;
  private lastAt = 0;
  /** When the clock began to run; null: it stands still. */
  private runsSince: number | null = null;

  add(event: Event): void {
    const at = Date.parse(event.ts);
    this.lastAt = at;
    switch (event.type) {
      case 'session_started':
      case 'job_started':
      case 'session_extended':
      case 'resumed':
        this.runsSince ??= at;
        break;
      case 'paused':
      case 'job_complete':
      case 'job_failed':
      case 'job_cancelled':
        this.ranMs = this.ranUntil(at);
        this.runsSince = null;
        break;
      case 'rollout_completed':
        this.rollouts = Math.max(this.rollouts, event.data.completed);
        break;
      case 'candidate_evaluated':
        this.baseline ??= event.data.reward;
        this.evaluations.push({
          candidateId: event.data.candidate_id,
          reward: event.data.reward,
          rollouts: this.rollouts,
          dollars: null,
          minutes: this.minutesAt(at),
        });
        break;
      case 'generation_complete':
        this.addGeneration(event.data, at);
        break;
      default:
    }
  }

  /** Minutes that the search had run at its last event. */
  get minutes(): number {
    return this.minutesAt(this.lastAt);
  }

  /** Minutes that the search had run at a time. */
  minutesAt(at: number): number {
    return this.ranUntil(at) / 60_000;
  }

  private ranUntil(at: number): number {
    return this.ranMs + (this.runsSince === null ? 0 : Math.max(0, at - this.runsSince));
  }

  private addGeneration(data: Extract<Event, { type: 'generation_complete' }>['data'], at: number): void {
    const place = { rollouts: data.rollouts_completed, dollars: data.cost_usd, minutes: this.minutesAt(at) };
    const interval = data.estimated_reward_interval;
    this.estimates.push({
      ...place,
      estimate: data.estimated_reward,
      low: interval?.low ?? null,
      high: interval?.high ?? null,
      best: data.best_reward,
    });
    // The cost of an evaluation is known at the end of its generation.
    for (let n = this.evaluations.length - 1; n >= 0 && this.evaluations[n]!.dollars === null; n -= 1)
      this.evaluations[n]!.dollars = data.cost_usd;
  }

  /** Whether dollars tell points apart. */
  get hasCost(): boolean {
    return (this.estimates.at(-1)?.dollars ?? 0) > 0;
  }
}

/** Lines across the whole chart. */
export interface Levels {
  baseline: number | null;
  /** null: nothing is held out, or not compared yet. */
  heldout: { baseline: number; winner: number } | null;
}

export type Column = (number | null)[];
/** Columns of the chart: x, low, high, estimate, best, evaluations, and the levels. */
export type CurveColumns = [number[], ...Column[]];

/** The curve as columns over an axis; points without a place on it are left out. */
export function columnsOf(curve: Curve, axis: Axis, levels: Levels): { columns: CurveColumns; candidates: string[][] } {
  const at = new Map<number, { estimate?: Estimate; evaluations: Evaluation[] }>();
  const placeOf = (point: Place) => {
    const x = point[axis];
    if (x === null) return null;
    const place = at.get(x) ?? { evaluations: [] };
    at.set(x, place);
    return place;
  };
  for (const point of curve.estimates) {
    const place = placeOf(point);
    if (place) place.estimate = point;
  }
  for (const point of curve.evaluations) placeOf(point)?.evaluations.push(point);
  const xs = [...at.keys()].sort((a, b) => a - b);
  const places = xs.map((x) => at.get(x)!);
  const columnOf = (read: (place: (typeof places)[number]) => number | null): Column => places.map(read);
  const heights = [levels.baseline, ...(levels.heldout ? [levels.heldout.baseline, levels.heldout.winner] : [])];
  const columns: CurveColumns = [
    xs,
    columnOf(({ estimate }) => estimate?.low ?? null),
    columnOf(({ estimate }) => estimate?.high ?? null),
    columnOf(({ estimate }) => estimate?.estimate ?? null),
    columnOf(({ estimate }) => estimate?.best ?? null),
    columnOf(({ evaluations }) => (evaluations.length > 0 ? Math.max(...evaluations.map((e) => e.reward)) : null)),
    ...heights.map((height) => xs.map(() => height)),
  ];
  const best = ({ evaluations }: (typeof places)[number]) => evaluations.toSorted((a, b) => b.reward - a.reward);
  return { columns, candidates: places.map((place) => best(place).map(({ candidateId }) => candidateId)) };
}
