import type { z } from 'zod';
import type { deploymentStatsSchema } from '../../src/kinds/deployment/contract/stats.js';
import type { ModelRequest } from './fakes/model.js';

/** Statistics of a deployment, as its route answers. */
export type JudgeStats = z.output<typeof deploymentStatsSchema>;

/** Whether a model request is that of a judge. */
export function isJudge({ body }: Pick<ModelRequest, 'body'>): boolean {
  return body.messages[0]!.content.startsWith('You judge the output');
}

/** What a judge model answers to a rubric of one criterion without a name. */
export function verdictOf(score: number): string {
  return JSON.stringify({ criteria: [{ name: 'rubric', score, reason: `because of ${score}` }] });
}
