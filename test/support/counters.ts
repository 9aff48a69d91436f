import type { Tx } from '../../src/platform/db/db.js';
import { startOf } from '../../src/core/deployments/periods.js';
import {
  noRequests,
  readPeriods,
  type DeploymentCounter,
  type RequestTotals,
} from '../../src/kinds/deployment/store/counters.js';

/** A deployment's counter: 0 except for the given fields. */
export function counterOf(given: Partial<DeploymentCounter>): DeploymentCounter {
  return {
    deploymentId: 'dep_1',
    counterId: 'process_1',
    width: 'all',
    start: startOf('all', 0),
    ...noRequests(),
    ...given,
  };
}

/** A deployment's totals over all processes. */
export async function readTotals(tx: Tx, deploymentId: string): Promise<RequestTotals> {
  const { sums } = await readPeriods(tx, [deploymentId], 'all', { from: new Date(0), to: new Date(1) });
  const [row] = sums;
  if (!row) return noRequests();
  const { deploymentId: _id, start: _start, ...totals } = row;
  return totals;
}
