/** The stop of a role that has not installed its own yet. It loads nothing else, to be in time. */
import cluster from 'node:cluster';
import { signalsOfParent } from './api.js';

/** Of a role that still starts: longer than its parts take, shorter than a supervisor waits. */
export const stopAtStartMs = 3_000;

const end = () => process.exit(0);
const ignore = () => undefined;

/** A signal ends this process with 0, until `handOver`. API processes wait for their parent. */
export function stopEarly(): void {
  for (const signal of signalsOfParent) process.on(signal, cluster.isWorker ? ignore : end);
}

/** Call it once the process listens to signals itself. */
export function handOver(): void {
  for (const signal of signalsOfParent) process.off(signal, end);
}
