import { inspect } from 'node:util';
import fc from 'fast-check';
import { checkJob } from './checks.js';
import { control, nativeCancel } from './commands/control.js';
import { killApi, killWorker, startAgain, startWorker, terminate } from './commands/faults.js';
import { race } from './commands/race.js';
import { reward } from './commands/reward.js';
import { create, finish, finishJob, releaseSome } from './commands/work.js';
import { newModel, type Model } from './model.js';
import { assertNothingStarted, settle } from './observe.js';
import { isTerminal } from '../../src/core/jobs/status.js';
import { afterwards, send, take } from './verbs.js';
import type { Servers } from '../harness/worlds/world.js';
import { startWorld, type World } from './world.js';

export interface StateSequences {
  seed: number;
  sequences: number;
  servers: Servers;
  /** Number of concurrent worlds, which share the sequences. */
  lanes?: number;
  /** A printed failure to run alone: its path, and its replay path. */
  only?: { path: string; replayPath?: string };
  onProgress?(done: number): void;
}

/** Executed commands by name, including kills, and the covered cells of the table. */
export interface StateReport {
  sequences: number;
  commands: Record<string, number>;
  /** The cells of the table covered by single commands, not by a race. */
  cells: Set<string>;
}

/** Time limit for shrinking a failure. */
const shrinkMs = 180_000;

type Commands = fc.Arbitrary<fc.AsyncCommand<Model, World>>;

/** Repeated in the list by its weight, and recorded when it runs. */
const times = (n: number, commands: Commands): Commands[] =>
  new Array<Commands>(n).fill(
    commands.map((command) => ({
      check: (model) => command.check(model),
      run(model, world) {
        model.ran.push(String(command));
        return command.run(model, world);
      },
      toString: () => String(command),
    })),
  );

/** Kills take seconds: only sequences with permission run them. */
const commands: Commands[] = [
  ...times(3, create),
  ...times(14, control),
  ...times(7, reward),
  ...times(4, race),
  ...times(4, releaseSome),
  ...times(1, finishJob),
  ...times(1, nativeCancel),
  ...times(1, terminate),
  ...times(2, killWorker),
  ...times(2, startAgain),
  ...times(1, killApi),
];

/** Compares service and table on command sequences; throws the shortest failing sequence. */
export async function runStateSequences(options: StateSequences): Promise<StateReport> {
  const { seed, sequences, only, servers, lanes = 2 } = options;
  const report: StateReport = { sequences: 0, commands: {}, cells: new Set() };
  const shared: Shared = { report, failed: null };
  const share = Math.ceil(sequences / lanes);
  await Promise.all(
    Array.from({ length: only ? 1 : lanes }, async (_, lane) => {
      const part = { ...options, servers, seed: seed + lane, sequences: Math.min(share, sequences - lane * share) };
      // After a failure in one lane, the other lanes end by themselves, with their processes.
      if (part.sequences > 0) await runLane(part, shared).catch((error: Error) => (shared.failed ??= error));
    }),
  );
  if (shared.failed) throw shared.failed;
  return report;
}

/** State shared between lanes. */
interface Shared {
  report: StateReport;
  failed: Error | null;
}

async function runLane(options: StateSequences, shared: Shared): Promise<void> {
  const { seed, sequences, only, servers, onProgress } = options;
  const { report } = shared;
  const world = await startWorld(servers);
  let earliest: { at: number; what: string; ran: string[] } | null = null;
  const property = fc.asyncProperty(
    // One sequence in ten may kill.
    fc.nat(9).map((n) => n === 9),
    create,
    fc.commands(commands, {
      maxCommands: 16,
      size: 'max',
      ...(only?.replayPath ? { replayPath: only.replayPath } : {}),
    }),
    async (mayKill, first, rest) => {
      // Skip the rest after another lane's failure or at the shrinking limit.
      if (earliest === null ? shared.failed : Date.now() > earliest.at + shrinkMs) return;
      const model = newModel(mayKill);
      try {
        await fc.asyncModelRun(async () => {
          await first.run(model, world);
          return { model, real: world };
        }, rest);
        await end(world, model);
      } catch (error) {
        earliest ??= { at: Date.now(), what: kindOf(error), ran: model.ran };
        // A failure other than the shrunk one would mislead.
        if (kindOf(error) === earliest.what) throw error;
      } finally {
        await clear(world, model);
      }
      count(report, model);
      onProgress?.(report.sequences);
    },
  );
  try {
    const details = await fc.check(property, { seed, numRuns: sequences, ...(only ? { path: only.path } : {}) });
    if (details.failed) shared.failed ??= await failure(details, earliest!.ran);
  } finally {
    await world.stop();
  }
}

/** A failure's message without ids and numbers, so that repetitions are equal. */
const kindOf = (error: unknown): string =>
  String(error)
    .split('\n', 1)[0]!
    .replace(/\d[0-9a-f]*/g, '#');

/** All data needed to understand a failure and to run it alone. */
async function failure<T>(details: fc.RunDetails<T>, ran: string[]): Promise<Error> {
  const cause = details.errorInstance;
  const shrunk = await fc.asyncDefaultReportMessage(details);
  const text = `${inspect(cause)}\n\nBefore it was shrunk: ${ran.join(', ')}\n\n${shrunk}`;
  return new Error(text, { cause });
}

/** Restarts the worker, checks every job, ends the open ones, and checks again. */
async function end(world: World, model: Model): Promise<void> {
  if (!model.workerLives) await startWorker(world, model);
  for (const [i, job] of model.jobs.entries()) {
    await settle(world, job, true);
    await checkJob(world, model, job);
    if (isTerminal(job.state.status)) continue;
    assertNothingStarted(world, job);
    const verb = i % 2 === 0 ? 'resume' : 'cancel';
    await take(world, model, job, verb, await send(world, job, verb, 'post'));
    await afterwards(world, model, job);
    if (verb === 'resume') await finish(world, model, job);
    await checkJob(world, model, job);
  }
}

/** Removes everything of a sequence, also after a failure. */
async function clear(world: World, model: Model): Promise<void> {
  if (!model.workerLives) await world.worker.start();
  for (const job of model.jobs) if (!isTerminal(job.state.status)) await send(world, job, 'cancel', 'post');
  world.container.clear();
}

function count(report: StateReport, { ran, cells }: Model): void {
  report.sequences += 1;
  for (const cell of cells) report.cells.add(cell);
  for (const command of ran) {
    const name = command.split('(', 1)[0]!;
    report.commands[name] = (report.commands[name] ?? 0) + 1;
  }
}
