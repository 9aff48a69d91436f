import { Worker } from '@temporalio/worker';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../src/version.js';
import { History } from '../support/chain.js';
import { workflowBundlePath } from '../support/embedded.js';

/** Where recorded histories lie. */
export const folder = join(import.meta.dirname, 'histories');

/** Replays a history with today's workflow code; rejects when that decides otherwise. */
export const replay = (history: History) =>
  Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundlePath() } }, history);

/** Records a history under this name and today's version, where UPDATE_HISTORIES asks for it. */
export function record(history: History, name: string): void {
  if (!process.env['UPDATE_HISTORIES']) return;
  writeFileSync(join(folder, `${name}-${version}.binpb`), History.encode(scrub(history)).finish());
}

/** Without what belongs to the machine that recorded it: stack traces and process identities. */
function scrub<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'stackTrace' || key === 'identity') Object.assign(value, { [key]: '' });
    else scrub(inner);
  }
  return value;
}
