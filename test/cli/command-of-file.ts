import { afterAll, beforeAll } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asProcess, ratchet } from '../support/command-line.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { rowsBaseline, startRowsWorld } from '../support/worlds/rows.js';

/** Options of a task on the files of the folder; the second has neither prompt nor model. */
export const files40 = ['--data', 'rows.jsonl', '--input', 'question', '--expected', 'answer'];
export const task = [...files40, '--model', 'fake/policy'];

/** The command line on a service with a world of rows, in a folder with a task of 40 rows. */
export function commandOfFile() {
  const on = serviceOfFile(() => startRowsWorld());
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ratchet-cli-'));
    const lines = on.world.rows(40).map((row) => JSON.stringify(row));
    await writeFile(join(folder, 'rows.jsonl'), lines.join('\n'));
    await writeFile(join(folder, 'prompt.txt'), `${rowsBaseline}\n`);
    await writeFile(join(folder, 'list.json'), '["exact"]');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const place = (key: Record<string, string>, input?: string) => ({
    cwd: folder,
    env: { RATCHET_URL: on.service.url, ...key },
    ...(input !== undefined && { input }),
  });
  const own = () => place({ RATCHET_API_KEY: on.service.apiKey });

  return {
    on,
    run: (args: string[], key: Record<string, string>, input?: string) => ratchet(args, place(key, input)),
    /** Runs a command with the key of the tests. */
    ratchet: (...args: string[]) => ratchet(args, own()),
    /** Runs the command of the build, as a process. */
    built: (...args: string[]) => asProcess(args, own()),
    path: (name: string) => join(folder, name),
    written: (name: string) => readFile(join(folder, name), 'utf8'),
  };
}
