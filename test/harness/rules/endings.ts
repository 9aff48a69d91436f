import { perJob, type Rule } from './rule.js';

/** Limit between the last fault and a job's end. */
export const terminalWithinMs = 60_000;
/** Grace for calls in flight at the end of a job: a runner notices the end within a second. */
const underWayMs = 2_000;

const closes: Record<string, string[]> = {
  completed: ['COMPLETED'],
  failed: ['FAILED'],
  cancelled: ['CANCELLED'],
};

export const endingRules: Rule[] = [
  perJob('a job is terminal within 60 s of the last fault', (job, { lastFaultAt }) => {
    if (job.completedAt === null) return [`it is still ${job.status}`];
    const late = job.completedAt - lastFaultAt;
    return late <= terminalWithinMs ? [] : [`it ended ${Math.round(late / 1_000)} s after the last fault`];
  }),
  perJob('a job ends as it may', (job) =>
    job.mayEnd.includes(job.status) ? [] : [`it is ${job.status} (${job.errorCode}), not ${job.mayEnd.join(' or ')}`],
  ),
  perJob('row and workflow agree', (job) => {
    const wanted = [...(closes[job.status] ?? ['RUNNING'])];
    // The reconciler closes the row of a terminated workflow; a workflow at its end may have closed
    // it already.
    if (job.outside === 'terminate') wanted.push('TERMINATED');
    if (job.workflow === 'TERMINATED' && job.status === 'failed' && job.errorCode !== 'workflow_terminated') {
      return [`its workflow was terminated, and its reason is ${job.errorCode}`];
    }
    return wanted.includes(job.workflow) ? [] : [`the row is ${job.status}, the workflow ${job.workflow}`];
  }),
  perJob('nothing is sent after the end', (job) => {
    if (job.completedAt === null) return [];
    const end = job.completedAt + underWayMs;
    const late = [
      ...job.container.flatMap((line) => (line.event === 'in' && line.at > end ? [`rollout ${line.rolloutId}`] : [])),
      ...job.bought.flatMap(({ event, at, key }) => (event === 'in' && at > end ? [key] : [])),
    ];
    return late.map((what) => `sent after its end: ${what}`);
  }),
  {
    name: 'no process of the service ends by itself',
    broken: ({ died }) => died,
  },
];
