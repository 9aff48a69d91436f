import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { WorldKind } from '../worlds/world.js';
import type { Trajectory } from './trajectory.js';

/** The trajectories in a JSON lines file; empty without a file. Throws on an incomplete line. */
export async function readTrajectories<Kind extends string = WorldKind>(path: string): Promise<Trajectory<Kind>[]> {
  if (!existsSync(path)) return [];
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line, at) => {
    try {
      return JSON.parse(line) as Trajectory<Kind>;
    } catch (error) {
      throw new Error(`${path}: trajectory ${at + 1} is incomplete: delete its line`, { cause: error });
    }
  });
}

/** Appends a trajectory. */
export async function appendTrajectory(path: string, trajectory: Trajectory<string>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await appendFile(path, `${JSON.stringify(trajectory)}\n`);
}
