import { randomUUID } from 'node:crypto';
import { deployments } from '../support/jobs-over-http.js';
import { range } from '../support/range.js';
import { until } from '../support/until.js';
import { containerOf, follow, started, type Job, type JobPlan, type Where } from './jobs.js';
import type { World } from './world.js';

/** Source and gate of a deployment; `gate` null: no gate. */
export interface DeploymentPlan extends Pick<JobPlan, 'nature' | 'maxConcurrent' | 'rolloutTimeout' | 'mayEnd'> {
  source: object;
  gate: { min_reward: number } | { min_improvement: number } | null;
}

const gateSeeds = 12;
/** Time limit for repeating a create while the service is away. */
const createdWithin = 60;

/** Creates a deployment of the name `served`; its gate has a container of its own. */
export async function startDeployment(where: Where, name: string, served: string, plan: DeploymentPlan): Promise<Job> {
  const container = plan.gate && (await containerOf(where, `gate-${name}`, plan));
  const id = await create(where.world, name, {
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
  return follow(where, { ...started(name, id, 'deployment', plan, container), seeds: [] });
}

/** Creates it once, despite repeated requests. */
async function create({ url, apiKey }: World, name: string, body: object): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${apiKey}`,
    'idempotency-key': randomUUID(),
  };
  const asked = async () => {
    const answer = await fetch(url + deployments, { method: 'POST', headers, body: JSON.stringify(body) });
    const said = await answer.text();
    if (answer.status === 201) return (JSON.parse(said) as { id: string }).id;
    throw new Error(`${answer.status} ${said}`);
  };
  return until(`${name} is created`, asked, createdWithin);
}

/** SQL `like` pattern for the ids of the evaluations of a deployment's gate. */
export const gateJobIds = (deploymentId: string): string => `evl_${deploymentId.slice(4, 32)}%`;

/** The evaluations of a deployment's gate, as ended jobs. */
export async function gateJobs(world: World, { id, name, container, maxConcurrent }: Job): Promise<Job[]> {
  const rows = await world.sql<{ id: string; seeds: number[] }>(
    `select id, spec->'seeds' as seeds from jobs where id like $1 order by id`,
    [gateJobIds(id)],
  );
  return rows.map(({ id: evaluation, seeds }, n) => {
    const own = container && {
      trapped: () => container.trapped(),
      lines: () => container.lines().filter(({ rolloutId }) => rolloutId.startsWith(`rol_${evaluation.slice(4)}_`)),
    };
    const plan = { maxConcurrent, mayEnd: ['completed'] };
    return { ...started(`gate-${name} ${n}`, evaluation, 'evaluation', plan, own), seeds, readers: [] };
  });
}
