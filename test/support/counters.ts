import type { DeploymentCounter } from '../../src/kinds/deployment/store/counters.js';

/** A deployment's counter: 0 except for the given fields. */
export function counterOf(given: Partial<DeploymentCounter>): DeploymentCounter {
  return {
    deploymentId: 'dep_1',
    counterId: 'process_1',
    requests: 0,
    errors: 0,
    aborted: 0,
    promptTokens: 0,
    completionTokens: 0,
    costUsd: 0,
    withoutCost: 0,
    latencies: {},
    ...given,
  };
}
