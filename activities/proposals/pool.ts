import { candidateKey } from '../../src/core/graphs/candidate.js';
import { graphFromJson } from '../../src/core/graphs/json.js';
import { componentTexts } from '../../src/core/prompts/components.js';
import type { LineageTexts } from '../../src/core/proposals/components.js';
import { candidateTexts, type PooledCandidate } from '../../src/storage/candidates/candidates.js';

/** The candidates of a job by number: those stored, and those that the next transaction stores. */
export class CandidatePool {
  private readonly numbers = new Map<string, number>();
  private readonly candidates: Map<number, PooledCandidate>;

  constructor(candidates: Map<number, PooledCandidate>) {
    this.candidates = candidates;
    for (const [number, candidate] of candidates) this.noteKey(number, candidate);
  }

  has(candidate: number): boolean {
    return this.candidates.has(candidate);
  }

  get(candidate: number): PooledCandidate {
    const found = this.candidates.get(candidate);
    if (!found) throw new RangeError(`Candidate ${candidate} is not in the pool.`);
    return found;
  }

  /** The prompts of these candidates, by number. */
  pick(candidates: Iterable<number>): Map<number, PooledCandidate> {
    return new Map([...new Set(candidates)].map((candidate) => [candidate, this.get(candidate)]));
  }

  all(): ReadonlyMap<number, PooledCandidate> {
    return this.candidates;
  }

  /** Adds a candidate; false: its content is known under another number. */
  add(number: number, candidate: PooledCandidate): boolean {
    const known = this.noteKey(number, candidate);
    // A repeated proposal finds its own candidate stored: that is no duplicate.
    if (known !== number) return false;
    if (!this.candidates.has(number)) this.candidates.set(number, candidate);
    return true;
  }

  /** Sets the content of a candidate that was not known before. */
  replace(number: number, candidate: PooledCandidate): void {
    this.candidates.set(number, candidate);
    this.noteKey(number, candidate);
  }

  lineage(): Map<number, LineageTexts> {
    return new Map(
      [...this.candidates].map(([candidate, { parents, messages, graph }]) => [
        candidate,
        { candidate, parents, texts: candidateTexts({ messages, graph }) },
      ]),
    );
  }

  /** The first candidate with the same content. */
  private noteKey(number: number, { messages, demos, graph }: PooledCandidate): number {
    const key = candidateKey({ texts: componentTexts(messages), demos, graph: graph && graphFromJson(graph) });
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, number);
    return number;
  }
}
