/** The words of migrations, for their views and events. */
import type { Optimize, Part, Side } from '../../../core/migrations/steps.js';
import type { MigrationVerdict } from '../../../core/migrations/verdict.js';

export const optimizeModes = ['if_worse', 'always', 'never'] as const satisfies Optimize[];
export const migrationVerdicts = ['no_worse', 'worse', 'inconclusive'] as const satisfies MigrationVerdict[];
export const promptSides = ['same_prompt', 'optimized'] as const satisfies Side[];
export const migrationSteps = [
  'same_prompt',
  'today',
  'same_prompt_again',
  'today_again',
  'session',
  'optimized',
  'optimized_again',
  'today_beside_optimized_again',
] as const satisfies Part[];
