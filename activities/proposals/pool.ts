import { candidateKey, type MergeableCandidate } from '../../src/core/graphs/candidate.js';
import { graphFromJson } from '../../src/core/graphs/json.js';
import type { Texts } from '../../src/core/proposals/components.js';
import { sameText } from '../../src/core/proposals/ledger.js';
import { candidateTexts, type PooledCandidate } from '../../src/candidates/store/candidates.js';

/** The candidates of a job by number: those stored, and those that the next transaction stores. */
export class CandidatePool {
  /** The candidates with their texts and parents. */
  readonly lineage = new Map<number, MergeableCandidate>();
  private readonly candidates = new Map<number, PooledCandidate>();
  /** The first candidate with each content. */
  private readonly numbers = new Map<string, number>();

  constructor(candidates: ReadonlyMap<number, PooledCandidate>) {
    for (const [number, candidate] of candidates) this.set(number, candidate);
  }

  has(candidate: number): boolean {
    return this.candidates.has(candidate);
  }

  get(candidate: number): PooledCandidate {
    const found = this.candidates.get(candidate);
    if (!found) throw new RangeError(`Candidate ${candidate} is not in the pool.`);
    return found;
  }

  textsOf(candidate: number): Texts {
    return candidateTexts(this.get(candidate));
  }

  /** Whether a candidate before this one has these texts but for white space. */
  hasTextsBefore(candidate: number, texts: Texts): boolean {
    const names = Object.keys(texts);
    return [...this.lineage.values()].some(
      ({ candidate: other, texts: known }) =>
        other < candidate && names.every((name) => known[name] !== undefined && sameText(known[name], texts[name]!)),
    );
  }

  /** The prompts of these candidates, by number. */
  pick(candidates: Iterable<number>): Map<number, PooledCandidate> {
    return new Map([...new Set(candidates)].map((candidate) => [candidate, this.get(candidate)]));
  }

  /** Adds a candidate; false: its content is known under another number. */
  add(number: number, candidate: PooledCandidate): boolean {
    const known = this.numbers.get(keyOf(entryOf(number, candidate), candidate));
    // A repeated proposal finds its own candidate stored: that is no duplicate.
    if (known !== undefined) return known === number;
    this.set(number, candidate);
    return true;
  }

  /** Adds a candidate, or replaces its content. */
  set(number: number, candidate: PooledCandidate): void {
    const entry = entryOf(number, candidate);
    const key = keyOf(entry, candidate);
    this.candidates.set(number, candidate);
    this.lineage.set(number, entry);
    if (!this.numbers.has(key)) this.numbers.set(key, number);
  }
}

function entryOf(candidate: number, { parents, messages, graph }: PooledCandidate): MergeableCandidate {
  return { candidate, parents, texts: candidateTexts({ messages, graph }), graph: graph && graphFromJson(graph) };
}

function keyOf({ texts, graph }: MergeableCandidate, { demos }: PooledCandidate): string {
  return candidateKey({ texts, demos, graph });
}
