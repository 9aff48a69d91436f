import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isTerminal } from '../../src/core/jobs/status.js';
import type { Status } from '../../src/core/jobs/status.js';
import { until } from '../support/until.js';
import { startDev, startSmall } from './worlds/dev.js';
import { SeededChoice } from './seeded-choice.js';
import type { Client } from './clients/client.js';
import { gateJobs } from './jobs/deployments.js';
import type { Evidence, JobEvidence, Kill, Strike } from './evidence/evidence.js';
import { gather } from './evidence/gather.js';
import type { Job } from './jobs/jobs.js';
import { terminalWithinMs } from './rules/endings.js';
import type { Scene } from './scene.js';
import { startSplit } from './worlds/split.js';
import { startWorld, type World } from './worlds/world.js';

const engines = { split: startSplit, dev: startDev, small: startSmall };
export type WorldName = keyof typeof engines;

/** The worlds of a run, started on first use and shared by all rounds. */
export class Worlds {
  private readonly started = new Map<WorldName, Promise<World>>();
  private logFiles: [string, string][] = [];

  get(name: WorldName): Promise<World> {
    const known = this.started.get(name);
    if (known) return known;
    const world = startWorld(engines[name], (file) => this.logFiles.push([name, file]));
    this.started.set(name, world);
    return world;
  }

  /** Logs of the running worlds, by name. */
  logs(): [string, string][] {
    return this.logFiles.filter(([, file]) => existsSync(file));
  }

  async stop(): Promise<void> {
    this.logFiles = [];
    const worlds = [...this.started.values()];
    this.started.clear();
    for (const world of await Promise.allSettled(worlds)) {
      if (world.status === 'fulfilled') await world.value.stop();
    }
  }
}

/** One round of one kind. */
export interface Round {
  kind: string;
  seed: number;
  /** Epoch milliseconds. */
  startedAt: number;
  choice: SeededChoice;
  /** Folder of its ledgers, and of the evidence of a violation. */
  folder: string;
  worlds: Worlds;
  /** Clean-up at the end of the round, also after a failure. */
  after: (() => unknown)[];
}

/** A new round. */
export function newRound(kind: string, seed: number, folder: string, worlds: Worlds): Round {
  const choice = new SeededChoice(seed, kind);
  return { kind, seed, startedAt: Date.now(), choice, folder, worlds, after: [] };
}

/** Events of a round besides its jobs. */
interface Incidents {
  kills?: Kill[];
  strikes?: Strike[];
  /** The client of the deployments' name. */
  client?: Client;
}

/** Time for remaining traffic to arrive after a job's end. */
const settleMs = 2_500;

/** Waits for the jobs' ends, at most 60 s from now on, and gathers the evidence. */
export async function conclude(
  { kind, seed, folder, startedAt }: Round,
  { world, model }: Pick<Scene, 'world' | 'model'>,
  jobs: Job[],
  { kills = [], strikes = [], client }: Incidents = {},
): Promise<Evidence> {
  const lastFaultAt = Date.now();
  const died: string[] = [];
  const left = () => Math.max(1, (lastFaultAt + terminalWithinMs - Date.now()) / 1_000);
  const end = async (job: Job) => {
    try {
      await until(
        `${job.name} is terminal`,
        async () => {
          died.push(...(await world.died()));
          return isOver((await world.api.call<{ status: Status | 'ready' }>('GET', job.path)).status);
        },
        left(),
      );
      await Promise.race([
        job.readers.map(({ done }) => done).reduce((a, b) => a.then(() => b)),
        delay(10_000, undefined, { ref: false }),
      ]);
    } catch (error) {
      if (!(error as Error).message.startsWith('waited')) throw error;
      // The rules report it from the row.
    }
    for (const reader of job.readers) reader.stop();
  };
  for (const job of jobs) await end(job);
  const overAt = Date.now();
  await client?.stop();
  await delay(settleMs);
  const evidence: JobEvidence[] = [];
  const lines = model.lines();
  for (const job of jobs) {
    await agreed(world, job);
    const gates = job.kind === 'deployment' ? await gateJobs(world, job) : [];
    for (const one of [job, ...gates]) evidence.push(await gather(world, one, lines));
  }
  died.push(...(await world.died()));
  mkdirSync(folder, { recursive: true });
  const asks = client?.asks ?? [];
  const found = await world.sql<{ id: string }>(`select id from jobs where created_at > to_timestamp($1)`, [
    startedAt / 1_000,
  ]);
  return {
    kind,
    seed,
    kills,
    strikes,
    lastFaultAt,
    found: found.map(({ id }) => id),
    jobs: evidence,
    model: lines,
    asks,
    overAt,
    memory: {},
    died,
  };
}

/** A deployment is over when it is ready, or closed like any other job. */
const isOver = (status: Status | 'ready'): boolean => status === 'ready' || isTerminal(status);

/** A workflow closes just after its row. */
async function agreed(world: World, job: Job): Promise<void> {
  await world.temporal((client) =>
    until(
      `the workflow of ${job.name} is closed`,
      async () => (await client.workflow.getHandle(job.workflowId).describe()).status.name !== 'RUNNING',
      20,
    ).catch((error: Error) => {
      // The rules report it.
      if (!error.message.startsWith('waited')) throw error;
    }),
  );
}

/** Writes the evidence of a violation. */
export function report({ folder, worlds }: Round, evidence: Evidence | null, violations: string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'violations.txt'), `${violations.join('\n')}\n`);
  if (evidence) writeFileSync(join(folder, 'evidence.json'), JSON.stringify(evidence, null, 1));
  for (const [name, file] of worlds.logs()) writeFileSync(join(folder, `service-${name}.log`), readFileSync(file));
}
