/** What a search decided, in sentences, from its events. */
import type { Event } from '../../../../src/client/index.js';
import { decimal, reward, words } from '../../util/format.js';
import { numberOf } from '../../data/search.js';

export interface Said {
  seq: number;
  at: string;
  text: string;
  /** null: none was written. */
  candidateId: string | null;
}

type Tested = Extract<Event, { type: 'candidate_accepted' | 'candidate_rejected' }>;

const kept = 5;
const namedRows = 3;

/** The last decisions of a search; `unit`: what its rollouts run on. */
export class Decisions {
  /** The newest first. */
  latest: Said[] = [];
  /** Of candidates in their tests: the last reward by row. */
  private readonly tests = new Map<string, Map<number, number>>();
  /** Candidates that combine others: they need only to lose nothing. */
  private readonly combined = new Set<string>();
  private readonly unit: string;

  constructor(unit: string) {
    this.unit = unit;
  }

  add(event: Event): void {
    switch (event.type) {
      case 'rollout_completed': {
        const { stage, seed, candidate_id: id, reward: value } = event.data;
        if (stage !== 'gate' || seed === null || id === null) return;
        this.tests.set(id, (this.tests.get(id) ?? new Map<number, number>()).set(seed, value ?? 0));
        return;
      }
      case 'candidate_proposed':
        if (event.data.parent_ids.length > 1) this.combined.add(event.data.candidate_id);
        return;
      case 'candidate_accepted': {
        return this.say(event, `Kept${this.whyKept(event)}: ${this.result(event)}`);
      }
      case 'candidate_rejected':
        return this.say(event, `Dropped (${words(event.data.reason)}): ${this.result(event)}`);
      case 'candidate_evaluated': {
        const { reward: mean, seeds_evaluated: rows } = event.data;
        return this.say(event, `Evaluated: mean ${reward(mean)} on ${this.count(rows)}`);
      }
      case 'proposal_failed':
        return this.say(event, `No new prompt: ${event.data.reason}`, true);
      default:
    }
  }

  private say(event: Event & { data: { candidate_id: string } }, text: string, isNone = false): void {
    const { seq, ts: at, data } = event;
    const { candidate_id: id } = data;
    this.tests.delete(id);
    const said = isNone ? text : `${numberOf(id)} ${text}`;
    this.latest = [{ seq, at, text: said, candidateId: isNone ? null : id }, ...this.latest].slice(0, kept);
  }

  private whyKept({ data }: Extract<Tested, { type: 'candidate_accepted' }>): string {
    const { candidate_id: id, reason, child_sum: own, parent_sum: before } = data;
    if (reason) return ` for being ${reason}`;
    return this.combined.has(id) && own <= before ? ', as it combines others and loses nothing' : '';
  }

  /** As `3 of 3 rows right, 0 before; row 168 was wrong`. */
  private result({ data }: Tested): string {
    const { candidate_id: id, child_sum: own, parent_sum: before } = data;
    const rewards = this.tests.get(id) ?? new Map<number, number>();
    if (rewards.size === 0) return `${decimal(own)}, ${decimal(before)} before`;
    const isCounted = [own, before, ...rewards.values()].every(Number.isInteger) && own <= rewards.size;
    if (!isCounted) return `${decimal(own)} on ${this.count(rewards.size)}, ${decimal(before)} before`;
    const wrong = [...rewards].flatMap(([row, value]) => (value < 1 ? [row] : []));
    const text = `${own} of ${this.count(rewards.size)} right, ${before} before`;
    return wrong.length === 0 ? text : `${text}; ${this.wrong(wrong)}`;
  }

  private wrong(rows: number[]): string {
    if (rows.length === 1) return `${this.unit} ${rows[0]} was wrong`;
    if (rows.length > namedRows) return `${this.count(rows.length)} were wrong`;
    return `${this.unit}s ${rows.slice(0, -1).join(', ')} and ${rows.at(-1)} were wrong`;
  }

  private count(rows: number): string {
    return `${rows} ${this.unit}${rows === 1 ? '' : 's'}`;
  }
}
