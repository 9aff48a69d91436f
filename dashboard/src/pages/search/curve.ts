/** The rewards of a search over its rollouts, dollars or minutes, from its events. */
import type { Event } from '../../../../src/client/index.js';
import { RunClock } from './run-clock.js';

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
  /** Accepted candidates, at their estimates. */
  readonly acceptances: Evaluation[] = [];
  rollouts = 0;
  private readonly clock = new RunClock();

  add(event: Event): void {
    this.clock.add(event);
    const minutes = this.clock.minutesAt(Date.parse(event.ts));
    switch (event.type) {
      case 'rollout_completed':
        this.rollouts = Math.max(this.rollouts, event.data.completed);
        break;
      case 'candidate_accepted': {
        const { candidate_id: candidateId, estimated_reward: reward } = event.data;
        this.acceptances.push({ candidateId, reward, rollouts: this.rollouts, dollars: null, minutes });
        break;
      }
      case 'candidate_evaluated':
        this.baseline ??= event.data.reward;
        this.evaluations.push({
          candidateId: event.data.candidate_id,
          reward: event.data.reward,
          rollouts: this.rollouts,
          dollars: null,
          minutes,
        });
        break;
      case 'generation_complete':
        this.addGeneration(event.data, minutes);
        break;
      default:
    }
  }

  get points(): number {
    return this.estimates.length + this.evaluations.length + this.acceptances.length;
  }

  /** Minutes that the search had run at its last event. */
  get minutes(): number {
    return this.clock.minutesAt(this.clock.lastAt);
  }

  /** Minutes that the search had run at a time. */
  minutesAt(at: number): number {
    return this.clock.minutesAt(at);
  }

  private addGeneration(data: Extract<Event, { type: 'generation_complete' }>['data'], minutes: number): void {
    const place = { rollouts: data.rollouts_completed, dollars: data.cost_usd, minutes };
    const interval = data.estimated_reward_interval;
    this.estimates.push({
      ...place,
      estimate: data.estimated_reward,
      low: interval?.low ?? null,
      high: interval?.high ?? null,
      best: data.best_reward,
    });
    // The cost of an evaluation is known at the end of its generation.
    for (const points of [this.evaluations, this.acceptances])
      for (let n = points.length - 1; n >= 0 && points[n]!.dollars === null; n -= 1) points[n]!.dollars = data.cost_usd;
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
export function columnsOf(curve: Curve, axis: Axis, levels: Levels): CurveColumns {
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
  return [
    xs,
    columnOf(({ estimate }) => estimate?.low ?? null),
    columnOf(({ estimate }) => estimate?.high ?? null),
    columnOf(({ estimate }) => estimate?.estimate ?? null),
    columnOf(({ estimate }) => estimate?.best ?? null),
    columnOf(({ evaluations }) => (evaluations.length > 0 ? Math.max(...evaluations.map((e) => e.reward)) : null)),
    ...heights.map((height) => xs.map(() => height)),
  ];
}

/** A candidate on the chart. */
export interface Mark {
  candidateId: string;
  kind: 'accepted' | 'evaluated';
  x: number;
  reward: number;
}

/** Acceptances and evaluations in the order of the axis; those without a place are left out. */
export function marksOf(curve: Curve, axis: Axis): Mark[] {
  const marks = (kind: Mark['kind'], points: readonly Evaluation[]) =>
    points.flatMap((point): Mark[] => {
      const x = point[axis];
      return x === null ? [] : [{ kind, x, candidateId: point.candidateId, reward: point.reward }];
    });
  const all = [...marks('accepted', curve.acceptances), ...marks('evaluated', curve.evaluations)];
  return all.sort((a, b) => a.x - b.x);
}
