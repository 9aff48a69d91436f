/** What an optimizer is asked to do: the same for each that is compared. */
export interface SearchTask {
  trainSeeds: number[];
  evaluationSeeds: number[];
  minibatchSize: number;
  maxRollouts: number;
  maxConcurrent: number;
  rngSeed: number;
}

/** A candidate with its mean on the evaluation seeds, and the moment (epoch milliseconds) at which that was known. */
export interface Evaluated {
  at: number;
  text: string;
  reward: number;
}

/** What an optimizer did, by its own word; `candidates` in the order in which they were evaluated. */
export interface Outcome {
  startedAt: number;
  endedAt: number;
  rollouts: number;
  winner: string;
  /** The same by component, where it is told apart. */
  winnerTexts?: Readonly<Record<string, string>>;
  candidates: Evaluated[];
}
