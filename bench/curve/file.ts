import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { WorldKind } from '../worlds/world.js';
import type { Trajectory } from './trajectory.js';

/** The trajectories in a file of JSON lines; none where there is no file. Throws on a line that is not whole. */
export async function readTrajectories<Kind extends string = WorldKind>(path: string): Promise<Trajectory<Kind>[]> {
  if (!existsSync(path)) return [];
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line, at) => {
    try {
      return JSON.parse(line) as Trajectory<Kind>;
    } catch (error) {
      throw new Error(`${path}: trajectory ${at + 1} is not whole: delete its line`, { cause: error });
    }
  });
}

/** Adds one at the end. */
export async function appendTrajectory(path: string, trajectory: Trajectory<string>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await appendFile(path, `${JSON.stringify(trajectory)}\n`);
}
