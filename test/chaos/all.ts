import { setTimeout as delay } from 'node:timers/promises';
import { begin, goodPrompt } from './actors.js';
import { startDeployment } from '../harness/jobs/deployments.js';
import type { Evidence, Kill, Strike } from '../harness/evidence/evidence.js';
import {
  startDatasetJob,
  startEvaluation,
  startGraphJob,
  startSession,
  type Job,
  type JobPlan,
} from '../harness/jobs/jobs.js';
import type { Judged } from './kinds.js';
import { conclude, type Round } from '../harness/round.js';
import { killOnce, killScene, patientPlan, sceneIn, type Scene } from '../harness/scene.js';
import type { Target, World } from '../harness/worlds/world.js';
import { interfere } from './outside.js';
import { readersThrough, startCuts } from './streams.js';

/** Faults of a round, and the pause before each. */
const strikesOfRound = 5;
const betweenMs = [300, 1_500] as const;
/** The moment of an API's death after its clients have sent creates, in milliseconds. */
const createdMs = [0, 60] as const;
/** How long streams are cut in a round. */
const cutMs = 20_000;
/** How long jobs are started in a round of a soak. */
const soakMs = 60_000;
const plan = patientPlan(16);

const names = ['evaluation', 'gepa', 'mipro', 'graph', 'rows-evaluation', 'rows-session', 'deployment'] as const;
type Name = (typeof names)[number];

/** All kinds of job at once: those of a `served-` round, and one of each name above. */
async function openJobs(round: Round, scene: Scene, plan: JobPlan, read: (job: Job) => void = () => undefined) {
  const { kind, seed, choice } = round;
  const { world } = scene;
  const where = { ...scene.where, choice: choice.of('jobs') };
  const jobs: Job[] = [];
  const latest = new Map<Name, Job>();
  const { client, made } = await begin(round, scene, plan, { sound: true, read });
  // Awaited at the end; a round that breaks off before has its own reason.
  made.catch(() => undefined);

  function starting(name: Name, as: string): Promise<Job> {
    switch (name) {
      case 'evaluation':
        return startEvaluation(where, as, plan);
      case 'gepa':
      case 'mipro':
        return startSession(where, as, plan, name);
      case 'graph':
        return startGraphJob(where, as, { ...plan, judged: false });
      case 'rows-evaluation':
        return startDatasetJob(where, as, 'evaluation', plan);
      case 'rows-session':
        return startDatasetJob(where, as, 'session', plan);
      case 'deployment': {
        const gate = { min_reward: -1 };
        return startDeployment(where, as, `${kind}-${seed}`, { ...plan, source: goodPrompt(as), gate });
      }
    }
  }

  let started = 0;
  async function start(name: Name): Promise<void> {
    const job = await starting(name, `${name}-${(started += 1)}`);
    read(job);
    jobs.push(job);
    latest.set(name, job);
  }

  const isOpen = async (id: string | undefined) =>
    id !== undefined && (await world.sql('select from jobs where id = $1 and completed_at is null', [id])).length > 0;

  return {
    client,
    latest,
    /** The names of which no job is open. */
    async missing(): Promise<Name[]> {
      const open = await Promise.all(names.map((name) => isOpen(latest.get(name)?.id)));
      return names.filter((_, n) => !open[n]);
    },
    start: (wanted: readonly Name[]) => Promise.all(wanted.map(start)),
    /** All jobs of the round, once they are created. */
    all: async () => [...(await made), ...jobs],
  };
}
type OpenJobs = Awaited<ReturnType<typeof openJobs>>;

async function countOpen(world: World): Promise<number> {
  const [row] = await world.sql<{ n: number }>('select count(*)::int as n from jobs where completed_at is null');
  return row!.n;
}

/** Strikes again and again, each time with a job of each kind open. */
async function strikeOn(
  { choice }: Round,
  world: World,
  open: OpenJobs,
  fault: string,
  strike: (n: number) => Promise<unknown>,
): Promise<Strike[]> {
  const strikes: Strike[] = [];
  for (let n = 0; n < strikesOfRound; n += 1) {
    await open.start(await open.missing());
    await delay(choice.between(...betweenMs));
    const seen = { fault, at: Date.now(), count: 1, open: await countOpen(world) };
    await strike(n);
    strikes.push({ ...seen, until: Date.now() });
  }
  return strikes;
}

/** kill -9 of a part, or a full disk; an API dies while clients send creates with their keys. */
const struck = (target: Target): Judged => ({
  name: `all-${target}`,
  async play(round) {
    const { choice } = round;
    const scene = await killScene(round, target);
    const open = await openJobs(round, scene, plan);
    const kills: Kill[] = [];
    const strikes = await strikeOn(round, scene.world, open, target, async () => {
      const creates = target === 'api' ? open.start(['evaluation', 'graph', 'deployment']) : null;
      creates?.catch(() => undefined);
      if (creates) await delay(choice.between(...createdMs));
      await killOnce(scene, kills);
      await creates;
    });
    return conclude(round, scene, await open.all(), { kills, strikes, client: open.client });
  },
});

/** Operators terminate workflows of every kind in Temporal. */
const terminated: Judged = {
  name: 'all-operator',
  async play(round) {
    const scene = await sceneIn(round, 'split');
    const { world } = scene;
    const open = await openJobs(round, scene, plan);
    const first = round.choice.between(0, names.length - 1);
    const strikes = await strikeOn(round, world, open, 'operator', async (n) => {
      const job = open.latest.get(names[(first + n) % names.length]!)!;
      Object.assign(job, { outside: 'terminate', mayEnd: ['completed', 'failed'] });
      await interfere(world, job);
    });
    return conclude(round, scene, await open.all(), { strikes, client: open.client });
  },
};

/** Streams of events and of models' answers are cut at random bytes. */
const cut: Judged = {
  name: 'all-streams',
  async play(round): Promise<Evidence> {
    const scene = await sceneIn(round, 'split');
    const { world } = scene;
    const cutter = await startCuts(round, world);
    const nature = { ...plan.nature, modelThrough: cutter.url };
    const open = await openJobs(round, scene, { ...plan, nature }, readersThrough(round, world, cutter));
    const at = Date.now();
    let most = 0;
    while (Date.now() < at + cutMs) {
      await open.start(await open.missing());
      most = Math.max(most, await countOpen(world));
      await delay(round.choice.between(...betweenMs));
    }
    const until = Date.now();
    const evidence = await conclude(round, scene, await open.all(), { client: open.client });
    return { ...evidence, strikes: [{ fault: 'stream', at, until, count: cutter.cuts(), open: most }] };
  },
};

/** All kinds of job at once without faults; a job that ends has a successor. */
export const soak: Judged = {
  name: 'soak',
  async play(round) {
    const scene = await sceneIn(round, 'dev');
    const open = await openJobs(round, scene, plan);
    const until = Date.now() + soakMs;
    while (Date.now() < until) {
      await open.start(await open.missing());
      await delay(round.choice.between(...betweenMs));
    }
    return conclude(round, scene, await open.all(), { client: open.client });
  },
};

/** Every fault on all kinds of job at once. */
export const allKinds: readonly Judged[] = [
  ...(['worker', 'api', 'temporal', 'postgres', 'disk'] as const).map(struck),
  cut,
  terminated,
];
