import { setTimeout as delay } from 'node:timers/promises';
import { isTerminal, type Status } from '../../src/core/jobs/status.js';
import { baseline } from '../support/worlds/rules.js';
import { until } from '../support/until.js';
import { startClient, type Client } from '../harness/clients/client.js';
import { startDeployment, type DeploymentPlan } from '../harness/jobs/deployments.js';
import { startGraphJob, startSession, type Job, type JobPlan, type Where } from '../harness/jobs/jobs.js';
import { isOfClient } from '../harness/jobs/keys.js';
import type { Round } from '../harness/round.js';
import { callsTo, type Scene } from '../harness/scene.js';

/**
 * A job, deployments of one name (plain, gated, and of the job's result), and a client of that
 * name.
 */
export interface Cast {
  client: Client;
  /** All jobs, once they are created. */
  made: Promise<Job[]>;
  /** Number of calls to model and containers, without those for the client. */
  come(): number;
}

/** Delay between the steps of a round, in milliseconds. */
const nextMs = [0, 1_500] as const;
/** Time limit for the source to have something to deploy. */
const sourceSeconds = 120;
const everyRule = 'rule-0. rule-1. rule-2. rule-3.';
/** Threshold that every reward of a good answer reaches and no bad one does. */
const [good, any] = [0.9, -1];
/** A gain that a good prompt has over everything except another good prompt. */
const gain = 0.1;

/** Starts everything; `sound`: containers and models answer well. Calls `read` with each job. */
export async function begin(
  { kind, seed, choice, after }: Round,
  { world, model, where }: Scene,
  plan: JobPlan,
  { sound, read = () => undefined }: { sound: boolean; read?: (job: Job) => void },
): Promise<Cast> {
  const name = `${kind}-${seed}`;
  const client = startClient(world, name, choice.of('client'));
  after.push(() => client.stop());
  const jobs: Job[] = [];
  const source = choice.chance(70)
    ? await startGraphJob(where, 'graph', { ...plan, judged: choice.chance(50) })
    : await startSession(where, 'session', plan);
  const add = (job: Job) => {
    jobs.push(job);
    read(job);
  };
  add(source);

  // Draw before the first await: kills draw concurrently.
  const own = choice.of('deployments');
  const deploy = async (as: string, mayEnd: string[], { source, gate }: Pick<DeploymentPlan, 'source' | 'gate'>) => {
    const ends = sound ? mayEnd : ['completed', 'failed'];
    add(await startDeployment({ ...where, choice: own }, as, name, { ...plan, mayEnd: ends, source, gate }));
  };
  const made = async () => {
    await delay(own.between(...nextMs));
    await deploy('opener', ['completed'], { source: prompt('opener', baseline), gate: null });
    await delay(own.between(...nextMs));
    const [isGood, isCompared] = [own.chance(70), own.chance(50)];
    await deploy('challenger', !isGood ? ['failed'] : isCompared ? ['completed', 'failed'] : ['completed'], {
      source: prompt('challenger', isGood ? everyRule : 'Answer badly.'),
      gate: isCompared ? { min_improvement: gain } : { min_reward: good },
    });
    const hasBest = await bestOf(where, source, own.chance(50));
    const field = source.kind === 'graph' ? 'graph_job_id' : 'session_id';
    const gate = own.chance(50) ? { min_reward: any } : null;
    if (hasBest) await deploy('winner', ['completed'], { source: { [field]: source.id }, gate });
    return jobs;
  };
  return {
    client,
    made: made(),
    come: () => model.lines().filter(({ event, key }) => event === 'in' && !isOfClient(key)).length + callsTo(jobs),
  };
}

/** A prompt that every container of a round rewards. */
export const goodPrompt = (model: string) => prompt(model, everyRule);

const prompt = (model: string, content: string) => ({
  messages: [{ role: 'system', content }],
  policy: { provider: 'chaos', model },
});

/** Whether an ended job has a result; with `atOnce`, as soon as it has its baseline. */
async function bestOf({ world }: Where, { name, path }: Job, atOnce: boolean): Promise<boolean> {
  const { best_candidate: best } = await until(
    `there is something to deploy of ${name}`,
    async () => {
      const seen = await world.api.call<{ status: Status; best_candidate: object | null }>('GET', path);
      return (isTerminal(seen.status) || (atOnce && seen.best_candidate !== null)) && seen;
    },
    sourceSeconds,
  );
  return best !== null;
}
