/** Budgets of jobs that run evaluations and a session, such as migrations. */
import { sessionBudgetSchema } from '../../session/contract/create.js';

const { max_cost_usd: maxCostUsd, ...ofSession } = sessionBudgetSchema.shape;

/** Rollouts and minutes of the session. */
export const sessionLimits = ofSession;

export const dollarsOfAll = maxCostUsd.describe(
  'Maximum dollars of all its jobs together. Each gets what is left; the session leaves enough to compare its winner, at most half.',
);

export const budgetWithSession = sessionBudgetSchema
  .extend({ max_cost_usd: dollarsOfAll })
  .optional()
  .describe('Rollouts and minutes of the session, by default 200 rollouts; dollars of all its jobs.');
