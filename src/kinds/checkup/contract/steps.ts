/** The words of checkups, for their views and events. */
import type { CheckupFindings, ImproveWhen, Part } from '../../../core/checkups/steps.js';
import type { CheckVerdict } from '../../../core/checkups/verdict.js';

export const improveModes = ['if_worse', 'always'] as const satisfies ImproveWhen[];
export const judgedVerdicts = ['better', 'same', 'worse', 'inconclusive', 'first'] as const satisfies CheckVerdict[];
export const judgedParts = ['rows', 'traffic', 'improvement'] as const satisfies (keyof CheckupFindings)[];
export const checkupSteps = [
  'rows',
  'traffic',
  'session',
  'winner',
  'winner_again',
  'traffic_again',
] as const satisfies Part[];
