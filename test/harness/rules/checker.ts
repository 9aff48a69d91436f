import type { Evidence } from '../evidence/evidence.js';
import { answerRules } from './answers.js';
import { callRules } from './calls.js';
import { createRules } from './creates.js';
import { endingRules } from './endings.js';
import { clientRules } from './clients.js';
import { deploymentRules } from './deployments.js';
import { eventRules } from './events.js';
import { graphRules } from './graphs.js';
import { rolloutRules } from './rollouts.js';
import type { Rule } from './rule.js';

/** All rules of a round. */
export const rules: readonly Rule[] = [
  ...eventRules,
  ...endingRules,
  ...rolloutRules,
  ...callRules,
  ...answerRules,
  ...graphRules,
  ...deploymentRules,
  ...clientRules,
  ...createRules,
];

/** All violations in the evidence, one line each; empty: the round passes. */
export function check(evidence: Evidence): string[] {
  return rules.flatMap((rule) => rule.broken(evidence).map((what) => `${rule.name}: ${what}`));
}
