import type { Evidence } from './evidence/evidence.js';
import { answerRules } from './rules/answers.js';
import { callRules } from './rules/calls.js';
import { createRules } from './rules/creates.js';
import { endingRules } from './rules/endings.js';
import { clientRules } from './rules/clients.js';
import { deploymentRules } from './rules/deployments.js';
import { eventRules } from './rules/events.js';
import { graphRules } from './rules/graphs.js';
import { rolloutRules } from './rules/rollouts.js';
import type { Rule } from './rules/rule.js';

/** All rules of a round. */
export const rules: readonly Rule[] = [
  ...[...eventRules, ...endingRules, ...rolloutRules, ...callRules, ...answerRules],
  ...[...graphRules, ...deploymentRules, ...clientRules, ...createRules],
];

/** All violations in the evidence, one line each; empty: the round passes. */
export function check(evidence: Evidence): string[] {
  return rules.flatMap((rule) => rule.broken(evidence).map((what) => `${rule.name}: ${what}`));
}
