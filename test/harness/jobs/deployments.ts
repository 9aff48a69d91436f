import { range } from '../../support/range.js';
import { begunJob, containerOf, start, type Job, type JobPlan, type Where } from './jobs.js';
import type { World } from '../worlds/world.js';

/** Source and gate of a deployment; `gate` null: no gate. */
export interface DeploymentPlan extends Pick<JobPlan, 'nature' | 'maxConcurrent' | 'rolloutTimeout' | 'mayEnd'> {
  source: object;
  gate: { min_reward: number } | { min_improvement: number } | null;
}

const gateSeeds = 12;

/** Creates a deployment of the name `served`; its gate has a container of its own. */
export async function startDeployment(where: Where, name: string, served: string, plan: DeploymentPlan): Promise<Job> {
  const container = plan.gate && (await containerOf(where, `gate-${name}`, plan));
  const gate = container && {
    container_url: container.url,
    ...plan.gate,
    seeds: range(where.choice.between(0, 1_000), gateSeeds),
    max_concurrent: plan.maxConcurrent,
    rollout_timeout: plan.rolloutTimeout,
    max_failure_rate: 1,
    preflight: false,
  };
  const body = { name: served, source: plan.source, ...(gate && { gate }) };
  return start(where, name, plan, { kind: 'deployment', container, body });
}

/** SQL `like` pattern for the ids of the evaluations of a deployment's gate. */
export const gateJobIds = (deploymentId: string): string => `evl_${deploymentId.slice(4, 32)}%`;

/** The evaluations of a deployment's gate, as ended jobs. */
export async function gateJobs(world: World, { id, name, container, maxConcurrent, outside }: Job): Promise<Job[]> {
  const rows = await world.sql<{ id: string; seeds: number[] }>(
    `select id, spec->'seeds' as seeds from jobs where id like $1 order by id`,
    [gateJobIds(id)],
  );
  return rows.map(({ id: evaluation, seeds }, n) => {
    const own = container && {
      trapped: () => container.trapped(),
      lines: () => container.lines().filter(({ rolloutId }) => rolloutId.startsWith(`rol_${evaluation.slice(4)}_`)),
    };
    // The gate of a terminated deployment ends with it.
    const plan = { maxConcurrent, mayEnd: outside ? ['completed', 'cancelled', 'failed'] : ['completed'] };
    const created = { id: evaluation, answered: [evaluation] };
    const job = { name: `gate-${name} ${n}`, kind: 'evaluation' as const, container: own, seeds };
    return { ...begunJob(created, plan, job), outside };
  });
}
