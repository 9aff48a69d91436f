/** The search of `ratchet optimize` and of the dashboard's form. */
export const defaultBudget = 200;

export const algorithms = {
  // The budget ends the search, so there are more generations than it can pay for.
  gepa: { population_size: 2, generations: 200 },
  mipro: { num_candidates: 10 },
};

export type Algorithm = keyof typeof algorithms;
