/** Expected requests of a search; the basis of cost estimates. */

export type Levels = Record<'low' | 'likely' | 'high', number>;

export interface SearchEstimate {
  /** The most rollouts without infrastructure failures. */
  maxRollouts: number;
  generations: number;
  proposals: number;
  /** Rollouts that test all proposals, without full evaluations. */
  testRollouts: Levels;
  /** Rollouts that a question to the proposer shows. */
  shownRollouts: Levels;
  /** The most demonstrations in a prompt: rows with right answers, or good answers. */
  demos: { labeled: number; good: number };
}
