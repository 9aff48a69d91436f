/** The task of an optimizer, identical for all. */
export interface SearchTask {
  trainSeeds: number[];
  evaluationSeeds: number[];
  minibatchSize: number;
  maxRollouts: number;
  maxConcurrent: number;
  rngSeed: number;
}

/** A candidate with its mean on the evaluation seeds, and the time (epoch ms) when it was known. */
export interface Evaluated {
  at: number;
  text: string;
  reward: number;
}

/** An optimizer's own report; `candidates` in order of evaluation. */
export interface Outcome {
  startedAt: number;
  endedAt: number;
  rollouts: number;
  winner: string;
  /** The same by component, if separate. */
  winnerTexts?: Readonly<Record<string, string>>;
  candidates: Evaluated[];
}
