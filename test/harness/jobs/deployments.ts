import { deployments } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { create } from './create.js';
import { containerOf, follow, started, type Job, type JobPlan, type Where } from './jobs.js';
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
  const created = await create(where.world, deployments, name, {
    ...{ name: served, source: plan.source },
    ...(container && {
      gate: {
        ...{ container_url: container.url, ...plan.gate, seeds: range(where.choice.between(0, 1_000), gateSeeds) },
        ...{
          max_concurrent: plan.maxConcurrent,
          rollout_timeout: plan.rolloutTimeout,
          max_failure_rate: 1,
          preflight: false,
        },
      },
    }),
  });
  return follow(where, { ...started(name, created, 'deployment', plan, container), seeds: [] });
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
    return { ...started(`gate-${name} ${n}`, created, 'evaluation', plan, own), outside, seeds, readers: [] };
  });
}
