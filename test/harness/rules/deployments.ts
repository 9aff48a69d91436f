import type { DeploymentEvidence, GateEvaluation, JobEvidence } from '../evidence/evidence.js';
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

/** By seed; null: the rollout failed. */
function rewardsOf(id: string | undefined, jobs: JobEvidence[]): Map<number, number | null> {
  const rollouts = jobs.find((job) => job.id === id)?.rollouts ?? [];
  return new Map(rollouts.map(({ seed, status, reward }) => [seed, status === 'succeeded' ? reward : null]));
}

/** A second run is of one side, on the seeds on which both have another reward. */
function needlessRepeats({ id, runs, repeats }: GateEvaluation, firsts: GateEvaluation[], jobs: JobEvidence[]) {
  if (repeats === null) return [];
  const [ours, theirs] = [rewardsOf(repeats.candidate, jobs), rewardsOf(repeats.incumbent, jobs)];
  const first = firsts.find((each) => each.id === repeats[repeats.side]);
  const isChanged = (seed: number) => (theirs.get(seed) ?? null) !== null && theirs.get(seed) !== ours.get(seed);
  const needless = [...rewardsOf(id, jobs).keys()].filter((seed) => !isChanged(seed));
  return [
    ...(first?.runs === runs ? [] : [`${id} runs another prompt than ${repeats[repeats.side]}, which it repeats`]),
    ...needless.map((seed) => `${id} repeats seed ${seed}, on which both sides agree`),
  ];
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
    const firsts = evaluations.filter(({ repeats }) => repeats === null);
    return [
      ...[...grouped(firsts, ({ runs }) => runs).values()].flatMap(([first, ...again]) =>
        again
          .filter(({ id }) => !(first!.id === gate?.candidate.jobId && isIncumbent(id)))
          .map(({ id }) => `${id} runs what ${first!.id} runs`),
      ),
      ...evaluations.flatMap((evaluation) => needlessRepeats(evaluation, firsts, jobs)),
      ...sent.filter((id) => !known.has(id)).map((id) => `${id} is of none of its evaluations`),
    ];
  }),
  perJob('a gate says what its evaluations have come to, and lets nothing else through', (job, { jobs }) => {
    const { gate, status } = job.deployment ?? {};
    if (!gate) return [];
    // An operator may terminate it between its gate and its name.
    const isCutOff = gate.passed && job.errorCode === 'workflow_terminated';
    const first = rewardsOf(gate.candidate.jobId, jobs);
    const repeat = job.deployment!.evaluations.find(
      ({ repeats }) => repeats?.side === 'candidate' && repeats.incumbent === gate.incumbent?.jobId,
    );
    const again = rewardsOf(repeat?.id, jobs);
    const all = [first, again, rewardsOf(gate.incumbent?.jobId, jobs)].flatMap((rewards) => [...rewards.values()]);
    const worst = Math.min(0, ...all.map((reward) => reward ?? 0));
    const own = [...first].map(([seed, reward]) =>
      again.has(seed) ? ((reward ?? worst) + (again.get(seed) ?? worst)) / 2 : reward,
    );
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
