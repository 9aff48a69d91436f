import type { DeploymentEvidence, JobEvidence } from '../evidence/evidence.js';
import { grouped, perJob, type Rule } from './rule.js';

type Deployment = JobEvidence & { deployment: DeploymentEvidence };

/** The deployments of a round; all take the same name. */
export function deploymentsIn(jobs: JobEvidence[]): Deployment[] {
  return jobs.filter((job): job is Deployment => job.deployment !== null);
}

/** The deployments that went live, in order. */
export function liveInTurn(jobs: JobEvidence[]): Deployment[] {
  return deploymentsIn(jobs)
    .filter(({ deployment }) => deployment.liveAt !== null)
    .sort((left, right) => left.deployment.liveAt! - right.deployment.liveAt!);
}

const shown: Record<string, string> = { completed: 'ready', failed: 'failed', cancelled: 'failed' };

export const deploymentRules: Rule[] = [
  perJob('a deployment is ready when it has taken its name, and the last of them is live', (job, { jobs }) => {
    const { deployment } = job;
    if (!deployment) return [];
    const { status, live, liveAt } = deployment;
    return [
      ...(status === shown[job.status] ? [] : [`its row is ${job.status}, HTTP says ${status}`]),
      ...((liveAt !== null) === (status === 'ready') ? [] : [`it is ${status}, and live since ${liveAt}`]),
      ...(live === (liveInTurn(jobs).at(-1)?.id === job.id) ? [] : [`it is ${live ? '' : 'not '}live`]),
    ];
  }),
  perJob('a gate has each of what it compares run once', (job, { jobs }) => {
    if (!job.deployment) return [];
    const { evaluations, sent, gate } = job.deployment;
    // The incumbent may have the candidate's prompt.
    const isIncumbent = (id: string) => id === gate?.incumbent?.jobId;
    const known = new Set(
      jobs
        .filter(({ id }) => evaluations.some((evaluation) => evaluation.id === id))
        .flatMap(({ rollouts }) => rollouts.map(({ id }) => id)),
    );
    return [
      ...[...grouped(evaluations, ({ runs }) => runs).values()].flatMap(([first, ...again]) =>
        again
          .filter(({ id }) => !(first!.id === gate?.candidate.jobId && isIncumbent(id)))
          .map(({ id }) => `${id} runs what ${first!.id} runs`),
      ),
      ...sent.filter((id) => !known.has(id)).map((id) => `${id} is of none of its evaluations`),
    ];
  }),
  perJob('a gate says what its evaluations have come to, and lets nothing else through', (job, { jobs }) => {
    const { gate, status } = job.deployment ?? {};
    if (!gate) return [];
    // An operator may terminate it between its gate and its name.
    const isCutOff = gate.passed && job.errorCode === 'workflow_terminated';
    const rewardsOf = (id: string | undefined) =>
      jobs.find((job) => job.id === id)?.rollouts.map((row) => (row.status === 'succeeded' ? row.reward : null)) ?? [];
    const own = rewardsOf(gate.candidate.jobId);
    const all = [...own, ...rewardsOf(gate.incumbent?.jobId)];
    const worst = Math.min(0, ...all.map((reward) => reward ?? 0));
    const mean = own.reduce((sum: number, reward) => sum + (reward ?? worst), 0) / own.length;
    return [
      ...(Math.abs((gate.candidate.reward ?? NaN) - mean) < 1e-9
        ? []
        : [`it says ${gate.candidate.reward}, ${gate.candidate.jobId} has ${mean}`]),
      ...(isCutOff || gate.passed === (status === 'ready')
        ? []
        : [`it is ${status}, and its gate ${gate.passed ? '' : 'not '}passed`]),
    ];
  }),
];
